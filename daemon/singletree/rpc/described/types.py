"""The type of a field as a small tree of values, made from a Python annotation.

Never knows a model's fields or a target language. Read next: shapes.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, JsonValue, WithJsonSchema

UNKNOWN = ("UnknownBlock", "UnknownEntry", "UnknownMessage")
"""Stand for what we do not know; a client ignores kinds it does not know, too."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A type of JSON itself; `json` is any of them, `object` any object."""

    name: Literal["string", "integer", "number", "boolean", "null", "json", "object"]


@dataclass(frozen=True, slots=True)
class Exactly:
    """One of these texts."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A shape, or a name given to a type."""

    name: str


@dataclass(frozen=True, slots=True)
class Many:
    """A list."""

    item: Type


@dataclass(frozen=True, slots=True)
class Map:
    """An object with any keys."""

    value: Type


@dataclass(frozen=True, slots=True)
class OneOf:
    """Any of these."""

    options: tuple[Type, ...]


_RENAMED = {"Text": "StoredText", "Image": "StoredImage"}
"""Names that a browser has already given to something else."""

Type = Plain | Exactly | Named | Many | Map | OneOf
Names = Mapping[Type, str]

_PLAIN: dict[object, Type] = {
    str: Plain("string"),
    int: Plain("integer"),
    float: Plain("number"),
    bool: Plain("boolean"),
    NoneType: Plain("null"),
    JsonValue: Plain("json"),
}


def read(annotation: object, metadata: tuple[object, ...], names: Names) -> Type:
    """The type an annotation stands for; whatever has a name in `names` is told by it."""
    for mark in metadata:
        if isinstance(mark, WithJsonSchema) and mark.json_schema:
            return Named(str(mark.json_schema["x-named"]))
        if isinstance(mark, BeforeValidator) and get_args(mark.json_schema_input_type):
            return read(mark.json_schema_input_type, (), names)
    made = _read(annotation, names)
    return Named(names[made]) if made in names else made


def _read(annotation: object, names: Names) -> Type:
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return Named(name_of(annotation))
    arguments = get_args(annotation)
    origin = get_origin(annotation)
    if origin is Annotated:
        return read(arguments[0], arguments[1:], names)
    if origin is Literal:
        return Exactly(tuple(map(str, arguments)))
    if origin in (Union, UnionType):
        return _one_of([read(option, (), names) for option in arguments])
    if origin in (list, tuple):
        return Many(read(arguments[0], (), names))
    if origin is dict:
        value = read(arguments[1], (), names)
        return Plain("object") if value == Plain("json") else Map(value)
    raise TypeError(f"no word for {annotation!r}")


def _one_of(options: list[Type]) -> Type:
    known = [o for o in options if not (isinstance(o, Named) and o.name in UNKNOWN)]
    return OneOf(tuple(known)) if len(known) > 1 else known[0]


def name_of(shape: type) -> str:
    """What a shape is called outside."""
    return _RENAMED.get(shape.__name__, shape.__name__)


def without_null(kind: Type) -> Type:
    """The type without null."""
    if not isinstance(kind, OneOf):
        return kind
    return _one_of([o for o in kind.options if o != Plain("null")])


def mentioned(kind: Type) -> set[str]:
    """All names in it."""
    match kind:
        case Named(name):
            return {name}
        case Many(inner) | Map(inner):
            return mentioned(inner)
        case OneOf(options):
            return set().union(*map(mentioned, options))
        case Plain() | Exactly():
            return set()
