"""An error that comes as an event after the status said 200."""

from __future__ import annotations

import pytest
from tests.model.fake_server import Reply, chat, events, serving, spoken
from tests.model.talk import answer, failure, model_at

from singletree.messages import text_of
from singletree.model.base import TextDelta


async def test_overload_before_any_word() -> None:
    busy = events(
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        name=True,
    )
    async with (
        serving([busy, spoken("hello")]) as server,
        model_at(server, "anthropic-messages") as model,
    ):
        seen, error = await failure(model)
        assert (seen, error.code, error.retryable) == ([], "overloaded", True)
        assert text_of((await answer(model, "hi")).content) == "hello"


async def test_a_failure_in_the_middle_is_no_finished_answer() -> None:
    half = events(
        {"choices": [{"delta": {"content": "par"}}]}, {"error": {"message": "boom", "code": 502}}
    )
    async with serving([half, chat({"content": "hello"})]) as server, model_at(server) as model:
        seen, error = await failure(model)
        assert seen == [TextDelta(0, "par")]
        assert (error.retryable, error.status) == (True, 502)
        assert "boom" in error.message
        assert text_of((await answer(model, "hi")).content) == "hello"


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        ({"message": "slow down", "type": "rate_limit_error"}, "rate_limited", True),
        ({"message": "x", "code": "429"}, "rate_limited", True),
        ({"message": "x", "code": "insufficient_quota"}, "quota_exceeded", False),
        ({"message": "bad", "type": "invalid_request_error"}, "provider_error", False),
        ({"message": "prompt is too long: 9 tokens > 8"}, "context_overflow", False),
        ({"type": "api_error", "message": "Internal server error"}, "provider_error", True),
        ("just words", "provider_error", True),
    ],
)
async def test_kinds_of_errors(error: object, code: str, retryable: bool) -> None:
    async with (
        serving([Reply([events({"error": error})])]) as server,
        model_at(server) as model,
    ):
        _, caught = await failure(model)
    assert (caught.code, caught.retryable) == (code, retryable)
