"""The contract as LuaCATS annotations, and a small table that code can ask at run time.

Read next: shapes.py.
"""

from __future__ import annotations

from singletree.rpc.described.shapes import Alias, Definition, definitions, served
from singletree.rpc.described.types import Exactly, Many, Map, Named, OneOf, Plain, Type
from singletree.rpc.protocol.base import PROTOCOL_VERSION
from singletree.rpc.protocol.errors import NUMBERS

HEAD = """\
-- Made by `singletree describe lua` from daemon/singletree/rpc/protocol/. Do not edit.
"""
TAIL = """\
local M = {{}}

--- The version of the protocol these types describe.
M.VERSION = {version}

--- The numbers of error answers; `data.code` says what happened.
---@enum singletree.ErrorNumber
M.ErrorNumber = {{
{numbers}
}}

--- What may be asked of the daemon.
---@type table<string, boolean>
M.methods = {{
{methods}
}}

return M
"""

_PLAIN = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "null": "vim.NIL",
    "json": "any",
    "object": "table<string, any>",
}
_KEYWORDS = ("end", "for", "from", "function", "if", "in", "local", "nil", "not", "or", "repeat")


def luacats() -> str:
    """The file `protocol.lua`."""
    numbers = "\n".join(f"  {name} = {number}," for number, (name, _) in NUMBERS.items())
    methods = "\n".join(
        f'  ["{m.name}"] = true,' for m in served() if m.direction == "clientToServer"
    )
    tail = TAIL.format(version=PROTOCOL_VERSION, numbers=numbers, methods=methods)
    return "\n".join([HEAD, *(f"{_define(d)}\n" for d in definitions()), tail])


def _define(definition: Definition) -> str:
    if isinstance(definition, Alias):
        return f"---@alias singletree.{definition.name} {_show(definition.type)}"
    words = [f"--- {line.strip()}".rstrip() for line in definition.doc.split("\n")]
    parents = ", ".join(f"singletree.{parent}" for parent in definition.parents)
    head = f"---@class singletree.{definition.name}" + (f" : {parents}" if parents else "")
    fields = [
        f"---@field {_key(field.name)}{'?' if field.optional else ''} {_show(field.type)}"
        for field in definition.fields
    ]
    return "\n".join([*words, head, *fields])


def _key(name: str) -> str:
    return f'["{name}"]' if name in _KEYWORDS else name


def _show(kind: Type) -> str:
    match kind:
        case Plain(name):
            return _PLAIN[name]
        case Named(name):
            return f"singletree.{name}"
        case Exactly(values):
            return "|".join(f'"{value}"' for value in values)
        case Many(item):
            inner = _show(item)
            return f"({inner})[]" if "|" in inner else f"{inner}[]"
        case Map(value):
            return f"table<string, {_show(value)}>"
        case OneOf(options):
            return "|".join(map(_show, options))
