"""Forgetting and going elsewhere: compaction and navigation of one session.

Both ask a model for a summary and change nothing before they have a good one: failed or cancelled,
the tree is as it was. Never touches the agent. Read next: ../compaction/plan.py (where the cut is),
../compaction/summary.py (how the summary is made).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import anyio

from singletree.compaction.branch import summarize_branch
from singletree.compaction.budget import Limits, over
from singletree.compaction.plan import Plan, plan
from singletree.compaction.summary import Complete, Completion, summarize
from singletree.errors import SessionError, SingletreeError, StaleError
from singletree.history.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
)
from singletree.history.record import History
from singletree.messages import Block, ThinkingLevel, UserMessage, text_of
from singletree.model.base import Finished, Model, ModelRequest, TextDelta
from singletree.session.conversation import Conversation
from singletree.session.events import (
    CompactionDelta,
    CompactionEnded,
    CompactionReason,
    CompactionResult,
    CompactionStarted,
    Phase,
    SessionEvent,
    UsageChanged,
    Warned,
)
from singletree.session.settings import Settings
from singletree.session.state import error_info

NOTHING = "Nothing to compact: the conversation is too short."


def complete_with(
    model: Model, thinking: ThinkingLevel, on_text: Callable[[str], None]
) -> Complete:
    """A model as a function from (system, user text) to its answer: no tools, no cache."""

    async def complete(system: str, user: str) -> Completion:
        request = ModelRequest(
            system=system,
            messages=(UserMessage(content=user),),
            thinking=thinking,
            cache=False,
            session_id=secrets.token_hex(16),
        )
        async for event in model.stream(request):
            if isinstance(event, TextDelta):
                on_text(event.text)
            elif isinstance(event, Finished):
                answer = event.message
                return Completion(
                    text_of(answer.content),
                    answer.usage,
                    answer.stop_reason,
                    len(answer.tool_calls),
                    answer.error_message,
                )
        raise SessionError("The model ended the summary without an answer.")

    return complete


class Compactor:
    """Compacts one session: by hand, at the threshold, or after an overflow."""

    def __init__(
        self,
        talk: Conversation,
        settings: Callable[[], Settings],
        thinking: Callable[[], ThinkingLevel],
        phase: Callable[[Phase], None],
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._talk = talk
        self._settings = settings
        self._thinking = thinking
        self._phase = phase
        self._emit = emit
        self._scope: anyio.CancelScope | None = None
        self._told_small_window = False
        self.answered = True
        """Whether a good answer came since the last automatic compaction."""

    @property
    def busy(self) -> bool:
        """Whether a compaction is on."""
        return self._scope is not None

    def cancel(self) -> bool:
        """End the running compaction; False if there is none."""
        if self._scope is None:
            return False
        self._scope.cancel()
        return True

    def limits(self, model: Model) -> Limits:
        """When to compact and what to keep, for this model. Tells once of a window too small."""
        compaction = self._settings().compaction
        window = model.info.context_window
        limits = compaction.limits(model.info.ref)
        fitted = limits.fit(window)
        if fitted != limits and not self._told_small_window:
            self._told_small_window = True
            self._emit(
                Warned(
                    "small_window",
                    f"{model.info.ref} has a window of {window} tokens, less than the reserve of "
                    f"{limits.reserve}: a quarter of the window is reserved and kept instead.",
                )
            )
        return fitted

    def full(self, model: Model) -> bool:
        """Whether the context is above the threshold."""
        limits = self.limits(model)
        return limits.enabled and over(
            self._talk.tokens(), model.info.context_window, limits.reserve
        )

    async def fit(self, model: Model) -> bool:
        """Compact if the context is above the threshold; whether something was done.

        Never twice without a good answer between, and never an exception: a summary that fails is
        told and the run goes on with the context as it is.
        """
        if not self.answered or not self.full(model):
            return False
        return await self._automatic(model, "threshold")

    async def overflow(self, model: Model) -> bool:
        """Compact after a request that was too large; whether it helped."""
        return self.limits(model).enabled and await self._automatic(model, "overflow")

    async def compact(self, model: Model, instructions: str | None = None) -> CompactionResult:
        """Compact by hand. Raises `nothing_to_compact`, or whatever the model fails with."""
        made = self._plan(model)
        if made is None:
            raise SessionError(NOTHING, code="nothing_to_compact")
        return await self._run(model, made, "manual", instructions)

    async def _automatic(self, model: Model, reason: CompactionReason) -> bool:
        made = self._plan(model)
        if made is None:
            return False
        self.answered = False
        try:
            await self._run(model, made, reason, None)
        except SingletreeError as error:
            self._emit(Warned("compaction_failed", f"Compaction failed: {error.message}"))
            return False
        return True

    def _plan(self, model: Model) -> Plan | None:
        return plan(self._talk.path(), self.limits(model).keep_recent, self._talk.tokens())

    async def _run(
        self, model: Model, made: Plan, reason: CompactionReason, instructions: str | None
    ) -> CompactionResult:
        job = self._talk.history.mint()
        before = self._phase_of(reason)
        self._phase("compacting")
        self._emit(CompactionStarted(job, reason))
        result: CompactionResult | None = None
        try:
            with anyio.CancelScope() as self._scope:
                result = await self._summarise(model, made, job, instructions)
        except SingletreeError as error:
            self._emit(CompactionEnded(job, reason, "failed", error=error_info(error)))
            raise
        except BaseException as error:  # the request or the turn was cancelled, or a fault of ours
            status: Literal["failed", "cancelled"]
            status = "failed" if isinstance(error, Exception) else "cancelled"
            self._emit(CompactionEnded(job, reason, status))
            raise
        finally:
            self._scope = None
            self._phase(before)
        if result is None:
            self._emit(CompactionEnded(job, reason, "cancelled"))
            raise SessionError("The compaction was cancelled.", code="cancelled")
        self._emit(CompactionEnded(job, reason, "completed", result))
        self._emit(UsageChanged(None, model.info.context_window, None))
        return result

    def _phase_of(self, reason: CompactionReason) -> Phase:
        return "idle" if reason == "manual" else "running"

    async def _summarise(
        self, model: Model, made: Plan, job: str, instructions: str | None
    ) -> CompactionResult:
        complete = complete_with(
            model, self._thinking(), lambda text: self._emit(CompactionDelta(job, text))
        )
        summary = await summarize(
            made, complete, window=model.info.context_window, instructions=instructions
        )
        entry = self._talk.add(
            CompactionEntry(
                summary=summary.text,
                first_kept_entry_id=made.first_kept_id,
                tokens_before=made.tokens_before,
                details=summary.details,
                usage=summary.usage,
                from_hook=False,
            ),
            cause="compact",
        )
        return CompactionResult(
            entry.id,
            summary.text,
            made.first_kept_id,
            made.tokens_before,
            self._talk.tokens(),
            summary.usage,
            tuple(summary.read_files),
            tuple(summary.modified_files),
        )


@dataclass(frozen=True, slots=True)
class Navigated:
    """Where the leaf is now; `editor_text` is what a left user message said."""

    leaf_id: str | None
    editor_text: str | None = None
    summary_entry_id: str | None = None


def check_leaf(talk: Conversation, expected: str | None) -> None:
    """Raise StaleError when the leaf is not where the caller believes it to be."""
    if expected is not None and expected != talk.history.leaf:
        raise StaleError(
            "The conversation has moved on; look at the tree again.",
            detail={"leafId": talk.history.leaf},
        )


def landing(history: History, entry: Entry) -> tuple[str | None, str | None]:
    """Where the leaf goes when `entry` is chosen, and the text that comes back for editing.

    A user's (or an extension's) message is to be said again: the leaf is its parent.
    """
    content: str | list[Block] | None = None
    if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage):
        content = entry.message.content
    elif isinstance(entry, CustomMessageEntry):
        content = entry.content
    if content is None:
        return entry.id, None
    tree = history.tree
    return tree.id_at(tree.parent(tree.row(entry.id))), text_of(content)


def left_behind(history: History, target: str) -> list[Entry]:
    """The entries from where the paths meet to the old leaf, oldest first."""
    ids = history.tree.left_behind(history.leaf, target)
    return list(history.entries(ids=ids).entries)


async def navigate(
    talk: Conversation,
    target: str,
    *,
    complete: Complete | None,
    window: int | None = None,
    reserve: int = 0,
    instructions: str | None = None,
    replace: bool = False,
    label: str | None = None,
) -> Navigated:
    """Go on from `target`. With `complete`, what is left gets a summary (if anything is left)."""
    history = talk.history
    entry, old = history.entry(target), history.leaf
    if target == old:
        if label is not None:
            talk.label(target, label)
        return Navigated(history.leaf)
    leaf, text = landing(history, entry)
    left = left_behind(history, target) if complete is not None else []
    if complete is None or not left:
        talk.move(leaf)
        if label is not None:
            talk.label(target, label)
        return Navigated(history.leaf, text)
    budget = None if window is None else max(window - reserve, window // 4)
    summary = await summarize_branch(
        left,
        complete,
        budget=budget,
        window=window,
        instructions=instructions,
        replace=replace,
    )
    made = talk.add(
        BranchSummaryEntry(
            summary=summary.text,
            from_id=old or "root",
            details=summary.details,
            usage=summary.usage,
            from_hook=False,
        ),
        after=leaf,
        cause="navigate",
    )
    if label is not None:
        talk.label(made.id, label)
    return Navigated(history.leaf, text, made.id)
