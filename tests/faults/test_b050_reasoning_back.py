"""Reasoning goes back in the field it came in, to the model that gave it, and to nobody else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.model.fake_server import Seen, chat, serving
from tests.model.talk import READ, answer, model_at

from singletree.messages import AssistantMessage, Message, Thinking, ToolResultMessage

CALL = {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "read", "arguments": "{}"}}]}


def wants(field: str) -> Callable[[Seen], str | None]:
    """A server that demands the reasoning of a tool turn back, in its own field."""

    def rule(seen: Seen) -> str | None:
        for message in seen.body["messages"]:
            if message.get("tool_calls") and message.get(field) != "think":
                return f"{field} is missing"
        return None

    return rule


def refuses(seen: Seen) -> str | None:
    fields = {"reasoning_content", "reasoning", "reasoning_text", "reasoning_details"}
    extra = [m for m in seen.body["messages"] if fields & m.keys()]
    return f"unknown field in {extra}" if extra else None


def follow_up(message: AssistantMessage) -> list[Message]:
    return [message, ToolResultMessage(tool_call_id="c1", tool_name="read", content="x")]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text"])
async def test_it_goes_back_as_it_came(field: str) -> None:
    streams = [chat({field: "thi"}, {field: "nk"}, CALL), chat({"content": "ok"})]
    async with serving(streams) as server, model_at(server) as model:
        server.rules.append(wants(field))
        said = await answer(model, "hi", tools=(READ,))
        assert isinstance(said.content[0], Thinking)
        assert said.content[0].thinking == "think"
        await answer(model, "hi", *follow_up(said), tools=(READ,))
    assert len(server.seen) == 2


async def test_it_never_goes_to_another_provider() -> None:
    async with (
        serving([chat({"reasoning_content": "think"}, CALL)]) as one,
        model_at(one) as model,
    ):
        said = await answer(model, "hi", tools=(READ,))
    async with (
        serving([chat({"content": "ok"})]) as other,
        model_at(other, provider="elsewhere") as model,
    ):
        other.rules.append(refuses)
        await answer(model, "hi", *follow_up(said), tools=(READ,))


async def test_a_server_may_want_the_field_on_every_answer() -> None:
    compat = {"requiresReasoningContentOnAssistantMessages": True}
    async with (
        serving([chat(CALL), chat({"content": "ok"})]) as server,
        model_at(server, reasoning=True, compat=compat) as model,
    ):
        said = await answer(model, "hi", tools=(READ,))
        await answer(model, "hi", *follow_up(said), tools=(READ,))
    assert server.bodies[1]["messages"][1]["reasoning_content"] == ""


async def test_openrouters_own_form_is_kept_whole() -> None:
    details = [{"type": "reasoning.encrypted", "data": "E", "id": "r1", "index": 0}]
    stream = chat({"reasoning": "think", "reasoning_details": details}, CALL)
    async with serving([stream, chat({"content": "ok"})]) as server, model_at(server) as model:
        said = await answer(model, "hi", tools=(READ,))
        await answer(model, "hi", *follow_up(said), tools=(READ,))
    assert server.bodies[1]["messages"][1]["reasoning_details"] == details
