"""Forgetting: the compactions of one session.

Extensions are asked first; then a model makes the summary, and nothing changes before it is a good
one: failed or cancelled, the tree is as it was. Never touches the agent. Read next: navigation.py
(its sibling), ../../compaction/plan.py (where the cut is), ../../compaction/summary.py (how it is
made).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import anyio

from singletree.compaction.budget import Limits, over
from singletree.compaction.plan import Plan, plan
from singletree.compaction.summary import summarize
from singletree.compaction.touched import Touched
from singletree.errors import SessionError, SingletreeError
from singletree.extensions.api import BeforeCompact, Cancel, OwnSummary
from singletree.history.entries import CompactionEntry, ContextEditEntry
from singletree.messages import ThinkingLevel, Usage
from singletree.model.base import Model
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
from singletree.session.extensions.hooks import Hooks
from singletree.session.settings.keys import Settings
from singletree.session.state import error_info
from singletree.session.tree.completion import complete_with
from singletree.session.tree.conversation import Conversation

NOTHING = "Nothing to compact: the conversation is too short."
CANCELLED = "The compaction was cancelled."
REFUSED = "An extension does not allow compacting now."

_SILENT = ("cancelled", "cancelled_by_extension")
"""What ends an automatic compaction without a word: somebody wanted it so."""


class Compactor:
    """Compacts one session: by hand, at the threshold, or after an overflow."""

    def __init__(
        self,
        talk: Conversation,
        settings: Callable[[], Settings],
        thinking: Callable[[], ThinkingLevel],
        hooks: Hooks,
        phase: Callable[[Phase], None],
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._talk = talk
        self._settings = settings
        self._thinking = thinking
        self._hooks = hooks
        self._phase = phase
        self._emit = emit
        self._scope: anyio.CancelScope | None = None
        self._told_small_window = False
        self.answered = True
        """Whether a good answer came since the last automatic compaction."""
        self._gave_up = False

    @property
    def busy(self) -> bool:
        """Whether a compaction is on."""
        return self._scope is not None

    def cancel(self) -> None:
        """End the running compaction, if there is one."""
        if self._scope is not None:
            self._scope.cancel()

    def begin(self) -> None:
        """A turn begins: what failed in the last one may be tried again."""
        self._gave_up = False

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

    async def fit(self, model: Model) -> None:
        """Compact if the context is above the threshold.

        Never twice without a good answer between, and never an exception: a summary that fails is
        told, the run goes on with the context as it is, and no step of this turn tries it again.
        """
        if self.answered and not self._gave_up and self.full(model):
            await self._automatic(model, "threshold")

    def can_help(self, model: Model, failed: str | None) -> bool:
        """Whether there is anything to compact once the answer that failed is hidden."""
        hidden = [ContextEditEntry(target_id=failed)] if failed else []
        return plan([*self._talk.path(), *hidden], self.limits(model).keep_recent, 0) is not None

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
            self._gave_up = error.code != "cancelled_by_extension"
            if error.code not in _SILENT:
                self._emit(Warned("compaction_failed", f"Compaction failed: {error.message}"))
            return False
        return True

    def _plan(self, model: Model) -> Plan | None:
        return plan(self._talk.path(), self.limits(model).keep_recent, self._talk.tokens())

    async def _run(
        self, model: Model, made: Plan, reason: CompactionReason, instructions: str | None
    ) -> CompactionResult:
        result: CompactionResult | None = None
        try:
            with anyio.CancelScope() as self._scope:
                instructions, own = await self._asked(made, reason, instructions)
                result = await self._told(model, made, reason, own or instructions)
        finally:
            self._scope = None
        if result is None:
            raise SessionError(CANCELLED, code="cancelled")
        return result

    async def _asked(
        self, made: Plan, reason: CompactionReason, instructions: str | None
    ) -> tuple[str | None, OwnSummary | None]:
        """What extensions make of it. Raises `cancelled_by_extension`."""
        if not self._hooks.hears(BeforeCompact):
            return instructions, None
        fired = await self._hooks.fire(
            BeforeCompact(
                reason,
                (*made.messages, *made.prefix),
                made.first_kept_id,
                made.tokens_before,
                made.previous,
                instructions,
            )
        )
        if isinstance(fired.verdict, Cancel):
            raise SessionError(fired.verdict.reason or REFUSED, code="cancelled_by_extension")
        own = fired.verdict if isinstance(fired.verdict, OwnSummary) else None
        return fired.payload.instructions, own

    async def _told(
        self, model: Model, made: Plan, reason: CompactionReason, how: str | OwnSummary | None
    ) -> CompactionResult:
        """Compact, and tell of it from its beginning to its end."""
        job = self._talk.history.mint()
        self._phase("compacting")
        self._emit(CompactionStarted(job, reason))
        try:
            if isinstance(how, OwnSummary):
                entry = self._extensions_entry(made, how)
            else:
                entry = await self._summarised(model, made, job, how)
            kept = self._talk.add(entry, cause="compact")
        except SingletreeError as error:
            self._emit(CompactionEnded(job, reason, "failed", error=error_info(error)))
            raise
        except BaseException as error:  # the request or the turn was cancelled, or a fault of ours
            status: Literal["failed", "cancelled"]
            status = "failed" if isinstance(error, Exception) else "cancelled"
            self._emit(CompactionEnded(job, reason, status))
            raise
        finally:
            self._phase("idle" if reason == "manual" else "running")
        result = self._result(kept.id, entry)
        self._emit(CompactionEnded(job, reason, "completed", result))
        self._emit(UsageChanged(None, model.info.context_window, None))
        return result

    async def _summarised(
        self, model: Model, made: Plan, job: str, instructions: str | None
    ) -> CompactionEntry:
        complete = complete_with(
            model, self._thinking(), lambda text: self._emit(CompactionDelta(job, text))
        )
        summary = await summarize(
            made, complete, window=model.info.context_window, instructions=instructions
        )
        return CompactionEntry(
            summary=summary.text,
            first_kept_entry_id=made.first_kept_id,
            tokens_before=made.tokens_before,
            details=summary.details,
            usage=summary.usage,
            from_hook=False,
        )

    def _extensions_entry(self, made: Plan, own: OwnSummary) -> CompactionEntry:
        """An extension's summary; it may keep from another entry of the path on."""
        wanted = own.first_kept_entry_id
        on_path = any(entry.id == wanted for entry in self._talk.path())
        return CompactionEntry(
            summary=own.text,
            first_kept_entry_id=wanted if wanted and on_path else made.first_kept_id,
            tokens_before=made.tokens_before,
            details=own.details,
            from_hook=True,
        )

    def _result(self, entry_id: str, entry: CompactionEntry) -> CompactionResult:
        touched = Touched.told(entry.details)
        return CompactionResult(
            entry_id,
            entry.summary,
            entry.first_kept_entry_id,
            entry.tokens_before,
            self._talk.tokens(),
            entry.usage or Usage(),
            tuple(touched.read_files),
            tuple(touched.modified_files),
        )
