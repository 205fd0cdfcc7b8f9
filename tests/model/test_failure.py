"""What an error is called by its words alone, as many servers word it."""

from __future__ import annotations

import pytest

from singletree.model.failure import classify, in_stream, provider_words, refused, retry_after

OVERFLOW = [
    "context_length_exceeded",
    "prompt is too long: 9001 tokens > 8000 maximum",
    "prompt too long; exceeded max context length by 1001 tokens",
    "request (9001 tokens) exceeds the available context size (8000 tokens)",
    "This model's maximum context length is 8000 tokens, you requested at least 8001 input tokens",
    "413 status code (no body)",
    "413",
    "HTTP 413",
    "500 context shift is disabled",
    "the request exceeds the available context size, try increasing it",
    "Input is too long for requested model.",
    "input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
    "tokens to keep from the initial prompt is greater than the context length (n_ctx)",
    "Your input exceeds the context window of this model.",
    "request_too_large: Request exceeds the maximum size",
    "ContextWindowExceededError: Context Window exceeded for given call.",
    "The input (30000 tokens) is longer than the model's context length (8192 tokens).",
    "Your request exceeded model token limit: 262144 (requested: 300000)",
    "Prompt has 300000 tokens, but the configured context size is 262144 tokens",
    "Prompt exceeds max length",
]
NEITHER = [
    "400 max_tokens must be <= 4096",
    "max_tokens must be at least 1",
    "401 invalid x-api-key",
    "404 model not found",
    "insufficient_quota: You exceeded your current quota, please check your plan",
    "402 Payment Required",
    "",
    "The tool schema is invalid",
    '429 {"type": "FreeUsageLimitError"}',
    '429 {"error": {"code": "1308"}}',
    "out of budget",
]
PASSING = [
    "429 Limit: 8000 tokens per min",
    "429 Too Many Requests",
    "Rate limit reached: too many tokens per minute",
    "529 overloaded_error",
    "500 Internal Server Error",
    "502 Bad Gateway",
    "status code 503",
    "fetch failed",
    "connect ECONNREFUSED 127.0.0.1:1",
    "Connection reset by peer: connection was reset",
    "socket hang up",
    "Request timed out.",
    "the stream ended without a final event",
    "Service temporarily unavailable",
    "service_unavailable_error",
    "server_busy",
    "Our servers are currently busy",
    "We are currently experiencing high demand",
    "ResourceExhausted",
    "subscription_sharing_usage_unavailable",
    "Server error",
    "internal_error",
    "Provider returned error",
    "The upstream provider returned an error",
    "exceeded request buffer limit while retrying upstream",
    "upstream connect error or disconnect/reset before headers",
    "stream was interrupted",
    "stream disconnected before completion",
    "the stream was cut short after the reply had begun",
    "request ended without sending any chunks",
    "http2 request did not get a response",
    "The pending stream has been canceled",
    "other side closed",
    "The socket connection was closed unexpectedly",
    "terminated",
    "request to https://example.com/token failed, reason: ",
    "getaddrinfo EAI_AGAIN api.example.com",
    "write EPIPE",
    "WebSocket closed 1006",
    "responses websocket connection limit reached",
    "the server asked for a retry delay of 120s",
    "You can retry your request",
    "please try your request again",
]


@pytest.mark.parametrize("text", OVERFLOW)
def test_what_does_not_fit_is_known_by_its_words(text: str) -> None:
    kind = classify(text)
    assert (kind.code, kind.retryable) == ("context_overflow", False)


@pytest.mark.parametrize("text", PASSING)
def test_what_may_pass_is_tried_again(text: str) -> None:
    kind = classify(text)
    assert kind.code != "context_overflow"
    assert kind.retryable


@pytest.mark.parametrize("text", NEITHER)
def test_what_will_not_pass_is_told(text: str) -> None:
    kind = classify(text)
    assert kind.code != "context_overflow"
    assert not kind.retryable


@pytest.mark.timeout(5)
@pytest.mark.parametrize("bait", ["<style ", "<head ", "<", "retry", "retry in 1s ", "1", "://a:b"])
def test_a_long_body_of_bait_is_read_at_once(bait: str) -> None:
    body = bait * (65_536 // len(bait))
    error = refused(500, body, {}, provider="fake")
    assert len(error.message) < 350
    assert len(in_stream({"message": body}, provider="fake").message) < 350


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<html><HEAD><title>t</title></HEAD><body><h1>502</h1> Bad</body>", "502 Bad"),
        ("<p>a</p><style>b {c}</style><script>d</script >e", "a e"),
        ("<p>a</p><script>never closed", "a"),
        ("<head><p>never closed", "never closed"),
        ('{"errors": ["no such model"]}', '{"errors": ["no such model"]}'),
    ],
)
def test_what_a_page_says(page: str, words: str) -> None:
    assert provider_words(page) == words


@pytest.mark.parametrize(
    "date",
    ["Wed, 01 Jan 2025 00:00:00 +9999999999999999999", "1 Jan 99999 00:00:00", ",,,", "Mon"],
)
def test_a_date_that_is_none_is_no_wait(date: str) -> None:
    assert retry_after({"retry-after": date}, "") is None
