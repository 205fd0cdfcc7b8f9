"""A frame read as what it is: a request, a notification, an answer to us, or a refusal.

Pure. JSON-RPC's own rules stand here and only here: what has no usable id is refused with id null,
batches (which LSP does not have) member by member. Never knows a method. Read next: connection.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from singletree.rpc.faults import RpcError
from singletree.rpc.pipes import codec
from singletree.rpc.pipes.frames import Defect, Frame
from singletree.rpc.protocol.errors import INVALID_REQUEST, PARSE_ERROR

Id = str | int


@dataclass(slots=True, eq=False)
class Request:
    """Wants exactly one answer. `cancelled` while it waited: it has had its answer."""

    id: Id
    method: str
    params: Any
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Notification:
    """Wants no answer."""

    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """The client's answer to a request of ours."""

    id: Id
    result: Any = None
    error: RpcError | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """What can't be handled, and the error that says so. `id` is None where none is known."""

    id: Id | None
    error: RpcError


Incoming = Request | Notification | Answer | Refusal


def read(frame: Frame) -> list[Incoming]:
    """What a frame says; more than one thing only for a batch."""
    if isinstance(frame, Defect):
        return [_read_defect(frame)]
    try:
        value = codec.decode(frame)
    except (ValueError, RecursionError) as error:
        return [Refusal(None, RpcError(PARSE_ERROR, f"The message is no JSON: {error}"))]
    if isinstance(value, list):
        return _refuse_batch(value)
    if not isinstance(value, dict):
        return [_refuse(None, "A message must be an object")]
    return [_read_object(value)]


def _read_object(message: dict[str, Any]) -> Incoming:
    method, params = message.get("method"), message.get("params")
    mid: Any = message.get("id")
    has_id = "id" in message
    if has_id and not _is_id(mid):
        if method is None:
            return _refuse(None, "An answer without a usable id")
        return _refuse(None, "The id must be a string or an integer")
    if message.get("jsonrpc") != "2.0":
        return _refuse(mid, 'The message must have "jsonrpc": "2.0"')
    if method is None and has_id and ("result" in message or "error" in message):
        return _read_answer(mid, message)
    if not isinstance(method, str):
        return _refuse(mid, "The message has no method")
    return Request(mid, method, params) if has_id else Notification(method, params)


def _read_answer(mid: Id, message: dict[str, Any]) -> Answer:
    error = message.get("error")
    if error is None:
        return Answer(mid, message.get("result"))
    if not isinstance(error, dict):
        error = {"message": str(error)}
    code = error.get("code")
    code = code if isinstance(code, int) else 0
    return Answer(mid, error=RpcError(code, str(error.get("message", "")), error.get("data")))


def _read_defect(defect: Defect) -> Incoming:
    data = {"code": defect.code, "retryable": False} if defect.code else None
    error = RpcError(INVALID_REQUEST, defect.message, data)
    if defect.answer and defect.id is not None:
        return Answer(defect.id, error=error)
    return Refusal(defect.id, error)


def _refuse_batch(members: list[Any]) -> list[Incoming]:
    ids = [m["id"] for m in members if isinstance(m, dict) and _is_id(m.get("id"))]
    return [_refuse(mid, "Batches are not supported") for mid in ids or [None]]


def _refuse(mid: Id | None, message: str) -> Refusal:
    return Refusal(mid, RpcError(INVALID_REQUEST, message))


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
