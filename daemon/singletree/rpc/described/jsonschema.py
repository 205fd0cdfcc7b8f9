"""The contract as one JSON Schema (2020-12): methods, events, errors, and all shapes in `$defs`.

Read next: shapes.py (which shapes belong to it).
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, JsonValue, TypeAdapter
from pydantic.json_schema import models_json_schema

from singletree.history.entries import Entry
from singletree.messages import Block
from singletree.rpc.described.shapes import served
from singletree.rpc.protocol.base import PROTOCOL_VERSION, JsonObject, Method
from singletree.rpc.protocol.capabilities import ClientAgent, ServerAgent
from singletree.rpc.protocol.errors import CODES, NUMBERS, ErrorData
from singletree.rpc.protocol.events import SessionEvent, ToolEvent

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TITLE = "Singletree: an agent that any editor hosts like a language server"

_NAMED: dict[str, TypeAdapter[object]] = {
    "Entry": TypeAdapter(Entry),
    "Block": TypeAdapter(Block),
    "SessionEvent": TypeAdapter(SessionEvent),
}
_MODELS: tuple[type[BaseModel], ...] = (ClientAgent, ServerAgent, ErrorData, ToolEvent)


def schema() -> JsonObject:
    """The published schema."""
    return {
        "$schema": DIALECT,
        "title": TITLE,
        "protocolVersion": PROTOCOL_VERSION,
        "capabilities": {"client": _ref("ClientAgent"), "server": _ref("ServerAgent")},
        "methods": {m.name: _method(m) for m in served()},
        "event": _ref("SessionEvent"),
        "errors": {
            "numbers": {
                str(number): {"name": name, "description": said}
                for number, (name, said) in NUMBERS.items()
            },
            "codes": dict[str, JsonValue](CODES),
            "data": _ref("ErrorData"),
        },
        "$defs": _definitions(),
    }


def _method(method: Method) -> JsonObject:
    made: JsonObject = {
        "kind": method.kind,
        "direction": method.direction,
        "description": method.doc,
        "stability": method.stability,
        "since": method.since,
        "params": _ref(method.params.__name__),
    }
    if method.result:
        made["result"] = _ref(method.result.__name__)
    if method.errors:
        made["errors"] = list[JsonValue](method.errors)
    return made


def _ref(name: str) -> JsonObject:
    return {"$ref": f"#/$defs/{name}"}


def _definitions() -> JsonObject:
    models: dict[str, type[BaseModel]] = {m.__name__: m for m in _MODELS}
    models |= {s.__name__: s for m in served() for s in (m.params, m.result) if s is not None}
    _, made = models_json_schema([(m, "validation") for m in models.values()])
    found: JsonObject = made["$defs"]
    for name, adapter in _NAMED.items():
        inner = adapter.json_schema()
        for key, value in inner.pop("$defs").items():
            found.setdefault(key, value)
        found[name] = inner
    tidy = {name: _walk(_walk(value, _linked), _untitled) for name, value in found.items()}
    return dict(sorted(tidy.items()))


def _walk(value: JsonValue, change: Callable[[JsonObject], JsonObject]) -> JsonValue:
    if isinstance(value, list):
        return [_walk(part, change) for part in value]
    if not isinstance(value, dict):
        return value
    return {key: _walk(part, change) for key, part in change(value).items()}


def _linked(value: JsonObject) -> JsonObject:
    """What is only named in the models points to its definition here."""
    name = value.get("x-named")
    return _ref(name) if isinstance(name, str) else value


def _untitled(value: JsonObject) -> JsonObject:
    """Without the titles that say the name of the field again."""
    return {k: v for k, v in value.items() if not (k == "title" and isinstance(v, str))}
