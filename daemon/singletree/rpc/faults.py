"""Errors as values of the door: what a request is answered when it can't be served.

Params are read here too, for a wrong one is the most common fault: told by a JSON pointer. Never
knows a session's errors (telling/failures.py maps those) nor pygls'. Read next: routes.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from singletree.rpc.protocol.errors import INVALID_PARAMS, REQUEST_FAILED

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

P = TypeVar("P")


class RpcError(Exception):
    """An answer that is an error: raised by a handler it is sent, raised by `call` it came in."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


OURS = "Value error, "
"""What pydantic puts before the words of our own checks."""


def request_failed(code: str, message: str, *, retryable: bool = False) -> RpcError:
    """A domain failure of the door itself, in the shape of all domain failures."""
    return RpcError(REQUEST_FAILED, message, {"code": code, "retryable": retryable})


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
    return [
        {"pointer": _pointer(f["loc"], value), "message": f["msg"].removeprefix(OURS)}
        for f in found[:20]
    ]


def _pointer(path: tuple[str | int, ...], value: Any) -> str:
    """A JSON pointer into the value: without the names of union members, which pydantic adds."""
    pointer, in_union = "", False
    for at, step in enumerate(path):
        kind = value.get("type") if isinstance(value, dict) else None
        in_union = not in_union and kind == step and at + 1 < len(path)
        if in_union:  # a block's type, which may be the name of one of its fields too
            continue
        try:
            value = value[step]
        except (LookupError, TypeError):
            if at + 1 < len(path):
                continue
        pointer += "/" + str(step).replace("~", "~0").replace("/", "~1")
    return pointer
