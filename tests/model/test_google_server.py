"""The generative language API over a connection: the key, failures, hand-off, cancelling."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.model.fake_server import Reply, Seen, chat, events, refusal, serving
from tests.model.gemini import API, broken_turn, call, chunk, generated
from tests.model.talk import READ, answer, asked, failure, model_at, play

from singletree.errors import ContextOverflow
from singletree.messages import AssistantMessage, Message, ToolResultMessage, text_of
from singletree.model.base import TextDelta

KEY = "AIzaSyTest-0123456789abcdefghijklmnop"


async def test_a_request_and_its_answer() -> None:
    async with (
        serving([generated({"text": "he"}, {"text": "llo"})]) as server,
        model_at(server, API, key=KEY) as model,
    ):
        message = await answer(model, "hi")
    seen = server.seen[0]
    assert (seen.method, seen.path) == ("POST", "/v1/models/m:streamGenerateContent?alt=sse")
    assert seen.headers["x-goog-api-key"] == KEY
    assert "authorization" not in seen.headers
    assert KEY not in seen.path
    assert text_of(message.content) == "hello"
    assert (message.api, message.usage.used) == (API, 11)


async def test_a_server_that_never_closes_does_not_hold_the_answer_up() -> None:
    reply = Reply([generated({"text": "a"})], hold=True)
    async with serving([reply]) as server, model_at(server, API) as model:
        with anyio.fail_after(5):
            assert text_of((await answer(model, "hi")).content) == "a"


async def test_a_cut_stream_is_a_passing_failure() -> None:
    half = events(chunk({"text": "par"}))
    for cut in (True, False):
        async with serving([Reply([half], cut=cut)]) as server, model_at(server, API) as model:
            heard, error = await failure(model)
        assert heard == [TextDelta(0, "par")]
        assert error.retryable


async def test_cancelling_closes_the_connection() -> None:
    half = Reply([events(chunk({"text": "par"}))], hold=True)
    async with serving([half]) as server, model_at(server, API) as model:
        with anyio.move_on_after(0.3) as scope:
            await play(model, asked("hi"))
        assert scope.cancelled_caught
        with anyio.fail_after(5):
            await server.empty.wait()


def google(code: int, status: str, message: str, *details: dict[str, Any]) -> Reply:
    """A refusal in Google's own form."""
    error = {"code": code, "message": message, "status": status, "details": list(details)}
    return refusal(code, {"error": error})


def violated(quota: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaId": f"GenerateRequests{quota}PerProjectPerModel-FreeTier"}],
    }


QUOTA = "You exceeded your current quota, please check your plan and billing details."
WAIT = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "27s"}
REASON = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
TOO_LONG = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
FAILURES: dict[str, tuple[Reply, str, bool, float | None]] = {
    "a limit per minute": (
        google(429, "RESOURCE_EXHAUSTED", QUOTA, violated("PerMinute"), WAIT),
        "rate_limited",
        True,
        27,
    ),
    "a limit per day": (
        google(429, "RESOURCE_EXHAUSTED", QUOTA, violated("PerDay"), WAIT),
        "quota_exceeded",
        False,
        27,
    ),
    "a quota without a delay": (
        google(429, "RESOURCE_EXHAUSTED", QUOTA),
        "quota_exceeded",
        False,
        None,
    ),
    "too many at once": (
        google(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
        "rate_limited",
        True,
        None,
    ),
    "a wrong key": (
        google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid one.", REASON),
        "auth_failed",
        False,
        None,
    ),
    "an old key": (
        google(400, "INVALID_ARGUMENT", "API key expired. Please renew the API key."),
        "auth_failed",
        False,
        None,
    ),
    "no key": (
        google(401, "UNAUTHENTICATED", "Request had no credential."),
        "auth_failed",
        False,
        None,
    ),
    "a forbidden model": (
        google(403, "PERMISSION_DENIED", "You do not have permission."),
        "auth_failed",
        False,
        None,
    ),
    "too long": (google(400, "INVALID_ARGUMENT", TOO_LONG), "context_overflow", False, None),
    "bad": (google(400, "INVALID_ARGUMENT", "Unknown name."), "provider_error", False, None),
    "unknown": (google(404, "NOT_FOUND", "models/m is not found."), "provider_error", False, None),
    "internal": (google(500, "INTERNAL", "An internal error."), "provider_error", True, None),
    "busy": (google(503, "UNAVAILABLE", "The model is overloaded."), "overloaded", True, None),
    "in a list": (
        refusal(503, [{"error": {"code": 503, "message": "Busy.", "status": "UNAVAILABLE"}}]),
        "overloaded",
        True,
        None,
    ),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_failures(name: str) -> None:
    reply, code, retryable, wait = FAILURES[name]
    async with serving([reply]) as server, model_at(server, API) as model:
        _, error = await failure(model)
    assert (error.code, error.retryable, error.retry_after) == (code, retryable, wait)
    assert isinstance(error, ContextOverflow) == (code == "context_overflow")
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_a_refusal_that_quotes_the_key(status: int) -> None:
    reply = google(status, "X", f"API key {KEY} in ?key={KEY} is wrong.")
    async with serving([reply]) as server, model_at(server, API, key=KEY) as model:
        _, error = await failure(model)
    assert KEY not in f"{error!r} {error} {error.hint} {error.detail}"
    assert "[key]" in error.message


def with_results(message: AssistantMessage) -> list[Message]:
    return [
        message,
        *(
            ToolResultMessage(tool_call_id=made.id, tool_name=made.name, content="done")
            for made in message.tool_calls
        ),
    ]


async def test_a_turn_with_tools_and_back() -> None:
    first = generated(
        {"text": "Let me see.", "thought": True},
        {**call(path="a"), "thoughtSignature": "S"},
        call(path="b"),
    )
    async with (
        serving([first, generated({"text": "done"})]) as server,
        model_at(server, API, reasoning=True) as model,
    ):
        server.rules = [broken_turn]
        called = await answer(model, "hi", tools=(READ,), thinking="high")
        last = await answer(model, "hi", *with_results(called), tools=(READ,))
    assert (called.stop_reason, text_of(last.content)) == ("toolUse", "done")
    sent = server.bodies[1]["contents"][1]["parts"]
    assert [part.get("thoughtSignature") for part in sent] == ["S", None]
    assert [part["functionCall"]["id"] for part in sent] == [c.id for c in called.tool_calls]


async def test_a_conversation_goes_to_another_provider_and_comes_back() -> None:
    mine = generated({**call(path="a"), "thoughtSignature": "MINE"})
    theirs = {"index": 0, "id": "call_1|x", "function": {"name": "read", "arguments": "{}"}}

    def reply(seen: Seen) -> Reply:
        if "contents" not in seen.body:
            return Reply([chat({"reasoning": "hm"}, {"tool_calls": [theirs]})])
        return Reply([mine])

    async with (
        serving(reply) as server,
        model_at(server, API) as gemini,
        model_at(server) as other,
    ):
        server.rules.append(lambda seen: broken_turn(seen) if "contents" in seen.body else None)
        spoken = with_results(await answer(gemini, "hi", tools=(READ,)))
        spoken += with_results(await answer(other, "hi", *spoken, tools=(READ,)))
        await answer(gemini, "hi", *spoken, "go", tools=(READ,))
    assert "MINE" not in str(server.bodies[1])
    sent = server.bodies[2]["contents"]
    assert sent[1]["parts"][0]["thoughtSignature"] == "MINE"
    assert sent[3]["parts"][0]["functionCall"]["id"] == "call_1_x"
    assert "hm" not in str(sent)
