"""What can be asked of us: a method's params, its handler, and how failures are told.

A handler gets its params as a model and a `Call`; it may be plain or async. What must be seen at
the moment the message arrives (an open buffer's text, before the next message changes it) is taken
by `on_receive`, which never waits; the handler finds it in `call.captured`. Never knows pygls or
what any method does. Read next: connection.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

    from singletree.rpc.connection import Connection

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
CANCELLED = -32800
SERVER_CANCELLED = -32802
REQUEST_FAILED = -32803

P = TypeVar("P")


class RpcError(Exception):
    """An answer that is an error: raised by a handler it is sent, raised by `call` it came in."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def request_failed(code: str, message: str, *, retryable: bool = False) -> RpcError:
    """A domain failure of the door itself, in the shape of all domain failures."""
    return RpcError(REQUEST_FAILED, message, {"code": code, "retryable": retryable})


@dataclass(slots=True)
class Call:
    """One request or notification while it is handled. `id` is None for a notification."""

    connection: Connection
    method: str
    id: str | int | None
    captured: Any = None
    _after: list[Callable[[], object]] = field(default_factory=list)

    def after_reply(self, then: Callable[[], object]) -> None:
        """Run `then` once the reply is in the outbox: what it sends can't overtake the reply."""
        self._after.append(then)

    def replied(self) -> None:
        """The reply is in the outbox."""
        for then in self._after:
            then()
        self._after.clear()


@dataclass(frozen=True, slots=True)
class Route(Generic[P]):
    """A method: the type of its params (None: any JSON), who handles it, what is captured."""

    params: type[P] | None
    handler: Callable[[P, Call], Awaitable[object] | object]
    on_receive: Callable[[P, Connection], object] | None = None

    def parse(self, value: object) -> P:
        """The params as the handler wants them; none at all is an empty object."""
        if self.params is None:
            return value  # type: ignore[return-value]  # P is whatever JSON holds
        return parse_as(self.params, {} if value is None else value)


Routes = Mapping[str, Route[Any]]
ErrorMapper = Callable[[BaseException], tuple[int, str, object] | None]


def parse_as(kind: type[P], value: object) -> P:
    """A JSON value as a type, or -32602 with a JSON pointer for each fault."""
    from pydantic import ValidationError

    try:
        parsed: P = _adapter(kind).validate_python(value, by_alias=True, by_name=False)
    except ValidationError as error:
        raise invalid_params(_faults(error, value)) from None
    return parsed


def invalid_params(faults: list[dict[str, str]]) -> RpcError:
    """-32602 that says where and what, the first fault in the message too."""
    first = faults[0]
    place = f" at {first['pointer']}" if first["pointer"] else ""
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    text = f"Invalid params{place}: {first['message']}{more}"
    return RpcError(INVALID_PARAMS, text, {"errors": faults})


_adapters: dict[object, TypeAdapter[Any]] = {}


def _adapter(kind: type[P]) -> TypeAdapter[P]:
    if (known := _adapters.get(kind)) is None:
        from pydantic import TypeAdapter

        known = _adapters[kind] = TypeAdapter(kind)
    return known


def _faults(error: ValidationError, value: object) -> list[dict[str, str]]:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return [{"pointer": _pointer(f["loc"], value), "message": f["msg"]} for f in found[:20]]


def _pointer(path: tuple[str | int, ...], value: Any) -> str:
    """A JSON pointer into the value: without the names of union members, which pydantic adds."""
    pointer = ""
    for at, step in enumerate(path):
        try:
            value = value[step]
        except (LookupError, TypeError):
            if at + 1 < len(path):
                continue
        pointer += "/" + str(step).replace("~", "~0").replace("/", "~1")
    return pointer
