"""What errors tell, in the words of many servers."""

from __future__ import annotations

import pytest

from singletree.compaction.signs import (
    is_overflow,
    is_retryable,
    length_is_recoverable,
    overflowed_silently,
    retry_delay_ms,
)
from singletree.messages import Usage

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
    "peer closed connection without sending complete message body (incomplete chunked read)",
    "Service temporarily unavailable",
]


@pytest.mark.parametrize("message", OVERFLOW)
def test_an_overflow_is_recognised_and_not_retried_as_it_is(message: str) -> None:
    assert is_overflow(message)
    assert not is_retryable(message)


@pytest.mark.parametrize("message", PASSING)
def test_a_passing_failure_is_worth_another_try(message: str) -> None:
    assert not is_overflow(message)
    assert is_retryable(message)


@pytest.mark.parametrize("message", NEITHER)
def test_the_rest_is_neither(message: str) -> None:
    assert not is_overflow(message)
    assert not is_retryable(message)


def test_no_message_tells_nothing() -> None:
    assert not is_overflow(None)
    assert not is_retryable(None)


def test_figures_that_cannot_be() -> None:
    assert overflowed_silently("stop", Usage(input=6, cache_read=5), 10)
    assert not overflowed_silently("stop", Usage(input=10), 10)
    assert overflowed_silently("length", Usage(input=99), 100)
    assert not overflowed_silently("length", Usage(input=99, output=1), 100)
    assert not overflowed_silently("stop", Usage(input=10), 0)


def test_a_cut_below_the_output_limit_can_be_cured() -> None:
    assert length_is_recoverable("length", 10, 4096)
    assert not length_is_recoverable("length", 4096, 4096)
    assert not length_is_recoverable("stop", 10, 4096)


def test_the_wait_doubles_up_to_the_cap() -> None:
    assert [retry_delay_ms(n) for n in (1, 2, 3, 60)] == [2000, 4000, 8000, 60_000]
    assert retry_delay_ms(0) == 2000
    assert retry_delay_ms(3, 1000, 2500) == 2500
