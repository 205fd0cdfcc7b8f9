"""What came of a command, in one line for a person.

A host that knows only LSP throws the result of a command away. Text people read stands here.
Pure. Read next: ../handlers/commands.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from singletree.rpc.content import place
from singletree.rpc.protocol.base import Result
from singletree.rpc.protocol.compaction import Compacted
from singletree.rpc.protocol.edits import Reverted
from singletree.rpc.protocol.model import ModelResult, ThinkingResult
from singletree.rpc.protocol.permission import RuleList
from singletree.rpc.protocol.queue import QueueItem, QueueTaken
from singletree.rpc.protocol.session import Attached, Exported, Forked, SessionName
from singletree.rpc.protocol.settings import TrustResult
from singletree.rpc.protocol.tree import Labeled, Navigated
from singletree.rpc.protocol.turn import (
    AbortResult,
    BashResult,
    FollowUpResult,
    PromptResult,
    SteerResult,
)

QUEUED = "It waits until the running turn has ended."
INJECTED = "The running turn takes it up at its next step."
STOPPED, NOT_YET = "Stopped.", "It is being stopped; something in it does not end yet."
NOTHING_RAN = "Nothing was running."
WAITED = "Taken back: {texts}"
NONE_WAITED = "Nothing was waiting."
COMPACTED = "Compacted: {before} tokens became about {after}."
MOVED = "The session goes on from there."
YOUR_TEXT = "{moved} You had said: {text}"
LABELED, UNLABELED = "Label: {label}.", "The label is gone."
FORKED = "A new session goes on from there."
OPENED = "This is the session now: {name}."
NEW = "A new session has begun."
NAMED, UNNAMED = "The session is named {name}.", "The session has no name."
EXPORTED = "The session was written to {path}."
MODEL = "{model} answers, thinking: {level}."
THINKING = "Thinking: {level}."
MODE = "Permissions: {mode}."
REMEMBERED = "Remembered answers: {count}."
TRUSTED, UNTRUSTED = "What this folder brings along counts.", "It does not count: {what}."
OPEN_IT = "It is in {place}."
RAN = "Exit code {code}: {output}"


class Opened(Result):
    """A text was put before the person; where it is, and whether the editor shows it."""

    uri: str
    shown: bool


def outcome(result: object) -> str | None:
    """The line; None where the person sees it otherwise."""
    if not isinstance(result, Result):
        return None
    return _talk(result) or _session(result) or _choice(result)


def _talk(result: Result) -> str | None:
    match result:
        case PromptResult() | SteerResult() | FollowUpResult():
            lines = {"queued": QUEUED, "injected": INJECTED, "handled": result.note}
            return lines.get(result.disposition)
        case AbortResult():
            return STOPPED if result.aborted else NOT_YET if result.forced else NOTHING_RAN
        case QueueTaken(removed=removed):
            return WAITED.format(texts=_texts(removed)) if removed else NONE_WAITED
        case Opened():
            return None if result.shown else OPEN_IT.format(place=place(result.uri))
        case BashResult():
            output = result.output.strip()
            return RAN.format(code=result.exit_code, output=output) if output else None
        case _:
            return None


def _session(result: Result) -> str | None:
    match result:
        case Compacted():
            after = result.tokens_after_estimate
            return COMPACTED.format(before=result.tokens_before, after=after)
        case Navigated():
            return _moved(MOVED, result.editor_text)
        case Forked():
            return _moved(FORKED, result.editor_text)
        case Labeled():
            return LABELED.format(label=result.label) if result.label else UNLABELED
        case Attached(state=state):
            if not state.counts.messages:
                return NEW
            return OPENED.format(name=state.name or state.session_id)
        case SessionName(name=name):
            return NAMED.format(name=name) if name else UNNAMED
        case Exported():
            return EXPORTED.format(path=result.path) if result.path else None
        case Reverted():
            return _reverted(result)
        case _:
            return None


def _choice(result: Result) -> str | None:
    match result:
        case ModelResult():
            return MODEL.format(model=result.model, level=result.thinking)
        case ThinkingResult():
            return THINKING.format(level=result.thinking)
        case RuleList(rules=rules):
            remembered = f" {REMEMBERED.format(count=len(rules))}" if rules else ""
            return MODE.format(mode=result.mode) + remembered
        case TrustResult(skipped=skipped):
            what = ", ".join(one.path for one in skipped)
            return UNTRUSTED.format(what=what) if what else TRUSTED
        case _:
            return None


def _moved(line: str, text: str | None) -> str:
    return YOUR_TEXT.format(moved=line, text=text) if text else line


def _reverted(result: Reverted) -> str:
    count = len(result.reverted)
    done = f"{count} edit was taken back." if count == 1 else f"{count} edits were taken back."
    return " ".join([done, *(one.message for one in result.refused)])


def _texts(items: Sequence[QueueItem]) -> str:
    blocks = [block for item in items for block in item.content]
    return " · ".join(block.text for block in blocks if block.type == "text")
