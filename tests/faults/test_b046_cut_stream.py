"""Arguments that the output limit cut: marked, so that nobody runs them."""

from __future__ import annotations

from typing import Any

from tests.model.fake_server import chat, events, serving, spoken
from tests.model.talk import READ, answer, model_at

from singletree.messages import Text, ToolResultMessage
from singletree.model.partial_json import CUT

HALF = '{"path":"a.txt","content":"line1\\nli'


def write(arguments: str) -> dict[str, Any]:
    call = {"index": 0, "id": "c1", "function": {"name": "write", "arguments": arguments}}
    return {"tool_calls": [call]}


async def test_cut_with_finish_length() -> None:
    async with serving([chat(write(HALF), finish="length")]) as server, model_at(server) as model:
        message = await answer(model, "hi")
    assert message.stop_reason == "length"
    assert message.tool_calls[0].arguments_error == CUT


async def test_cut_with_finish_tool_calls() -> None:
    stream = chat(write(HALF), finish="tool_calls")
    async with serving([stream]) as server, model_at(server) as model:
        call = (await answer(model, "hi")).tool_calls[0]
    assert call.arguments_error == CUT
    assert call.arguments == {"path": "a.txt", "content": "line1\nli"}


async def test_whole_with_finish_length_keeps_its_reason() -> None:
    stream = chat(write('{"path":"a.txt"}'), finish="length")
    async with serving([stream]) as server, model_at(server) as model:
        message = await answer(model, "hi")
    assert (message.stop_reason, message.tool_calls[0].arguments_error) == ("length", None)


async def test_what_goes_back_is_valid_json() -> None:
    streams = [chat(write(HALF), finish="length"), chat({"content": "ok"})]
    async with serving(streams) as server, model_at(server) as model:
        cut = await answer(model, "hi")
        result = ToolResultMessage(
            tool_call_id="c1", tool_name="write", content=[Text(text="cut")], is_error=True
        )
        await answer(model, "hi", cut, result, tools=(READ,))
    sent = server.bodies[1]["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert sent == '{"path":"a.txt","content":"line1\\nli"}'


async def test_an_unclosed_block_of_the_messages_api() -> None:
    block = {"type": "tool_use", "id": "t1", "name": "write", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": HALF}
    stream = events(
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {}},
        {"type": "message_stop"},
        name=True,
    )
    async with (
        serving([stream, spoken("x")]) as server,
        model_at(server, "anthropic-messages") as model,
    ):
        message = await answer(model, "hi")
    assert (message.stop_reason, message.tool_calls[0].arguments_error) == ("length", CUT)
