"""The X-ray: what the model would see of a path, part by part, and why the rest is left out.

It runs the same functions that make the request, so it can't tell anything else than they do. Never
counts tokens by itself: it is handed `estimate`. Read next: left_out.py, accept.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from singletree.context.accept import traced
from singletree.context.left_out import (
    PREVIEW,
    Estimate,
    Part,
    cut_off,
    left,
    line_of,
    not_projected,
    off_path,
    unsent,
)
from singletree.context.projection import as_llm, project
from singletree.context.prompt import Section
from singletree.excerpt import excerpt
from singletree.history.entries import Entry
from singletree.messages import AgentMessage, Message, ThinkingLevel, UserMessage

CORRECTION = "measured by the provider minus estimated"
UNSENT = "counted with the rest, though not sent"
MADE_UP = "made up, so that every call has its result"
BY_EXTENSION = "added by an extension"


@dataclass(frozen=True, slots=True)
class XRay:
    """What is seen, in order, and what is not. The tokens of all `parts` sum up to `tokens`."""

    parts: tuple[Part, ...]
    left_out: tuple[Part, ...]
    tokens: int
    model: tuple[str, str] | None = None
    thinking: ThinkingLevel = "off"


@dataclass(frozen=True, slots=True)
class Seen:
    """What stands round the messages: the prompt's sections, the tools as they are declared.

    `tokens`: the figure that is compared with the threshold, where it is known; `measured`: a
    provider has counted a part of it. `transformed`: the messages as extensions left them.
    `others`: entries on other branches, and their bytes.
    """

    sections: Sequence[Section] = ()
    tools: Mapping[str, str] | None = None
    tokens: int | None = None
    measured: bool = True
    others: tuple[int, int] = (0, 0)
    transformed: Sequence[AgentMessage] | None = None


def xray(path: Sequence[Entry], estimate: Estimate, seen: Seen | None = None) -> XRay:
    """The X-ray of a path (root first)."""
    seen = seen or Seen()
    projection = project(path)
    rows = list(zip(projection.messages, projection.sources, strict=True))
    left_out: list[Part] = []
    if seen.transformed is not None:
        rows, dropped = _after_extensions(rows, seen.transformed)
        left_out += [left(m, source, "extension", estimate) for m, source in dropped]
    sent = traced((llm, source) for m, source in rows if (llm := as_llm(m)) is not None)
    originals = {source: message for message, source in rows}
    parts = [
        *(_text(f"section:{part.name}", part.text, estimate) for part in seen.sections),
        *(_text(f"tool:{name}", text, estimate) for name, text in (seen.tools or {}).items()),
        *(_part(message, source, originals, estimate) for message, source in sent),
    ]
    shown = {source for _, source in sent}
    left_out += [unsent(m, source, estimate) for m, source in rows if source not in shown]
    left_out += not_projected(path, projection, estimate)
    left_out += [cut for m, source in rows if source in shown and (cut := cut_off(m, source))]
    left_out += off_path(*seen.others)
    total = sum(part.tokens for part in parts)
    if seen.tokens is not None and seen.tokens != total:
        why = CORRECTION if seen.measured else UNSENT
        parts.append(Part("correction", seen.tokens - total, preview=why))
        total = seen.tokens
    return XRay(tuple(parts), tuple(left_out), total, projection.model, projection.thinking)


def _after_extensions(
    rows: list[tuple[AgentMessage, str]], transformed: Sequence[AgentMessage]
) -> tuple[list[tuple[AgentMessage, str]], list[tuple[AgentMessage, str]]]:
    """The rows that are left, new ones with no entry as source, and the rows that were dropped."""
    kept: list[tuple[AgentMessage, str]] = []
    dropped: list[tuple[AgentMessage, str]] = []
    places: dict[str, deque[int]] = {}
    for place, (message, _) in enumerate(rows):
        places.setdefault(repr(message), deque()).append(place)
    at = 0
    for number, message in enumerate(transformed):
        same = places.get(repr(message), deque())
        while same and same[0] < at:
            same.popleft()
        if not same:
            kept.append((message, f"+{number}"))
        else:
            found = same.popleft()
            dropped += rows[at:found]
            kept.append(rows[found])
            at = found + 1
    return kept, dropped + rows[at:]


def _part(
    message: Message,
    source: str | None,
    originals: Mapping[str, AgentMessage],
    estimate: Estimate,
) -> Part:
    """A message that is sent. It is measured as it stands in the tree, as the threshold does."""
    if source is None:
        return Part(message.role, estimate(message), preview=MADE_UP, sent=message)
    original = originals[source]
    line, entry = line_of(original), None if source.startswith("+") else source
    if entry is None:
        line = f"{BY_EXTENSION}: {line}"
    return Part(original.role, estimate(original), entry, line, sent=message)


def _text(kind: str, text: str, estimate: Estimate) -> Part:
    return Part(
        kind, estimate(UserMessage(content=text)), preview=excerpt(text, PREVIEW), text=text
    )
