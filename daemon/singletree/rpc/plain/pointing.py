"""What a person can have done with a piece of a document: as code actions, and as what is said.

A code action carries a command with the place alone; the text is cut out of the buffer when the
command arrives, and a place of another version of the document is refused rather than guessed at.
Never reads a file, never asks a model. Read next: commands.py, ../features.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from singletree.errors import SingletreeError, StaleError
from singletree.excerpt import excerpt
from singletree.rpc.buffers.documents import Documents
from singletree.rpc.content import place, text_in
from singletree.rpc.protocol.base import JsonObject, SessionParams
from singletree.rpc.protocol.content import Position, Range

EXPLAIN: Final = "Explain what this does."
EXPLAIN_PROBLEM: Final = "Explain this problem: what it means and where it comes from."
FIX: Final = "Fix this problem in the file, and change as little as that needs."
REWRITE: Final = (
    "Rewrite the selected text in its file so that it does the same and is easier to read. Where a "
    "comment in it asks for something, do that."
)
REWRITE_AS: Final = "Rewrite the selected text in its file: {instructions}"

CHANGED: Final = "The document has changed since this was offered. Choose it again."
NOT_OPEN: Final = "{place} is not open here, so its text cannot be sent. Open it first."
NOTHING: Final = "Nothing is selected."
TOO_LONG: Final = "The selection has {count} characters; a message takes {most}. Select less."

SHORT: Final = 60
LONGEST: Final = 100_000
"""Characters of a selection that are put into a message; a longer one is only pointed to."""


class Pointed(SessionParams):
    """A piece of a document, in the version it was pointed to in."""

    uri: str
    range: Range
    version: int | None = None
    diagnostic: JsonObject | None = None
    instructions: str | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """A code action: what it is called, its kind, the command it runs, the problem it is for."""

    title: str
    kind: str
    command: str
    argument: JsonObject
    diagnostic: JsonObject | None = None


def actions(
    uri: str,
    span: Range,
    diagnostics: Sequence[JsonObject],
    only: Sequence[str] | None,
    documents: Documents,
) -> list[Action]:
    """What can be done here; nothing where the host has no such document open."""
    document = documents.get(uri)
    if document is None:
        return []
    offered = _offered(uri, ordered(span), diagnostics, document.version)
    return [one for one in offered if only is None or any(_within(one.kind, k) for k in only)]


def said(command: str, pointed: Pointed, documents: Documents) -> list[JsonObject]:
    """The content of the prompt that a command of these stands for."""
    document = documents.get(pointed.uri)
    if document is not None and pointed.version not in (None, document.version):
        raise StaleError(CHANGED, detail={"version": document.version})
    span = ordered(pointed.range)
    if command == "agent.send":
        return _sent(pointed.uri, span, documents)
    problem = pointed.diagnostic
    words = {
        "agent.explain": EXPLAIN if problem is None else EXPLAIN_PROBLEM,
        "agent.fixDiagnostic": FIX,
        "agent.rewrite": _rewrite(pointed.instructions),
    }[command]
    content: list[JsonObject] = [{"type": "text", "text": words}]
    if problem is not None:
        content.append({"type": "diagnostic", "uri": pointed.uri, "diagnostic": problem})
    span = _whole(span)
    short = len(text_in(documents, pointed.uri, span) or "") <= LONGEST
    kind = "selection" if short else "fileMention"
    return [*content, {"type": kind, "uri": pointed.uri, "range": span.dump()}]


def ordered(span: Range) -> Range:
    """The range with its start first; some hosts send the place of the cursor first."""
    start, end = sorted((span.start, span.end), key=lambda p: (p.line, p.character))
    return Range(start=start, end=end)


def _offered(
    uri: str, span: Range, diagnostics: Sequence[JsonObject], version: int
) -> Iterator[Action]:
    here: JsonObject = {"uri": uri, "range": span.dump(), "version": version}
    for problem in diagnostics:
        about: JsonObject = {**here, "diagnostic": problem}
        if isinstance(problem.get("range"), Mapping):
            about["range"] = problem["range"]
        title = f"Agent: fix “{_short(problem)}”"
        yield Action(title, "quickfix", "agent.fixDiagnostic", about, problem)
        title = f"Agent: explain “{_short(problem)}”"
        yield Action(title, "quickfix", "agent.explain", about, problem)
    if span.start == span.end:
        yield Action("Agent: explain this line", "source.agent", "agent.explain", here)
        return
    yield Action("Agent: explain the selection", "source.agent", "agent.explain", here)
    yield Action("Agent: rewrite the selection", "refactor.rewrite", "agent.rewrite", here)
    yield Action("Agent: send what is selected", "source.agent", "agent.send", here)


def _sent(uri: str, span: Range, documents: Documents) -> list[JsonObject]:
    """The selected text is the message; where it stands is told behind it."""
    text = text_in(documents, uri, span)
    if text is None:
        raise SingletreeError(NOT_OPEN.format(place=place(uri)), code="input_rejected")
    if not text.strip():
        raise SingletreeError(NOTHING, code="input_empty")
    if len(text) > LONGEST:
        why = TOO_LONG.format(count=len(text), most=LONGEST)
        raise SingletreeError(why, code="input_rejected")
    mention: JsonObject = {"type": "fileMention", "uri": uri, "range": span.dump()}
    return [{"type": "text", "text": text}, mention]


def _rewrite(instructions: str | None) -> str:
    return REWRITE if not instructions else REWRITE_AS.format(instructions=instructions)


def _whole(span: Range) -> Range:
    """A bare cursor stands for its line."""
    if span.start != span.end:
        return span
    line = span.start.line
    return Range(start=Position(line=line, character=0), end=Position(line=line + 1, character=0))


def _within(kind: str, wanted: str) -> bool:
    """Kinds of code actions hold the kinds below them: `refactor` holds `refactor.rewrite`."""
    return not wanted or kind == wanted or kind.startswith(f"{wanted}.")


def _short(problem: Mapping[str, object]) -> str:
    return excerpt(str(problem.get("message", "")), SHORT) or "this problem"
