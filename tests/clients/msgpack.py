"""As much of MessagePack as Neovim's RPC needs, so that its tests need no package for it."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import IO, Any

FLOATS = {0xCA: ">f", 0xCB: ">d"}
NUMBERS = {0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"}
NUMBERS |= {0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"} | FLOATS
CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
BYTES = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}
EXTENSIONS = {0xC7: ">B", 0xC8: ">H", 0xC9: ">I"}
LISTS = {0xDC: ">H", 0xDD: ">I"}
MAPS = {0xDE: ">H", 0xDF: ">I"}


def pack(value: object) -> bytes:
    """A value as bytes, in the long form of its type."""
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return struct.pack(">Bq", 0xD3, value)
        case float():
            return struct.pack(">Bd", 0xCB, value)
        case str():
            data = value.encode()
            return struct.pack(">BI", 0xDB, len(data)) + data
        case Mapping():
            parts = [pack(part) for pair in value.items() for part in pair]
            return struct.pack(">BI", 0xDF, len(value)) + b"".join(parts)
        case Sequence():
            return struct.pack(">BI", 0xDD, len(value)) + b"".join(pack(one) for one in value)
    raise TypeError(f"cannot be packed: {value!r}")


def unpack(source: IO[bytes]) -> Any:
    """The next value of a stream; EOFError at its end. Texts are str, broken ones with marks."""
    first = _exactly(source, 1)[0]
    if first < 0x80:
        return first
    if first >= 0xE0:
        return first - 0x100
    if first < 0x90:
        return _map(source, first & 0x0F)
    if first < 0xA0:
        return [unpack(source) for _ in range(first & 0x0F)]
    if first < 0xC0:
        return _text(source, first & 0x1F)
    return _long(source, first)


def _long(source: IO[bytes], first: int) -> Any:
    if first in CONSTANTS:
        return CONSTANTS[first]
    if first in NUMBERS:
        return _number(source, NUMBERS[first])
    if first in BYTES:
        return _text(source, _number(source, BYTES[first]))
    if first in LISTS:
        return [unpack(source) for _ in range(_number(source, LISTS[first]))]
    if first in MAPS:
        return _map(source, _number(source, MAPS[first]))
    size = _number(source, EXTENSIONS[first]) if first in EXTENSIONS else 1 << (first - 0xD4)
    return _exactly(source, size + 1)


def _map(source: IO[bytes], size: int) -> dict[Any, Any]:
    return {unpack(source): unpack(source) for _ in range(size)}


def _number(source: IO[bytes], form: str) -> Any:
    return struct.unpack(form, _exactly(source, struct.calcsize(form)))[0]


def _text(source: IO[bytes], size: int) -> str:
    return _exactly(source, size).decode(errors="replace")


def _exactly(source: IO[bytes], size: int) -> bytes:
    data = source.read(size)
    if len(data) < size:
        raise EOFError
    return data
