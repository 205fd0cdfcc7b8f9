"""How the protocol says things: the bases of params and results, and what a method is.

Params ignore what they do not know and accept `_meta`; `check` can be told to forbid unknown
fields, which is how our own tests talk. Never knows pygls or a session. Read next: session.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.alias_generators import to_camel

PROTOCOL_VERSION = 1

Direction = Literal["clientToServer", "serverToClient"]
Kind = Literal["request", "notification"]
Stability = Literal["stable", "experimental"]

JsonObject = dict[str, JsonValue]


class Shape(BaseModel):
    """Anything with fields on the wire: camelCase, unknown fields ignored, never changed in place.

    A field with a default is left out while it is None; a required one is written as null.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="ignore",
        frozen=True,
        defer_build=True,
        protected_namespaces=(),
    )

    @model_serializer(mode="wrap")
    def _absent_rather_than_null(self, inner: SerializerFunctionWrapHandler) -> JsonObject:
        optional = _optional(type(self))
        return {k: v for k, v in inner(self).items() if v is not None or k not in optional}

    def dump(self) -> JsonObject:
        """The JSON object."""
        return self.model_dump(mode="json", by_alias=True)


@cache
def _optional(shape: type[Shape]) -> frozenset[str]:
    """The names, inside and outside, of the fields that may be left out."""
    free = {n: f for n, f in shape.model_fields.items() if not f.is_required()}
    return frozenset(free) | {f.alias or n for n, f in free.items()}


PageCursor = Annotated[str, Field(pattern=r"^[0-9]{1,12}$")]
"""A place to go on from: as an answer gave it, never made up."""
ShortLine = Annotated[str, Field(max_length=200)]
"""A name or a label: one line; line breaks become spaces."""


class Params(Shape):
    """Base of all params. `_meta` may hold anything (traceparent, for example)."""

    meta: JsonObject | None = Field(default=None, alias="_meta")


class Result(Shape):
    """Base of all results."""


class Empty(Result):
    """Nothing to tell but that it is done."""


class SessionParams(Params):
    """Which session: by id, or the current one of a workspace folder (URI).

    With neither, the only session this client has open.
    """

    session_id: str | None = None
    workspace: str | None = None


class LongParams(SessionParams):
    """A request that may take long: progress goes to `workDoneToken`, `$/cancelRequest` ends it."""

    work_done_token: int | str | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """One method, said once. `since` is the first version that serves it; None: planned."""

    name: str
    params: type[Params]
    result: type[Result] | None
    doc: str
    direction: Direction = "clientToServer"
    errors: tuple[str, ...] = ()
    stability: Stability = "stable"
    since: str | None = "0.1"

    @property
    def kind(self) -> Kind:
        """A method without a result is a notification."""
        return "request" if self.result else "notification"

    @property
    def served(self) -> bool:
        """Whether this daemon speaks it."""
        return self.since is not None


S = TypeVar("S", bound=Shape)


def check(shape: type[S], value: Mapping[str, object] | None, *, forbid_unknown: bool = False) -> S:
    """The value as a shape; missing params are an empty object. Raises pydantic's ValidationError.

    Names are the outside ones: `session_id` is an unknown field.
    """
    return shape.model_validate(
        {} if value is None else value,
        extra="forbid" if forbid_unknown else None,
        by_alias=True,
        by_name=False,
    )
