"""The contract as TypeScript: interfaces by name, unions of texts, and maps of the methods.

Made for code written by hand: `Methods["agent/prompt"]["params"]` is a type. Read next: shapes.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from singletree.rpc.described.shapes import (
    Alias,
    Definition,
    Record,
    definitions,
    served,
)
from singletree.rpc.described.types import Exactly, Many, Map, Named, OneOf, Plain, Type
from singletree.rpc.protocol.base import PROTOCOL_VERSION, Method
from singletree.rpc.protocol.errors import NUMBERS

HEAD = """\
// Made by `singletree describe typescript` from daemon/singletree/rpc/protocol/. Do not edit.

export const PROTOCOL_VERSION = {version};

export type Json = null | boolean | number | string | Json[] | {{ [key: string]: Json }};
export type JsonObject = {{ [key: string]: Json }};

/** The numbers of error answers; `data.code` says what happened. */
export const ErrorNumber = {{
{numbers}
}} as const;
"""

_PLAIN = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "json": "Json",
    "object": "JsonObject",
}
_WIDTH = 100


def typescript() -> str:
    """The file `protocol.ts`."""
    numbers = "\n".join(f"  {name}: {number}," for number, (name, _) in NUMBERS.items())
    head = HEAD.format(version=PROTOCOL_VERSION, numbers=numbers)
    parts = [head, *(f"{text}\n" for text in map(define, definitions())), *_maps()]
    return "\n".join(parts)


def define(definition: Definition) -> str:
    """One definition with its words."""
    if isinstance(definition, Alias):
        return _alias(definition)
    return _comment(definition.doc) + _interface(definition)


def show(kind: Type) -> str:
    """A type as TypeScript writes it."""
    match kind:
        case Plain(name):
            return _PLAIN[name]
        case Named(name):
            return name
        case Exactly(values):
            return " | ".join(f'"{value}"' for value in values)
        case Many(item):
            inner = show(item)
            return f"({inner})[]" if " " in inner else f"{inner}[]"
        case Map(value):
            return f"{{ [key: string]: {show(value)} }}"
        case OneOf(options):
            return " | ".join(map(show, options))


def _alias(alias: Alias) -> str:
    line = f"export type {alias.name} = {show(alias.type)};"
    if len(line) <= _WIDTH:
        return line
    options = alias.type.options if isinstance(alias.type, OneOf) else ()
    shown = [show(o) for o in options] or show(alias.type).split(" | ")
    return f"export type {alias.name} =\n" + "\n".join(f"  | {o}" for o in shown) + ";"


def _interface(record: Record) -> str:
    extends = f" extends {', '.join(record.parents)}" if record.parents else ""
    if not record.fields:
        if record.parents:
            return f"export type {record.name} = {' & '.join(record.parents)};"
        return f"export type {record.name} = {{ [key: string]: never }};"
    lines = [
        f"  {field.name}{'?' if field.optional else ''}: {show(field.type)};"
        for field in record.fields
    ]
    return f"export interface {record.name}{extends} {{\n" + "\n".join(lines) + "\n}"


def _comment(doc: str) -> str:
    words = re.sub(r"\n[ \t]*", "\n", doc.strip()).replace("*/", "* /")
    lines = words.split("\n")
    if len(lines) == 1:
        return f"/** {lines[0]} */\n"
    body = "\n".join(f" * {line}".rstrip() for line in lines)
    return f"/**\n{body}\n */\n"


def _maps() -> Iterable[str]:
    asked = [m for m in served() if m.direction == "clientToServer"]
    back = [m for m in served() if m.direction == "serverToClient"]
    yield _map("Methods", "What a client may ask.", asked)
    yield _map("ServerRequests", "What the daemon may ask.", [m for m in back if m.result])
    lines = [f'  /** {m.doc} */\n  "{m.name}": {m.params.__name__};' for m in back if not m.result]
    yield (
        "/** What the daemon tells. */\nexport interface Notifications {\n"
        + "\n".join(lines)
        + "\n}\n"
    )
    yield "export type MethodName = keyof Methods;\n"


def _map(name: str, doc: str, methods: list[Method]) -> str:
    lines = [
        f'  /** {m.doc} */\n  "{m.name}": '
        f"{{ params: {m.params.__name__}; result: {m.result.__name__} }};"
        for m in methods
        if m.result
    ]
    return f"/** {doc} */\nexport interface {name} {{\n" + "\n".join(lines) + "\n}\n"
