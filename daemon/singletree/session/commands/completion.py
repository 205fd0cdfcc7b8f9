"""How a slash command may go on: its name, then what it takes where that is known.

Pure. Read next: user_input.py (the commands).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from singletree.session.commands.user_input import SKILL, Offered

SHOWN = 100


@dataclass(frozen=True, slots=True)
class Completed:
    """One way to go on. `value` takes the place of what was written; `hint`: what may follow."""

    value: str
    description: str | None = None
    hint: str | None = None


def completions(
    written: str, offered: Sequence[Offered], arguments: Mapping[str, Mapping[str, str]]
) -> list[Completed]:
    """What may follow, best first. `arguments`: by command, the values it takes with their names.

    `written` is the text without its slash, up to the cursor.
    """
    written = written.removeprefix("/")
    name, space, begun = written.partition(" ")
    found = _arguments(name, begun.strip(), arguments) if space else _names(name, offered)
    return list(found)[:SHOWN]


def _names(begun: str, offered: Sequence[Offered]) -> Iterator[Completed]:
    """Commands that begin so, then those of which a part does."""
    begun = begun.lower()
    first = [one for one in offered if one.name.lower().startswith(begun)]
    later = [one for one in offered if one not in first and _inside(begun, one.name.lower())]
    for one in (*first, *later):
        yield Completed(one.name, one.description, one.hint)


def _inside(begun: str, name: str) -> bool:
    short = name.removeprefix(SKILL)
    return short.startswith(begun) or f"-{begun}" in short


def _arguments(
    name: str, begun: str, arguments: Mapping[str, Mapping[str, str]]
) -> Iterator[Completed]:
    known = arguments.get(name, {})
    first = [value for value in known if value.lower().startswith(begun.lower())]
    later = [v for v in known if v not in first and begun.lower() in f"{v} {known[v]}".lower()]
    for value in (*first, *later):
        yield Completed(f"{name} {value}", known[value] or None)
