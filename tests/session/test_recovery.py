"""After a run: what is tried again, how often, how long is waited, and how a turn ends."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from singletree.agent.events import RunEnded, RunReason
from singletree.errors import ContextOverflow, EmptyAnswer, ModelError, SingletreeError
from singletree.messages import AgentMessage, AssistantMessage, Usage, UserMessage
from singletree.model.base import ModelInfo
from singletree.session.settings.keys import Compaction, ProviderRetry, Settings
from singletree.session.settings.keys import Retry as RetryKeys
from singletree.session.turn.recovery import (
    Attempt,
    CompactAndRetry,
    Retry,
    Settle,
    Verdict,
    after_run,
    backoff,
)

INFO = ModelInfo("p", "m", context_window=10_000, max_output=4_096)
BUSY = ModelError("overloaded", code="overloaded", retryable=True)


def answer(stop: str = "stop", **usage: int) -> AssistantMessage:
    return AssistantMessage(stop_reason=stop, usage=Usage.model_validate(usage))


def failed(error: SingletreeError, *before: AgentMessage) -> RunEnded:
    return RunEnded((*before, answer("error")), "error", error)


def verdicts(
    runs: Sequence[RunEnded], settings: Settings | None = None, *, compacts: bool = True
) -> list[Verdict]:
    """Play runs one after the other, as a turn does, until one settles."""
    attempt = Attempt()
    given: list[Verdict] = []
    for ended in runs:
        attempt = attempt.counted(ended)
        verdict = after_run(ended, attempt, INFO, settings or Settings())
        given.append(verdict)
        if isinstance(verdict, Settle):
            break
        if isinstance(verdict, CompactAndRetry) and compacts:
            attempt = attempt.compacted()
    return given


@pytest.mark.parametrize(
    ("message", "reason", "expected"),
    [
        (answer(), "finished", "end_turn"),
        (answer(), "stopped", "end_turn"),
        (answer("length", input=10, output=4_096), "finished", "max_tokens"),
        (answer("toolUse"), "max_steps", "max_turns"),
        (answer("aborted"), "aborted", "aborted"),
        (UserMessage(content="x"), "stopped", "end_turn"),
    ],
)
def test_how_a_turn_ends(message: AgentMessage, reason: RunReason, expected: str) -> None:
    verdict = verdicts([RunEnded((message,), reason)])[0]
    assert isinstance(verdict, Settle)
    assert (verdict.reason, verdict.error) == (expected, None)


@pytest.mark.parametrize(
    "named", ["refusal", "content_filter", "incomplete.content_filter", "SAFETY"]
)
def test_a_refusal_is_told_with_its_reason_and_never_asked_again(named: str) -> None:
    refused = AssistantMessage(stop_reason="error", raw_stop_reason=named)
    told = ModelError("The filter ended the answer.", retryable=True)
    assert verdicts([RunEnded((refused,), "error", told)]) == [Settle("refusal", told)]


def test_a_run_that_added_nothing_is_over() -> None:
    assert verdicts([RunEnded((), "finished")]) == [Settle("end_turn")]


def test_three_repeats_with_doubled_waits_and_then_the_error() -> None:
    assert verdicts([failed(BUSY)] * 9) == [
        Retry(2, 1, 3),
        Retry(4, 2, 3),
        Retry(8, 3, 3),
        Settle("error", BUSY),
    ]


def test_a_good_answer_gives_new_repeats() -> None:
    good = failed(BUSY, answer("toolUse"))
    assert verdicts([failed(BUSY), failed(BUSY), good, failed(BUSY)]) == [
        Retry(2, 1, 3),
        Retry(4, 2, 3),
        Retry(2, 1, 3),
        Retry(4, 2, 3),
    ]


def test_a_failed_answer_is_no_good_one() -> None:
    again = failed(BUSY, answer("error"), answer("aborted"), answer("length"))
    assert verdicts([failed(BUSY), again])[-1] == Retry(4, 2, 3)


@pytest.mark.parametrize(
    "error",
    [
        ModelError("bad key", code="auth_failed"),
        ModelError("no quota", code="quota_exceeded"),
        SingletreeError("disk full"),
    ],
)
def test_what_cannot_pass_ends_the_turn(error: SingletreeError) -> None:
    assert verdicts([failed(error)]) == [Settle("error", error)]


def test_retries_can_be_switched_off_and_limited() -> None:
    off = Settings(retry=RetryKeys(enabled=False))
    assert verdicts([failed(BUSY)], off) == [Settle("error", BUSY)]
    one = Settings(retry=RetryKeys(max_retries=1, base_delay_ms=10))
    assert verdicts([failed(BUSY)] * 2, one) == [Retry(0.01, 1, 1), Settle("error", BUSY)]


@pytest.mark.parametrize(("asked", "waited"), [(2, 2), (3.1, 3.1), (0.05, 0.05), (0, 0.05)])
def test_a_provider_that_names_a_time_gets_it(asked: float, waited: float) -> None:
    error = ModelError("slow down", retryable=True, retry_after=asked)
    assert verdicts([failed(error)]) == [Retry(waited, 1, 3)]


def test_a_wait_beyond_the_limit_is_told_and_not_waited() -> None:
    error = ModelError(
        "quota", code="rate_limited", retryable=True, retry_after=1_209_600, status=429
    )
    verdict = verdicts([failed(error)])[0]
    assert isinstance(verdict, Settle)
    told = verdict.error
    assert isinstance(told, ModelError)
    assert told.message == (
        "The provider asks to wait 14 days, which is longer than the limit of 60 seconds. quota"
    )
    assert (told.code, told.retry_after, told.status) == ("rate_limited", 1_209_600, 429)
    assert told.hint is not None
    patient = Settings(retry=RetryKeys(provider=ProviderRetry(max_retry_delay_ms=0)))
    assert verdicts([failed(error)], patient) == [Retry(1_209_600, 1, 3)]


def test_an_empty_answer_is_asked_once_more_at_once() -> None:
    empty = EmptyAnswer("nothing", retryable=True)
    assert verdicts([failed(empty)] * 3) == [Retry(0, 1, 1), Settle("error", empty)]


def test_an_overflow_is_compacted_twice_at_most_and_asked_three_times() -> None:
    overflow = ContextOverflow("too long")
    otherwise = Settle("error", overflow)
    assert verdicts([failed(overflow)] * 9) == [
        CompactAndRetry("overflow", otherwise),
        CompactAndRetry("overflow", otherwise),
        otherwise,
    ]


def test_the_wait_doubles_up_to_the_cap() -> None:
    assert [backoff(number, 500, 3000) for number in range(6)] == [500, 500, 1000, 2000, 3000, 3000]


def test_an_overflow_without_compaction_ends_the_turn() -> None:
    overflow = ContextOverflow("too long")
    off = Settings(compaction=Compaction(enabled=False))
    assert verdicts([failed(overflow)], off) == [Settle("error", overflow)]


def test_the_next_overflow_after_a_good_answer_is_a_new_one() -> None:
    overflow = ContextOverflow("too long")
    later = failed(overflow, answer("toolUse"))
    given = verdicts([failed(overflow), failed(overflow), later, failed(overflow)])
    assert sum(isinstance(v, CompactAndRetry) for v in given) == 4


def test_failures_around_a_compaction_stay_bounded() -> None:
    overflow = ContextOverflow("too long")
    runs = [failed(BUSY), failed(overflow)] * 20
    given = verdicts(runs)
    assert isinstance(given[-1], Settle)
    assert len(given) == 6


def test_an_answer_that_found_no_room_is_an_overflow() -> None:
    full = RunEnded((answer("length", input=9_900, output=0),), "finished")
    verdict = verdicts([full])[0]
    assert isinstance(verdict, CompactAndRetry)
    assert verdict.cause == "overflow"
    assert isinstance(verdict.otherwise.error, ContextOverflow)
    almost = RunEnded((answer("length", input=9_899, output=0),), "finished")
    assert verdicts([almost]) == [CompactAndRetry("length", Settle("max_tokens"))]


def test_an_answer_cut_by_the_window_is_tried_once_with_more_room() -> None:
    cut = RunEnded((answer("length", input=9_000, output=10),), "finished")
    assert verdicts([cut, cut]) == [
        CompactAndRetry("length", Settle("max_tokens")),
        Settle("max_tokens"),
    ]
    whole = RunEnded((answer("length", input=9_000, output=4_096),), "finished")
    assert verdicts([whole]) == [Settle("max_tokens")]


def test_an_answer_cut_by_a_servers_own_limit_is_over() -> None:
    short = RunEnded((answer("length", input=1_000, output=512),), "finished")
    assert verdicts([short]) == [Settle("max_tokens")]


@pytest.mark.parametrize(
    ("number", "base", "cap", "expected"),
    [
        (1, 2_000, 60_000, 2_000),
        (60, 2_000, 60_000, 60_000),
        (3, 1_000, 2_500, 2_500),
        (5, 0, 9, 0),
    ],
)
def test_the_wait_doubles_up_to_its_cap(number: int, base: int, cap: int, expected: int) -> None:
    assert backoff(number, base, cap) == expected
