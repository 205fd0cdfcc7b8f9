"""No message out may be too large: long texts are cut in the copy that travels.

What is cut says so, with the address of the whole. Never touches what is stored, never knows which
method a value is for. Read next: wire.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from pydantic import JsonValue
from pydantic_core import to_json

from singletree.rpc.addresses import Address

VALUE_BYTES = 786_432
"""The most one value of an event may take, so that its message stays under 1 MiB."""
CUT_TEXT = "\n[… cut here: {length} characters in all. The whole: {address}]"
CUT_LIST = "[… {left} more. The whole: {address}]"

J = TypeVar("J", bound=JsonValue)

_SURE = 100_000
"""Characters that fit whatever they become in JSON (a control character takes six bytes)."""


def bounded(
    value: JsonValue, address: Address | str, limit: int = VALUE_BYTES
) -> tuple[JsonValue, str | None]:
    """The value, or a copy cut until it fits, and then the address of the whole."""
    if _weight(value) <= min(_SURE, limit // 8) or len(to_json(value)) <= limit:
        return value, None
    keep, whole = limit // 2, str(address)
    while keep:
        shorter = _cut(value, keep, whole)
        if len(to_json(shorter)) <= limit:
            return shorter, whole
        keep //= 2
    return ({} if isinstance(value, dict) else []), whole


def page(rows: Iterable[J], limit: int = VALUE_BYTES) -> Iterator[J]:
    """The first rows that fit one message together; one row at least."""
    room = limit
    for index, row in enumerate(rows):
        room -= len(to_json(row)) + 1
        if room < 0 and index:
            return
        yield row


def _weight(value: JsonValue) -> int:
    match value:
        case str():
            return len(value)
        case dict():
            return sum(len(k) + 8 + _weight(v) for k, v in value.items())
        case list():
            return sum(2 + _weight(v) for v in value)
        case _:
            return 24


def _cut(value: JsonValue, keep: int, address: str) -> JsonValue:
    """Strings longer than `keep`, and lists and objects longer than its 64th part, made shorter."""
    most = max(1, keep // 64)
    match value:
        case str() if len(value) > keep:
            return value[:keep] + CUT_TEXT.format(length=len(value), address=address)
        case dict() if value.get("type") == "image" and _weight(value.get("data")) > keep:
            return {**value, "data": "", "uri": address}
        case dict():
            return {k: _cut(v, keep, address) for k, v in list(value.items())[: max(most, 16)]}
        case list() if len(value) > most:
            short = [_cut(v, keep, address) for v in value[:most]]
            return [*short, CUT_LIST.format(left=len(value) - most, address=address)]
        case list():
            return [_cut(v, keep, address) for v in value]
        case _:
            return value
