"""One line that stands for an entry in a list, and the text a search looks through.

Works on JSON objects as they stand in the file, so that a page of rows costs no validation. Never
reads a file. Read next: outline.py (tree rows), listing.py (sessions).
"""

from __future__ import annotations

import re

from pydantic import JsonValue

from singletree.excerpt import excerpt
from singletree.history.jsonl import Json

LENGTH = 120
STOPPED = "(stopped)"
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def preview(data: Json) -> str:
    """At most 120 characters on one line, of what a person wrote where an editor added to it."""
    text = _apart(data, text_of_line(_own_words(data)))
    return excerpt(_CONTROLS.sub(" ", text[: 8 * LENGTH]), LENGTH)


def _apart(data: Json, text: str) -> str:
    """Without the sentence before every branch's summary: it tells no row from another."""
    lead, _, rest = text.partition("\n\n")
    led = data.get("type") == "branch_summary" and lead.endswith(":") and rest.strip()
    return rest if led else text


def text_of_line(data: Json) -> str:
    """All that a person would read of an entry."""
    match data.get("type"):
        case "message":
            return _message_text(_object(data.get("message")))
        case "custom_message":
            return spoken(data.get("content"))
        case "compaction" | "branch_summary":
            return _text(data.get("summary"))
        case "model_change":
            return f"{_text(data.get('provider'))}/{_text(data.get('modelId'))}"
        case "thinking_level_change":
            return _text(data.get("thinkingLevel"))
        case "label":
            return _text(data.get("label"))
        case "session_info":
            return _text(data.get("name"))
        case "custom":
            return _text(data.get("customType"))
        case "context_edit":
            return _text(data.get("targetId"))
    return ""


def spoken(content: JsonValue, between: str = "\n") -> str:
    """The text blocks of a content, joined; a string as it is."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = [block for block in content if isinstance(block, dict)]
    return between.join(_text(b.get("text")) for b in blocks if b.get("type") == "text")


def silent(data: Json) -> bool:
    """Whether an answer says nothing to a person: only thinking and calls, and no failure."""
    message = _object(data.get("message"))
    failed = message.get("stopReason") in ("error", "aborted")
    return not failed and not spoken(message.get("content")).strip()


def _message_text(message: Json) -> str:
    text = spoken(message.get("content"))
    match message.get("role"):
        case "toolResult":
            return f"{_text(message.get('toolName'))}: {text}"
        case "bashExecution":
            return f"$ {_text(message.get('command'))}\n{_text(message.get('output'))}"
        case "assistant" if not text.strip():
            stopped = STOPPED if message.get("stopReason") == "aborted" else ""
            failure = _text(message.get("errorMessage"))
            return failure or _calls(message.get("content")) or stopped
    return text


def _own_words(data: Json) -> Json:
    """The entry without the texts that an editor added to a message, unless it has no others."""
    message = _object(data.get("message"))
    content = message.get("content")
    if not isinstance(content, list):
        return data
    own = [b for b in content if not (isinstance(b, dict) and b.get("context") is True)]
    return {**data, "message": {**message, "content": own or content}}


def _calls(content: JsonValue) -> str:
    blocks = content if isinstance(content, list) else []
    calls = [b for b in blocks if isinstance(b, dict) and b.get("type") == "toolCall"]
    return ", ".join(_text(call.get("name")) for call in calls)


def _object(value: JsonValue) -> Json:
    return value if isinstance(value, dict) else {}


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
