"""The shapes of the protocol, read back from the models: names, fields, and who extends whom.

What is stored (entries and their messages) is read the same way, for it travels as it is. Only what
a served method, an event or the capabilities can reach is given. Never knows a target language.
Read next: typescript.py, luacats.py.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Annotated, Literal, get_args, get_origin

from pydantic import BaseModel, WithJsonSchema
from pydantic.fields import FieldInfo

from singletree import messages
from singletree.history import entries
from singletree.rpc import protocol
from singletree.rpc.described.types import (
    UNKNOWN,
    Exactly,
    OneOf,
    Type,
    mentioned,
    name_of,
    read,
    without_null,
)
from singletree.rpc.protocol.base import Method

MODULES = ("base", "errors", "content", "state", *protocol.TOPICS, "capabilities")
"""The files that hold shapes, in the order in which a reader wants them."""

STORED = "stored"
"""Stands for a file where a shape is one of the session file's."""

_STORED_UNIONS: dict[str, object] = {
    "Block": messages.Block,
    "StoredContent": str | list[messages.Block],
    "AgentMessage": messages.AgentMessage,
    "Entry": entries.Entry,
}
_SHARED = ("Usage", "Cost")
"""Shapes that are the same in the file and in the protocol."""
_BASES = ("Shape", "Params", "Result", "Wire", "BaseModel")
_ROOTS = ("SessionEvent", "ClientAgent", "ServerAgent", "ErrorData", "ErrorCode", "Entry")
_CLIENT_MADE = ("ClientAgent",)
_ALWAYS_THERE = (("EntryBase", "parentId"),)


@dataclass(frozen=True, slots=True)
class Field:
    """A field under its name on the wire. `optional`: it may be absent."""

    name: str
    type: Type
    optional: bool


@dataclass(frozen=True, slots=True)
class Record:
    """A shape with fields. `home` is the file of protocol/ it stands in, or STORED."""

    name: str
    home: str
    doc: str
    parents: tuple[str, ...]
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Alias:
    """A name for a type."""

    name: str
    home: str
    type: Type


Definition = Record | Alias


@cache
def served() -> tuple[Method, ...]:
    """The methods this daemon speaks, in the order of the topics."""
    return tuple(m for m in protocol.methods().values() if m.served)


@cache
def definitions() -> tuple[Definition, ...]:
    """Everything a client can meet, in the order of the files; within a file as it is written."""
    names, aliases = _named()
    everything: dict[str, Definition] = {a.name: a for a in aliases}
    everything |= {r.name: r for r in _records(names, set())}
    made_by_clients = _reachable(everything, _client_made())
    everything |= {r.name: r for r in _records(names, made_by_clients)}
    reached = _reachable(everything, _roots())
    order = {home: index for index, home in enumerate((*MODULES, STORED))}
    wanted = [d for d in everything.values() if d.name in reached]
    return tuple(sorted(wanted, key=lambda d: order[d.home]))


def _reachable(everything: dict[str, Definition], start: set[str]) -> set[str]:
    found: set[str] = set()
    todo = set(start)
    while todo:
        name = todo.pop()
        found.add(name)
        todo |= _mentions(everything[name]) - found
    return found


def _mentions(definition: Definition) -> set[str]:
    if isinstance(definition, Alias):
        return mentioned(definition.type)
    inside = [mentioned(field.type) for field in definition.fields]
    return set(definition.parents).union(*inside)


def _named() -> tuple[dict[Type, str], list[Alias]]:
    """The types that have a name, and the names as definitions."""
    names: dict[Type, str] = {}
    found: list[Alias] = []
    for home, name, annotation in _aliases():
        kind = read(annotation, (), names)
        if isinstance(kind, OneOf | Exactly):
            names[kind] = name
            found.append(Alias(name, home, kind))
    return names, found


def _client_made() -> set[str]:
    """What a client writes; there a field with a default may be left out."""
    asked = {m.params.__name__ for m in served() if m.direction == "clientToServer"}
    answered = {m.result.__name__ for m in served() if m.result and m.direction != "clientToServer"}
    return asked | answered | set(_CLIENT_MADE)


def _roots() -> set[str]:
    shapes = {s.__name__ for m in served() for s in (m.params, m.result) if s is not None}
    return shapes | set(_ROOTS)


def _records(names: dict[Type, str], by_client: set[str]) -> list[Record]:
    made: list[Record] = []
    for home in MODULES:
        module = import_module(f"{protocol.__name__}.{home}")
        made += [_record(m, home, names, m.__name__ in by_client) for m in _models(module)]
    for module in (messages, entries):
        known = (*UNKNOWN, *_SHARED, "SessionHeader")
        own = [m for m in _models(module) if m.__name__ not in known]
        made += [_record(m, STORED, names, by_client=False) for m in own]
    return made


def _models(module: ModuleType) -> list[type[BaseModel]]:
    return [
        value
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, BaseModel)
        and value.__module__ == module.__name__
        and name not in _BASES
    ]


def _aliases() -> Iterable[tuple[str, str, object]]:
    """Names given to unions and to sets of texts."""
    for home in MODULES:
        module = import_module(f"{protocol.__name__}.{home}")
        for name in _assigned(module):
            value = vars(module)[name]
            several = get_origin(value) is Literal and len(get_args(value)) > 1
            marks = get_args(value)[1:] if get_origin(value) is Annotated else None
            if several or (marks and not any(isinstance(m, WithJsonSchema) for m in marks)):
                yield home, name, value
    for name, union in _STORED_UNIONS.items():
        yield STORED, name, union


def _assigned(module: ModuleType) -> list[str]:
    """The public names a file gives to values of its own."""
    body = ast.parse(inspect.getsource(module)).body
    targets = [t for node in body if isinstance(node, ast.Assign) for t in node.targets]
    return [t.id for t in targets if isinstance(t, ast.Name) and not t.id.startswith("_")]


def _record(model: type[BaseModel], home: str, names: dict[Type, str], by_client: bool) -> Record:
    own = inspect.get_annotations(model)
    upsert = bool(model.model_config.get("json_schema_extra"))
    fields = tuple(
        _field(model.__name__, field.alias or name, field, names, by_client, upsert)
        for name, field in model.model_fields.items()
        if name in own
    )
    parents = tuple(name_of(b) for b in model.__bases__ if b.__name__ not in _BASES)
    return Record(name_of(model), home, inspect.getdoc(model) or "", parents, fields)


def _field(
    owner: str,
    name: str,
    field: FieldInfo,
    names: dict[Type, str],
    by_client: bool,
    upsert: bool,
) -> Field:
    kind = read(field.annotation, tuple(field.metadata), names)
    absent = not field.is_required() and (by_client or field.default is None)
    if (owner, name) in _ALWAYS_THERE:
        absent = False
    return Field(name, without_null(kind) if absent and not upsert else kind, absent)
