"""The model that both programs talk to: chat completions on 127.0.0.1, made up by rule.

Asked with tools it answers a turn: `read NAME` calls the tool read, anything else gets a text as
long as a page. Asked without, it writes a summary.
"""

from __future__ import annotations

import json
from typing import Any

from tests.model.fake_server import Reply, Seen, chat

from singletree.compaction.prompts import SECTIONS

USAGE = {"prompt_tokens": 700, "completion_tokens": 30, "total_tokens": 730}


def reply(seen: Seen) -> Reply:
    """What it says to a request."""
    if seen.method == "GET":
        return Reply([b'{"object": "list", "data": [{"id": "fake", "object": "model"}]}'])
    if not seen.body.get("tools"):
        return _told(_summary(seen.body))
    last = seen.body["messages"][-1]
    said = _text(last["content"])
    if last["role"] == "tool":
        return _told(f"The file says: {said.strip()}")
    command, _, name = said.partition(" ")
    if command == "read":
        return _called(seen.body, {"path": name})
    return _told(f"About “{said}”: " + "word " * 60)


def _told(text: str) -> Reply:
    half = len(text) // 2
    return Reply([chat({"content": text[:half]}, {"content": text[half:]}, usage=USAGE)])


def _called(body: Any, arguments: dict[str, str]) -> Reply:
    number = len(body["messages"])
    function = {"name": "read", "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
    return Reply([chat({"tool_calls": [call]}, finish="tool_calls", usage=USAGE)])


def _summary(body: Any) -> str:
    asked = len(json.dumps(body))
    return "\n\n".join(f"{heading}\n- summed up from {asked} characters" for heading in SECTIONS)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")
