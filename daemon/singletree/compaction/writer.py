"""Has a summary written: one request where it fits, several where it does not.

Each request is small enough for the window; a longer text is told in steps, every step merging into
the summary so far. Knows no model: it is handed `complete`. Read next: summary.py, branch.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from singletree.compaction.prompts import (
    LEFT_OUT,
    SHORTENED,
    SYSTEM,
    WENT_ON,
    Form,
    ask,
    missing,
    own_words,
    repeats,
)
from singletree.errors import ContextOverflow, ModelError
from singletree.messages import Usage, utf16_head, utf16_units

CAUTIOUS_UNITS_PER_TOKEN = 3.5
"""For requests that must fit: most tokenisers need more tokens than the plain estimate says."""

MAX_STEPS = 24
SMALLEST_STEP = 128
"""Tokens of conversation below which a step is not worth its request."""

ANSWER_TOKENS = 16_384

TOO_SMALL = "The model's window is too small for a summary."
FAILED = "The summary failed: {why}"
WHY_EMPTY = "the answer was empty"
WHY_LENGTH = "the answer was cut at the output limit"
WHY_TOOL = "the model called a tool instead of answering"
WHY_ABORTED = "the request was aborted"
WHY_ERROR = "the provider answered with an error"


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer to a summary request; `error` is the provider's message, if it failed."""

    text: str
    usage: Usage
    stop_reason: str = "stop"
    tool_calls: int = 0
    error: str | None = None


Complete = Callable[[str, str], Awaitable[Completion]]
"""Asks a model: system prompt, one user message; no tools, no cache. May raise ModelError: a
ContextOverflow is tried again in smaller pieces."""


