"""Call ids of one provider at servers that are strict about theirs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.model.fake_server import Seen, chat, serving, spoken
from tests.model.fake_server import events as stream
from tests.model.talk import READ, answer, model_at

from singletree.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from singletree.model.apis import APIS
from singletree.model.base import ModelInfo, ModelRequest

RESPONSE = stream(
    {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "ok"},
    {"type": "response.completed", "response": {"id": "r", "status": "completed"}},
    name=True,
)
REPLIES = {"anthropic-messages": spoken("ok"), "openai-responses": RESPONSE}
LONG = "call_" + "x" * 80 + "|fc_9/+="


def history(*ids: str) -> list[Message]:
    said = AssistantMessage(
        content=[ToolCall(id=i, name="read", arguments={"path": i[-1:]}) for i in ids],
        api="openai-responses",
        provider="openai",
        model="gpt",
        stop_reason="toolUse",
    )
    results = [ToolResultMessage(tool_call_id=i, tool_name="read", content=i[-1:]) for i in ids]
    return [said, *results]


def ids_of(body: dict[str, Any]) -> list[str]:
    items = [item for item in body.get("input", ()) if item.get("type") == "function_call"]
    found: list[str] = [item["call_id"] for item in items]
    for message in body.get("messages", ()):
        found += [c["id"] for c in message.get("tool_calls") or []]
        blocks = message["content"] if isinstance(message.get("content"), list) else []
        found += [b["id"] for b in blocks if b["type"] == "tool_use"]
    return found


def allowing(pattern: str) -> Callable[[Seen], str | None]:
    def rule(seen: Seen) -> str | None:
        wrong = [i for i in ids_of(seen.body) if not re.fullmatch(pattern, i)]
        return f"bad tool call id: {wrong}" if wrong else None

    return rule


@pytest.mark.parametrize(
    ("api", "pattern", "compat"),
    [
        ("openai-completions", r"[A-Za-z0-9_-]{1,64}", {}),
        ("anthropic-messages", r"[A-Za-z0-9_-]{1,64}", {}),
        ("openai-completions", r"[A-Za-z0-9]{9}", {"toolCallIds": "nine"}),
        ("openai-responses", r"[A-Za-z0-9_-]{1,64}", {}),
    ],
)
async def test_accepted_different_and_always_the_same(
    api: str, pattern: str, compat: dict[str, Any]
) -> None:
    reply = REPLIES.get(api, chat({"content": "ok"}))
    before = history(LONG + "1", LONG + "2")
    async with serving([reply]) as server, model_at(server, api, compat=compat) as model:
        server.rules.append(allowing(pattern))
        for _ in range(2):
            await answer(model, "hi", *before, "go", tools=(READ,))
    first, second = map(ids_of, server.bodies)
    assert first == second
    assert len(set(first)) == 2


@pytest.mark.parametrize("api", APIS)
def test_whatever_the_ids_are_each_call_has_one_of_its_own(api: str) -> None:
    """Also where a server gave none at all, or two that only differ in what is left away."""
    info = ModelInfo("other", "m", api=api)
    before = (*history("a|1", "a|2", "", " ", "a"), UserMessage(content="go"))
    text = json.dumps(APIS[api].encode(info, ModelRequest("", before, ())))
    found = re.findall(r'"(?:id|call_id|tool_call_id|tool_use_id)": "([^"]*)"', text)
    assert all(found)
    assert {found.count(one) for one in found} == {2}
    assert len(found) == 10


async def test_the_messages_given_keep_their_ids() -> None:
    before = history(LONG + "1")
    dumped = [message.dump() for message in before]
    async with serving([chat({"content": "ok"})]) as server, model_at(server) as model:
        await answer(model, "hi", *before, "go", tools=(READ,))
    assert [message.dump() for message in before] == dumped
    assert ids_of(server.bodies[0]) != [LONG + "1"]


async def test_ids_that_only_differ_in_what_is_replaced() -> None:
    before = history("a:b", "a/b")
    async with (
        serving([spoken("ok")]) as server,
        model_at(server, "anthropic-messages") as model,
    ):
        await answer(model, "hi", *before, tools=(READ,))
    assert len(set(ids_of(server.bodies[0]))) == 2
