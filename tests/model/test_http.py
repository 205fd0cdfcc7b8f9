"""One streamed POST: what comes through, how long silence lasts, and what failures are called."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import anyio
import pytest
from tests.model.fake_server import (
    Reply,
    Seen,
    broken_rule,
    chat,
    events,
    refusal,
    serving,
    spoken,
)
from tests.model.talk import answer, asked, failure, model_at, play

from singletree.errors import ContextOverflow
from singletree.messages import text_of
from singletree.model.base import Terms, TextDelta, ThinkingDelta

PAR = events({"choices": [{"delta": {"content": "par"}}]})


async def test_an_answer_comes_as_it_is_written() -> None:
    together = [{"content": "b"}, {"content": "c"}, {"reasoning": "d"}, {"content": "e"}]
    first = events({"choices": [{"delta": {"content": "a"}}]})
    reply = Reply([first, 0.2, chat(*together, usage={"prompt_tokens": 9})])
    async with serving([reply]) as server, model_at(server) as model:
        heard = await play(model, asked("hi"))
        message = await answer(model, "hi")
    assert heard == [
        TextDelta(0, "a"),
        TextDelta(0, "bc"),
        ThinkingDelta(1, "d"),
        TextDelta(0, "e"),
    ]
    assert text_of(message.content) == "abce"
    seen = server.seen[0]
    assert (seen.method, seen.path) == ("POST", "/v1/chat/completions")
    assert seen.headers["authorization"] == "Bearer sk-test-123"
    assert seen.headers["content-type"] == "application/json"


async def test_one_connection_serves_many_requests() -> None:
    async with serving([chat({"content": "a"})]) as server, model_at(server) as model:
        for _ in range(5):
            await answer(model, "hi")
    assert (len(server.seen), server.connections) == (5, 1)


async def test_a_server_that_never_closes_does_not_hold_the_answer_up() -> None:
    reply = Reply([chat({"content": "a"})], hold=True)
    async with serving([reply]) as server, model_at(server) as model:
        with anyio.fail_after(2):
            assert text_of((await answer(model, "hi")).content) == "a"


async def test_a_server_that_does_not_stream() -> None:
    whole = {
        "choices": [{"message": {"role": "assistant", "content": "all"}, "finish_reason": "stop"}]
    }
    async with serving([refusal(200, whole)]) as server, model_at(server) as model:
        assert text_of((await answer(model, "hi")).content) == "all"


async def test_a_web_page_is_named() -> None:
    page = Reply([b"<html>login</html>"], headers={"content-type": "text/html; charset=utf-8"})
    async with serving([page]) as server, model_at(server) as model:
        _, error = await failure(model)
    assert error.message == "fake: it answered with a web page; is its address right?"


async def test_cancelling_ends_within_100_ms_and_closes_the_connection() -> None:
    async with serving([Reply([PAR], hold=True)]) as server, model_at(server) as model:
        with anyio.move_on_after(0.3) as scope:
            await play(model, asked("hi"))
        started = anyio.current_time()
        assert scope.cancelled_caught
        with anyio.fail_after(1):
            await server.empty.wait()
        assert anyio.current_time() - started < 0.2


async def test_no_server_there() -> None:
    async with serving([b""]) as server:
        pass
    async with model_at(server) as model:
        _, error = await failure(model)
    assert error.retryable
    assert "fake: cannot connect to 127.0.0.1:" in error.message


async def test_a_cut_connection_keeps_what_came() -> None:
    async with serving([Reply([PAR], cut=True)]) as server, model_at(server) as model:
        seen, error = await failure(model)
    assert seen == [TextDelta(0, "par")]
    assert error.retryable
    assert "the connection was cut" in error.message


@pytest.mark.parametrize(
    ("status", "body", "code", "retryable"),
    [
        (401, {"error": {"message": "bad key"}}, "auth_failed", False),
        (403, "forbidden", "auth_failed", False),
        (402, "pay", "quota_exceeded", False),
        (429, {"error": {"message": "slow down"}}, "rate_limited", True),
        (429, {"error": {"code": "insufficient_quota", "message": "x"}}, "quota_exceeded", False),
        (429, "Rate limit: 8000 tokens per min", "rate_limited", True),
        (400, "max_tokens must be <= 4096", "provider_error", False),
        (404, {"error": "no such model"}, "provider_error", False),
        (408, "", "provider_error", True),
        (413, "", "context_overflow", False),
        (400, {"error": {"code": "context_length_exceeded"}}, "context_overflow", False),
        (400, "prompt is too long: 9001 tokens > 8000 maximum", "context_overflow", False),
        (
            400,
            "prompt too long; exceeded max context length by 1001 tokens",
            "context_overflow",
            False,
        ),
        (
            400,
            "request (9001 tokens) exceeds the available context size (8000 tokens)",
            "context_overflow",
            False,
        ),
        (
            400,
            "maximum context length is 8000 tokens. You passed at least 8001 input tokens",
            "context_overflow",
            False,
        ),
        (500, {"error": {"message": "context shift is disabled"}}, "context_overflow", False),
        (500, "oops", "provider_error", True),
        (502, "<html><body>Bad Gateway</body></html>", "provider_error", True),
        (503, "", "overloaded", True),
        (529, {"error": {"type": "overloaded_error"}}, "overloaded", True),
        (301, "", "provider_error", False),
    ],
)
async def test_failures_have_our_codes(status: int, body: Any, code: str, retryable: bool) -> None:
    async with serving([refusal(status, body)]) as server, model_at(server) as model:
        seen, error = await failure(model)
    assert (seen, error.code, error.retryable, error.status) == ([], code, retryable, status)
    assert isinstance(error, ContextOverflow) == (code == "context_overflow")
    assert f"(HTTP {status})" in error.message
    assert error.provider == "fake"
    assert len(server.seen) == 1


@pytest.mark.parametrize(("told", "retryable"), [("true", True), ("false", False)])
async def test_a_provider_may_say_whether_to_retry(told: str, retryable: bool) -> None:
    reply = refusal(500 if told == "false" else 400, "x", x_should_retry=told)
    async with serving([reply]) as server, model_at(server) as model:
        _, error = await failure(model)
    assert error.retryable == retryable


async def test_the_providers_words_are_shown_and_shortened() -> None:
    async with (
        serving([refusal(400, {"error": {"message": "wrong " * 200}})]) as server,
        model_at(server) as model,
    ):
        _, error = await failure(model)
    assert "fake failed (HTTP 400): wrong wrong" in error.message
    assert len(error.message) < 350
    assert error.message.endswith("…")


async def test_a_key_is_never_in_an_error() -> None:
    words = "Incorrect key sk-test-123 and sk-proj-AbCdEf123456, Bearer abcdef123456789"
    async with serving([refusal(401, words)]) as server, model_at(server) as model:
        _, error = await failure(model)
    assert "sk-" not in error.message
    assert "abcdef" not in error.message
    assert error.message.count("[key]") == 3
    assert "Check the key" in (error.hint or "")


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry_after": "2"}, "", 2),
        ({"retry_after": "1209600"}, "", 1209600),
        ({"retry_after_ms": "1500"}, "", 1.5),
        ({}, "retry in 0.05s", 0.05),
        ({}, "Please try again in 1m30s.", 90),
        ({}, "try again in 500 ms", 0.5),
        ({}, {"error": {"details": [{"retryDelay": "34s"}]}}, 34),
        ({}, {"retry_after": 3}, 3),
        ({"retry_after": "soon"}, "", None),
        ({}, "no", None),
    ],
)
async def test_how_long_to_wait(headers: dict[str, str], body: Any, seconds: float | None) -> None:
    async with serving([refusal(429, body, **headers)]) as server, model_at(server) as model:
        _, error = await failure(model)
    assert error.retry_after == seconds


async def test_wait_until_a_date() -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    async with serving([refusal(429, "", retry_after=then)]) as server, model_at(server) as model:
        _, error = await failure(model)
    assert error.retry_after is not None
    assert 27 < error.retry_after <= 30


QUICK = Terms(first=0.2, between=0.2)


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ([], "fake: it did not begin to answer within 0.2 seconds"),
        ([b": warming\n\n", 0.1, b": warming\n\n"], "fake: it did not begin to answer"),
        ([PAR], "fake: nothing came for 0.2 seconds"),
        ([PAR, *[0.05, b": ping\n\n"] * 20], "fake: nothing came for 0.2 seconds"),
        ([PAR, *[0.05, b"event: ping\ndata: {}\n\n"] * 20], "fake: nothing came for 0.2 seconds"),
    ],
)
async def test_silence_ends(pieces: list[bytes | float], said: str) -> None:
    async with (
        serving([Reply(pieces, hold=True)]) as server,
        model_at(server, terms=QUICK) as model,
    ):
        with anyio.fail_after(2):
            _, error = await failure(model)
    assert error.retryable
    assert said in error.message


async def test_a_whole_answer_can_have_a_limit() -> None:
    pieces: list[bytes | float] = [PAR, 0.1] * 20
    async with (
        serving([Reply(pieces)]) as server,
        model_at(server, terms=Terms(whole=0.3)) as model,
    ):
        with anyio.fail_after(1):
            _, error = await failure(model)
    assert error.message == "fake: its answer took more than 0.3 seconds"
    assert error.retryable


async def test_no_limit_is_no_limit() -> None:
    pieces: list[bytes | float] = [0.3, PAR, 0.3, chat({"content": "t"})]
    async with (
        serving([Reply(pieces)]) as server,
        model_at(server, terms=Terms(first=0, between=0)) as model,
    ):
        assert text_of((await answer(model, "hi")).content) == "part"


async def test_words_keep_a_slow_answer_alive() -> None:
    pieces: list[bytes | float] = []
    for _ in range(6):
        pieces += [0.1, events({"choices": [{"delta": {"content": "a"}}]})]
    async with (
        serving([Reply([*pieces, chat()])]) as server,
        model_at(server, terms=QUICK) as model,
    ):
        assert text_of((await answer(model, "hi")).content) == "aaaaaa"


async def test_messages_have_their_headers() -> None:
    async with (
        serving([spoken("yes")]) as server,
        model_at(server, "anthropic-messages") as model,
    ):
        assert text_of((await answer(model, "hi")).content) == "yes"
    seen = server.seen[0]
    assert seen.path == "/v1/messages"
    assert seen.headers["x-api-key"] == "sk-test-123"
    assert seen.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in seen.headers


USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}
GIVE = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}
ASK = {"role": "user", "content": "x"}


@pytest.mark.parametrize(
    ("messages", "rule"),
    [
        ([ASK, USE, GIVE, ASK], None),
        ([ASK, USE, ASK], "no result"),
        ([ASK, USE], "no result"),
        ([ASK, GIVE], "no call"),
        ([ASK, USE, GIVE, GIVE], "no call"),
        ([{"role": "user", "content": [{"type": "text", "text": ""}]}], "non-empty"),
        ([{"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "a"}]}], "one id"),
    ],
)
def test_the_fake_server_is_strict(messages: list[Any], rule: str | None) -> None:
    broken = broken_rule(Seen("POST", "/", {}, {"messages": messages}))
    assert (rule is None and broken is None) or (rule or "?") in (broken or "")