@dataclass(frozen=True, slots=True)
class Written:
    """A text, what it cost, and the headings it lacks although they were asked for twice."""

    text: str
    usage: Usage
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Writer:
    """Who to ask, and within which bounds: `window` in tokens (None: no bound is known)."""

    complete: Complete
    window: int | None = None
    focus: str | None = None

    async def write(self, parts: Sequence[str], form: Form, previous: str | None) -> Written:
        """A summary of these parts in this form, merged into the previous one.

        Without any parts it is the previous one, and nobody is asked.
        """
        room = self._room(form)
        queue = deque(self._steps(parts, room, previous) if parts else [])
        summary, spent = previous, Usage()
        lacking: tuple[str, ...] = ()
        while queue:
            text = queue.popleft()
            kept = summary if room is None else shorten(summary, max(room - tokens(text), 1))
            try:
                written = await self._merged(text, form, kept, room)
            except ContextOverflow:
                if tokens(text) < 2 * SMALLEST_STEP:
                    raise
                queue.extendleft(reversed(slices(text, tokens(text) // 2 + 1)))
                continue
            summary, lacking = written.text, written.missing
            spent += written.usage
        return Written(summary or "", spent, lacking)

    def _room(self, form: Form) -> int | None:
        """Tokens for conversation and previous summary in one request."""
        if self.window is None:
            return None
        asked = ask("", form.more, previous=" ", focus=self.focus, lacking=form.headings)
        answer = min(ANSWER_TOKENS, self.window // 4)
        room = self.window - answer - tokens(SYSTEM) - tokens(asked) - 32
        if room < 2 * SMALLEST_STEP:
            raise ContextOverflow(TOO_SMALL, detail={"summary": "window"})
        return room

    def _steps(self, parts: Sequence[str], room: int | None, previous: str | None) -> list[str]:
        whole = "\n\n".join(parts)
        if room is None or tokens(whole) + tokens(previous or "") <= room:
            return [whole]
        limit = room - room // 3
        steps = packed(parts, limit)
        if len(steps) > MAX_STEPS:
            left_out = len(steps) - MAX_STEPS
            steps = steps[left_out:]
            note = LEFT_OUT.format(count=left_out)
            steps[0] = f"{note}\n\n{slices(steps[0], limit - tokens(note) - 1)[0]}"
        return steps

    async def _merged(
        self, text: str, form: Form, previous: str | None, room: int | None
    ) -> Written:
        """One step. What a model can't merge, for it only repeats `previous`, stands behind it."""
        if not previous:
            return await self._asked(text, form.first, form.headings, None)
        merged = await self._asked(text, form.more, form.headings, previous)
        if not repeats(merged.text, previous):
            return merged
        apart = await self._asked(text, form.first, form.headings, None)
        kept = previous if room is None else shorten(previous, room // 2)
        both = f"{kept}\n\n---\n\n{WENT_ON}\n\n{apart.text}"
        return Written(both, merged.usage + apart.usage, apart.missing)

    async def _asked(
        self, text: str, instructions: str, headings: Sequence[str], previous: str | None
    ) -> Written:
        """One answer; asked once more if headings are missing, then the better one as it is."""
        first = await self._once(ask(text, instructions, previous=previous, focus=self.focus))
        lacking = missing(first.text, headings)
        if not lacking:
            return Written(first.text, first.usage)
        again = ask(text, instructions, previous=previous, focus=self.focus, lacking=lacking)
        second = await self._once(again)
        spent = first.usage + second.usage
        still = missing(second.text, headings)
        if len(still) <= len(lacking):
            return Written(second.text, spent, still)
        return Written(first.text, spent, lacking)

    async def _once(self, prompt: str) -> Completion:
        answer = await self.complete(SYSTEM, prompt)
        if answer.stop_reason == "error":
            raise _failure(answer.error or WHY_ERROR, "error")
        if answer.stop_reason == "aborted":
            raise _failure(WHY_ABORTED, "aborted")
        if answer.tool_calls:
            raise _failure(WHY_TOOL, "tool_call")
        text = own_words(answer.text)
        if answer.stop_reason == "length" and text == answer.text:
            raise _failure(WHY_LENGTH, "length")
        if not text.strip():
            raise _failure(WHY_EMPTY, "empty")
        return replace(answer, text=text)


def tokens(text: str) -> int:
    """Tokens of a text, rather too many than too few: a letter outside ASCII counts as one."""
    plain = len(text.encode("ascii", "ignore"))
    return int(-(-plain // CAUTIOUS_UNITS_PER_TOKEN)) + utf16_units(text) - plain


def packed(parts: Sequence[str], limit: int) -> list[str]:
    """The parts joined into as few texts as fit `limit` tokens each; too long ones are sliced."""
    texts: list[str] = []
    size = limit + 1
    for part in parts:
        for piece in slices(part, limit):
            added = tokens(piece) + 1
            if size + added > limit:
                texts.append(piece)
                size = added
            else:
                texts[-1] += f"\n\n{piece}"
                size += added
    return texts


def slices(text: str, limit: int) -> list[str]:
    """The text in pieces of at most `limit` tokens, cut at ends of lines where there are any."""
    most = max(int(limit * CAUTIOUS_UNITS_PER_TOKEN), 2)
    pieces: list[str] = []
    at = 0
    while len(text) - at > most or tokens(text[at:]) > limit:
        piece = utf16_head(text[at : at + most], most)
        while tokens(piece) > limit and len(piece) > 1:
            piece = piece[: max(len(piece) * 3 // 4, 1)]
        end = piece.rfind("\n")
        if end > len(piece) // 2:
            piece = piece[: end + 1]
        pieces.append(piece)
        at += len(piece)
    return [*pieces, text[at:]] if at < len(text) or not pieces else pieces


def shorten(text: str | None, limit: int) -> str | None:
    """A previous summary that leaves room: beginning and end of one that is too long."""
    if text is None or tokens(text) <= limit:
        return text
    pieces = slices(text, max(limit // 2 - tokens(SHORTENED), 1))
    backwards = slices(text[::-1], max(limit // 2 - tokens(SHORTENED), 1))
    return pieces[0] + SHORTENED + backwards[0][::-1]


def _failure(why: str, kind: str) -> ModelError:
    return ModelError(FAILED.format(why=why), detail={"summary": kind})
