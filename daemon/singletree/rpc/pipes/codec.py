"""JSON in and out.

Uses pydantic's encoder once somebody has imported it, else the standard library: the first answer
must not wait for that import. Text that is no valid Unicode (a lone surrogate, as editors and
models can send it) is taken in; what goes out has U+FFFD in its place, for there are clients whose
parser refuses the whole message. NaN and infinities become null. Never knows a method or a framing.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable
from typing import Any


class Encoded(bytes):
    """JSON that is already encoded; put into a message as it is."""

    __slots__ = ()


def decode(body: bytes) -> Any:
    """The value of a JSON text. Raises ValueError, or RecursionError for one too deep."""
    core = sys.modules.get("pydantic_core")
    if (fast := getattr(core, "from_json", None)) is not None:
        with contextlib.suppress(ValueError):  # an escaped lone surrogate, or no JSON at all
            return fast(body, cache_strings="keys")
    return json.loads(str(body, "utf-8"))


def encode(value: object) -> Encoded:
    """JSON of plain values, pydantic models, and lsprotocol's classes."""
    if isinstance(value, Encoded):
        return value
    core = sys.modules.get("pydantic_core")
    if (fast := getattr(core, "to_json", None)) is not None:
        with contextlib.suppress(ValueError):  # a lone surrogate, or a type without a JSON form
            return Encoded(fast(value, by_alias=True, inf_nan_mode="null", fallback=_plain))
    return Encoded(_standard(value))


def encode_text(text: str) -> bytes:
    """A JSON string: the one thing encoded for each streamed piece."""
    return _utf8(_quote(text))


def encoded_array(items: Iterable[bytes]) -> Encoded:
    """An array of items that are encoded already."""
    return Encoded(b"[" + b",".join(items) + b"]")


def encoded_object(fields: dict[str, object]) -> Encoded:
    """An object of which some values may be encoded already."""
    pairs = (encode_text(name) + b":" + encode(value) for name, value in fields.items())
    return Encoded(b"{" + b",".join(pairs) + b"}")


_quote = json.encoder.encode_basestring


def _standard(value: object) -> bytes:
    plain = _finite(json.loads(json.dumps(value, default=_plain)))
    return _utf8(json.dumps(plain, ensure_ascii=False, separators=(",", ":")))


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        from singletree.messages import well_formed

        return well_formed(text).encode()


def _plain(value: object) -> object:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    if hasattr(value, "__attrs_attrs__"):
        from singletree.rpc.pipes.converter import converter

        return converter().unstructure(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _finite(value: Any) -> Any:
    match value:
        case dict():
            return {k: _finite(v) for k, v in value.items()}
        case list():
            return [_finite(v) for v in value]
        case float() if value != value or value in (float("inf"), float("-inf")):
            return None
    return value
