"""What a real llama.cpp server said (Qwen2.5-Coder-1.5B, a template for tools), and what of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.model.fake_server import refusal, serving
from tests.model.talk import READ, answer, failure, model_at

from singletree.errors import ContextOverflow
from singletree.messages import AssistantMessage, ToolCall, ToolResultMessage
from singletree.model.apis import APIS
from singletree.model.base import Delta, ModelInfo, ToolCallDelta
from singletree.model.draft import Draft
from singletree.model.sse import SSEDecoder

NAMED = {"created": 1796053320, "id": "chatcmpl-OHT", "model": "local", "object": "chunk"}


def chunk(finish: str | None = None, /, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"finish_reason": finish, "index": 0, "delta": delta}], **NAMED}


def more(text: str, **function: str) -> dict[str, Any]:
    """A piece of a call: only the first one has an id and a name."""
    named = {"id": "wt1YOq7LhJzNx9c34rPheRP13Ofd7N4X", "type": "function"} if function else {}
    piece = {"index": 0, **named, "function": {**function, "arguments": text}}
    return chunk(tool_calls=[piece])


USAGE = {
    "choices": [],
    **NAMED,
    "usage": {
        "completion_tokens": 20,
        "prompt_tokens": 146,
        "total_tokens": 166,
        "prompt_tokens_details": {"cached_tokens": 8},
    },
    "timings": {"cache_n": 8, "prompt_n": 138, "prompt_ms": 27434.752, "predicted_n": 20},
}
CHUNKS = [
    chunk(role="assistant", content=None),
    more("{", name="ls"),
    *(more(piece) for piece in ('"', "path", '":', ' "', "src", '"}')),
    chunk("tool_calls"),
    USAGE,
]
STREAM = b"".join(b"data: %b\n\n" % json.dumps(c).encode() for c in CHUNKS) + b"data: [DONE]\n\n"


def heard(pieces: Sequence[bytes]) -> tuple[str, AssistantMessage]:
    """The arguments as they were told, and the message."""
    decoder = APIS["openai-completions"].decoder(Draft(ModelInfo("llama.cpp", "local")))
    sse = SSEDecoder()
    deltas: list[Delta] = []
    for piece in pieces:
        deltas += [delta for event in sse.feed(piece) for delta in decoder.feed(event)]
    rest, message = decoder.finish()
    assert all(isinstance(delta, ToolCallDelta) for delta in deltas)
    return "".join(delta.text for delta in deltas + rest), message


def check(pieces: Sequence[bytes]) -> None:
    told, message = heard(pieces)
    (call,) = message.tool_calls
    assert (call.name, call.arguments) == ("ls", {"path": "src"})
    assert json.loads(told) == call.arguments
    usage = message.usage
    assert (usage.input, usage.cache_read, usage.output) == (138, 8, 20)
    assert (message.stop_reason, message.response_id) == ("toolUse", "chatcmpl-OHT")


def test_a_call_whole_and_byte_by_byte() -> None:
    check([STREAM])
    check([STREAM[at : at + 1] for at in range(len(STREAM))])


def test_a_call_cut_at_every_position() -> None:
    for at in range(1, len(STREAM)):
        check([STREAM[:at], STREAM[at:]])


@pytest.mark.parametrize(
    ("status", "kind", "words", "code", "retryable"),
    [
        (503, "unavailable_error", "Loading model", "overloaded", True),
        (
            400,
            "exceed_context_size_error",
            "request (9020 tokens) exceeds the available context size (8192 tokens), try "
            "increasing it",
            "context_overflow",
            False,
        ),
        (
            500,
            "server_error",
            "image input is not supported - hint: if this is unexpected, you may need to provide "
            "the mmproj",
            "provider_error",
            False,
        ),
        (
            500,
            "server_error",
            "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]",
            "provider_error",
            False,
        ),
    ],
)
async def test_its_refusals(status: int, kind: str, words: str, code: str, retryable: bool) -> None:
    body = {"error": {"code": status, "message": words, "type": kind}}
    async with serving([refusal(status, body)]) as server, model_at(server) as model:
        _, error = await failure(model)
    assert (error.code, error.retryable) == (code, retryable)
    assert isinstance(error, ContextOverflow) == (code == "context_overflow")
    assert words[:60] in error.message


async def test_it_never_gets_arguments_that_are_no_json() -> None:
    cut = ToolCall(id="a", name="read", arguments={}, arguments_error="The arguments were cut off.")
    said = AssistantMessage(content=[cut], provider="x", model="y", stop_reason="length")
    result = ToolResultMessage(tool_call_id="a", tool_name="read", is_error=True)
    async with serving([STREAM]) as server, model_at(server) as model:
        await answer(model, "hi", said, result, "go on", tools=(READ,))
    calls = [c for m in server.bodies[0]["messages"] for c in m.get("tool_calls", ())]
    assert [json.loads(c["function"]["arguments"]) for c in calls] == [{}]
