"""The X-ray of a session: what the model would see at any entry, and what that counts.

Puts together what makes a request (prompt, tools, projection) and what decides about compaction
(the figure, the limits). Changes nothing. Reads files: call it in a worker thread. Read next:
../../context/xray.py (the parts), ../../compaction/budget.py (the figure).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from singletree.agent.tool import Tool
from singletree.compaction.budget import Limits, context_tokens, estimate, estimate_text
from singletree.context.left_out import Part, Rule, compacted
from singletree.context.projection import Projection, project
from singletree.context.prompt import PromptParts, Section, ToolNote, joined, sections
from singletree.context.xray import Seen, XRay, xray
from singletree.history.entries import Entry
from singletree.history.reading import HERE, Reading, Where
from singletree.messages import AgentMessage

_SPEAKING = ("message", "custom_message", "branch_summary", "compaction")


@dataclass(frozen=True, slots=True)
class Frame:
    """What every request carries besides the messages: prompt and tools, and their tokens."""

    sections: tuple[Section, ...]
    tools: dict[str, str]
    tokens: int

    @property
    def prompt(self) -> str:
        """The system prompt as it is sent."""
        return joined(self.sections)


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen at an entry. `earlier`: ids of what was compacted away, oldest first.

    `rules`: how many parts each rule leaves out, those of `earlier` among them. `measured`: tokens
    that a provider counted, None if nothing was. `window` is 0 and `limits` None where no model can
    be found.
    """

    leaf_id: str | None
    xray: XRay
    earlier: tuple[str, ...]
    rules: Mapping[str, int]
    measured: int | None
    window: int = 0
    limits: Limits | None = None


def frame(parts: PromptParts, tools: Sequence[Tool]) -> Frame:
    """The frame of a request with these tools."""
    notes = [ToolNote(tool.name, tool.snippet, tool.guidelines) for tool in tools]
    return _framed(sections(parts, notes), tools)


def whole_frame(prompt: str, tools: Sequence[Tool]) -> Frame:
    """The frame with a prompt that is one text: an extension put it in the place of ours."""
    return _framed([Section("preamble", prompt)], tools)


def _framed(prompt: Sequence[Section], tools: Sequence[Tool]) -> Frame:
    declared = {tool.name: declaration(tool) for tool in tools}
    texts = (*(section.text for section in prompt), *declared.values())
    return Frame(tuple(prompt), declared, sum(map(estimate_text, texts)))


def declaration(tool: Tool) -> str:
    """A tool as it is declared to the model, as text."""
    return f"{tool.name}: {tool.description}\n{tool.spec.schema}"


@dataclass(frozen=True, slots=True)
class Spot:
    """An entry, the path to it as far as it counts, and what that projects to."""

    where: Where
    path: Sequence[Entry]
    projection: Projection


def spot(history: Reading, entry_id: str | None) -> Spot:
    """The place an id names, or the leaf. Raises UnknownEntry."""
    where: Where = HERE if entry_id is None else entry_id
    path = history.context_path(where)
    return Spot(where, path, project(path))


def sight(
    history: Reading,
    at: Spot,
    around: Frame,
    transformed: Sequence[AgentMessage],
    window: int = 0,
    limits: Limits | None = None,
) -> Sight:
    """What the model would see at a place, with the figure that is compared with the threshold.

    `transformed`: the messages of the projection as extensions leave them.
    """
    size = context_tokens(at.projection, around.tokens)
    seen = Seen(
        around.sections,
        around.tools,
        tokens=size.tokens,
        measured=size.at is not None,
        others=history.beside(at.where),
        transformed=None if transformed is at.projection.messages else transformed,
    )
    shown = xray(at.path, estimate, seen)
    ids = history.passed_over(at.where)
    rules = Counter[str](part.left_out for part in shown.left_out if part.left_out)
    rules.update(_rules(history, ids))
    return Sight(
        history.leaf if at.where is HERE else str(at.where),
        shown,
        tuple(ids),
        rules,
        size.measured if size.at is not None else None,
        window,
        limits,
    )


def earlier(history: Reading, ids: Sequence[str]) -> list[Part]:
    """Parts that were compacted away, read from the file now."""
    found = (compacted(entry, estimate) for entry in history.entries(ids=ids).entries)
    return [part for part in found if part is not None]


def _rules(history: Reading, ids: Iterable[str]) -> Iterator[Rule]:
    """Why each of these entries is not seen, by its kind alone."""
    index = history.tree.index
    for one in ids:
        kind = index.kind(index.row_of[one])
        if kind.role == "system":
            yield "history"
        elif kind.type in _SPEAKING:
            yield "compacted"
        elif kind.type != "context_edit":
            yield "not_for_model"
