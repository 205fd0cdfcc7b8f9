"""The made parts of protocol.md: tables of methods, events and errors, and shapes as code.

Prose is written by hand around them; a part stands between two marks that name it. Read next:
shapes.py, typescript.py (how shapes are shown).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from singletree.rpc import protocol
from singletree.rpc.described.shapes import Alias, Record, definitions, served
from singletree.rpc.described.types import Exactly, Named, OneOf
from singletree.rpc.described.typescript import define
from singletree.rpc.plain.commands import COMMANDS, OPEN, Command
from singletree.rpc.protocol.base import Method
from singletree.rpc.protocol.errors import CODES, NUMBERS, RETRYABLE

MARK = re.compile(r"(<!-- made: (?P<name>[^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)
KINDS = {
    ("request", "clientToServer"): "request",
    ("request", "serverToClient"): "request to the client",
    ("notification", "serverToClient"): "notification",
}


def blocks() -> dict[str, str]:
    """Every made part by name."""
    made: dict[str, str] = {}
    for topic in protocol.TOPICS:
        methods = [m for m in served() if m in protocol.topic_methods(topic)]
        if methods:
            made[f"methods {topic}"] = _methods(methods)
    homes = dict.fromkeys(d.home for d in definitions())
    made |= {f"shapes {home}": _shapes(home) for home in homes}
    made["events"] = _events()
    made["commands"] = _commands()
    made["error numbers"] = _numbers()
    made["error codes"] = _codes()
    made["planned"] = _planned()
    return made


def markdown() -> str:
    """All made parts one after the other, each between its marks."""
    return "\n".join(f"<!-- made: {n} -->\n{text}<!-- end -->\n" for n, text in blocks().items())


def fill(text: str) -> str:
    """A document with its made parts made anew. KeyError for a mark that names none."""
    made = blocks()
    return MARK.sub(lambda found: found[1] + made[found["name"]] + found[3], text)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _methods(methods: list[Method]) -> str:
    rows = [
        (
            f"`{m.name}`",
            KINDS[m.kind, m.direction],
            m.doc,
            f"`{m.params.__name__}`",
            f"`{m.result.__name__}`" if m.result else "–",
            ", ".join(f"`{code}`" for code in m.errors) or "–",
        )
        for m in methods
    ]
    return _table(("method", "kind", "what it does", "params", "result", "special errors"), rows)


def _shapes(home: str) -> str:
    shown = "\n\n".join(define(d) for d in definitions() if d.home == home)
    shown = shown.replace("export interface ", "interface ").replace("export type ", "type ")
    return f"```ts\n{shown}\n```\n"


def _events() -> str:
    by_name = {d.name: d for d in definitions()}
    union = by_name["SessionEvent"]
    if not isinstance(union, Alias) or not isinstance(union.type, OneOf):
        raise TypeError("SessionEvent is no union")
    rows: list[tuple[str, ...]] = []
    for option in union.type.options:
        event = by_name[option.name] if isinstance(option, Named) else None
        if isinstance(event, Record):
            rows.append((f"`{_type_of(event)}`", event.doc.split("\n")[0], f"`{event.name}`"))
    return _table(("type", "what it tells", "shape"), rows)


def _type_of(event: Record) -> str:
    kind = next(field.type for field in event.fields if field.name == "type")
    return kind.values[0] if isinstance(kind, Exactly) else "?"


def _commands() -> str:
    rows = [
        (f"`{name}`", ", ".join(one.takes) or "–", _stands_for(one), one.does)
        for name, one in COMMANDS.items()
    ]
    return _table(("command", "arguments in order", "stands for", "what it does"), rows)


def _stands_for(one: Command) -> str:
    return "–" if one.method == OPEN else f"`{one.method}`"


def _numbers() -> str:
    rows = [(f"`{number}`", name, said) for number, (name, said) in NUMBERS.items()]
    return _table(("number", "name", "when"), rows)


def _codes() -> str:
    rows = [
        (f"`{code}`", said, "yes" if code in RETRYABLE else "–") for code, said in CODES.items()
    ]
    return _table(("`data.code`", "what happened", "again as it is"), rows)


def _planned() -> str:
    later = [m for m in protocol.methods().values() if not m.served]
    return "".join(f"- `{m.name}`: {m.doc}\n" for m in later) or "Nothing.\n"
