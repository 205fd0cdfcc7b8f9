"""After a run: settle, try again, or compact and try again. Pure: values in, a verdict out.

Never waits, never writes, never asks a model. The caller keeps an `Attempt` for its turn: after
each run `attempt = attempt.counted(ended)`, then `after_run(…)`, and after a compaction that this
verdict asked for `attempt = attempt.compacted()`. Read next: ../../agent/loop.py (how a run ends).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from singletree.agent.events import RunEnded
from singletree.errors import ContextOverflow, EmptyAnswer, ModelError, SingletreeError
from singletree.messages import AssistantMessage
from singletree.model.base import ModelInfo
from singletree.session.events import TurnReason
from singletree.session.settings.keys import Retry as RetrySettings
from singletree.session.settings.keys import Settings

MAX_COMPACTIONS = 2
"""Compactions for one overflow; so there are at most three requests."""
MAX_EMPTY = 1
"""Repeats after an empty answer."""
MIN_DELAY = 0.05
NEARLY_FULL = 0.8
TOO_LONG = "The provider asks to wait {wait}, which is longer than the limit of {limit}. {message}"
REFUSALS = (
    "refusal",
    "sensitive",
    "content_filter",
    "content-filter",
    "safety",
    "recitation",
    "blocklist",
    "prohibited_content",
    "spii",
    "image_safety",
    "image_recitation",
    "image_prohibited_content",
)
"""How providers name the end of an answer that they or the model refused to give."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What was tried in a turn since the last good answer."""

    failures: int = 0
    empty: int = 0
    compactions: int = 0

    def counted(self, ended: RunEnded) -> Attempt:
        """With this run: a good answer in it begins anew, its failure counts."""
        now = Attempt() if any(_good(m) for m in ended.messages) else self
        if ended.reason != "error":
            return now
        if isinstance(ended.error, EmptyAnswer):
            return replace(now, empty=now.empty + 1)
        return replace(now, failures=now.failures + 1)

    def compacted(self) -> Attempt:
        """With one compaction more; failures before it do not count against what follows."""
        return Attempt(compactions=self.compactions + 1)


@dataclass(frozen=True, slots=True)
class Settle:
    """Nothing automatic remains; the turn ends like this."""

    reason: TurnReason
    error: SingletreeError | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """Ask again after `delay` seconds; this is repeat `number` of at most `limit`."""

    delay: float
    number: int
    limit: int


@dataclass(frozen=True, slots=True)
class CompactAndRetry:
    """Hide the failed answer, compact, ask again. If nothing can be compacted: `otherwise`."""

    cause: Literal["overflow", "length"]
    otherwise: Settle


Verdict = Settle | Retry | CompactAndRetry


def after_run(ended: RunEnded, attempt: Attempt, info: ModelInfo, settings: Settings) -> Verdict:
    """What comes next. `attempt` already counts this run; `info` is the model that answered."""
    last = _last_answer(ended)
    settled = _settle(ended, last)
    can_compact = settings.compaction.enabled and attempt.compactions < MAX_COMPACTIONS
    if isinstance(ended.error, ContextOverflow) or (last and overflowed(last, info)):
        failed = ended.error or ContextOverflow(f"The context does not fit {info.ref}.")
        otherwise = Settle("error", failed)
        return CompactAndRetry("overflow", otherwise) if can_compact else otherwise
    if isinstance(ended.error, ModelError) and settled.reason != "refusal":
        return _after_failure(ended.error, attempt, settings.retry)
    if last and can_compact and not attempt.compactions and _cut_by_full_window(last, info):
        return CompactAndRetry("length", settled)
    return settled


def overflowed(message: AssistantMessage, info: ModelInfo) -> bool:
    """Whether an answer came to nothing because the request filled the window."""
    usage, window = message.usage, info.context_window
    return (
        window > 0
        and message.stop_reason == "length"
        and usage.output == 0
        and usage.input + usage.cache_read >= 0.99 * window
    )


def cut_by_window(message: AssistantMessage, info: ModelInfo) -> bool:
    """Whether an answer was cut before its own limit: the rest of the window was too small."""
    return (
        message.stop_reason == "length"
        and not message.tool_calls
        and message.usage.output < info.max_output
    )


def _cut_by_full_window(message: AssistantMessage, info: ModelInfo) -> bool:
    """Cut before its own limit, and not because a server's limit is lower than the one we know."""
    full = message.usage.used >= NEARLY_FULL * info.context_window
    return full and cut_by_window(message, info)


def backoff(number: int, base_ms: int, cap_ms: int) -> int:
    """Milliseconds before repeat `number` (from 1): doubled each time, up to the cap."""
    return min(cap_ms, base_ms << min(max(number - 1, 0), 40))


def _after_failure(error: ModelError, attempt: Attempt, retry: RetrySettings) -> Verdict:
    failed = Settle("error", error)
    if not (error.retryable and retry.enabled):
        return failed
    if isinstance(error, EmptyAnswer):
        return Retry(0, attempt.empty, MAX_EMPTY) if attempt.empty <= MAX_EMPTY else failed
    if attempt.failures > retry.max_retries:
        return failed
    if error.retry_after is None:
        delay = backoff(attempt.failures, retry.base_delay_ms, retry.max_agent_delay_ms) / 1000
        return Retry(delay, attempt.failures, retry.max_retries)
    limit = retry.provider.max_retry_delay_ms / 1000
    if limit and error.retry_after > limit:
        return Settle("error", _too_long(error, error.retry_after, limit))
    return Retry(max(error.retry_after, MIN_DELAY), attempt.failures, retry.max_retries)


def _too_long(error: ModelError, wait: float, limit: float) -> ModelError:
    return ModelError(
        TOO_LONG.format(message=error.message, wait=_span(wait), limit=_span(limit)),
        code=error.code,
        hint="Raise retry.provider.maxRetryDelayMs to wait that long, or choose another model.",
        detail=error.detail,
        retryable=True,
        retry_after=wait,
        status=error.status,
        provider=error.provider,
    )


def _settle(ended: RunEnded, last: AssistantMessage | None) -> Settle:
    match ended.reason:
        case "aborted":
            return Settle("aborted")
        case "error":
            return Settle("refusal" if last and _refused(last) else "error", ended.error)
        case "max_steps":
            return Settle("max_turns")
        case "finished" | "stopped":
            cut = last is not None and last.stop_reason == "length"
            return Settle("max_tokens" if cut else "end_turn")


def _last_answer(ended: RunEnded) -> AssistantMessage | None:
    last = ended.messages[-1] if ended.messages else None
    return last if isinstance(last, AssistantMessage) else None


def _refused(message: AssistantMessage) -> bool:
    """Whether it ended with one of those names; some put a status before it."""
    reason = (message.raw_stop_reason or "").casefold().rpartition(".")[2]
    return message.stop_reason == "error" and reason in REFUSALS


def _good(message: object) -> bool:
    if not isinstance(message, AssistantMessage):
        return False
    return not message.failed and message.stop_reason != "length"


def _span(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"
