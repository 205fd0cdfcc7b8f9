"""Request bodies as bytes, without encoding again what the last request already held.

A conversation grows at its end and its messages never change, so the JSON of all but the newest is
kept and only joined. The result is what form.py makes, which is the authority (and the test). Pure.
Read next: form.py, remote.py (who keeps one of these).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from singletree.jsontext import Json
from singletree.messages import AssistantMessage, Image, Message, ToolResultMessage
from singletree.model.base import ModelInfo, ModelRequest, ToolSpec
from singletree.model.form import Form
from singletree.model.images import MANY
from singletree.model.room import content_units, frame_units, output_limit, tokens_of
from singletree.model.transform import Ids, prepare, sendable

CONVERSATIONS = 4
"""Conversations that are remembered: the session's own, and summaries beside it."""


@dataclass(slots=True)
class _Kept:
    """The encoded beginning of a conversation: its messages, and what is needed to go on."""

    messages: list[Message]
    json: list[bytes]
    ids: Ids
    calls: set[str] = field(default_factory=set)
    groups: int = 0
    units: int = 0
    pictures: int = 0


class Memo:
    """Encodes the requests of one model. Two threads may be at it: what is kept is taken whole."""

    def __init__(self, form: Form, info: ModelInfo) -> None:
        self._form = form
        self._info = info
        self._kept: dict[_Key, _Kept] = {}
        self._frame: tuple[str, Sequence[ToolSpec], int] | None = None
        self._envelope: tuple[Json, bytes] = {}, b"{}"

    def fresh(self, request: ModelRequest) -> int:
        """How many messages of a request were never encoded: what it will cost."""
        kept = self._kept.get(_key(request))
        return len(request.messages) - (len(kept.messages) if kept else 0)

    def has_call(self, request: ModelRequest, call_id: str) -> bool:
        """Whether a call of the conversation has this id already."""
        kept = self._kept.get(_key(request)) or self._nothing()
        if not _begins_with(request.messages, kept.messages):
            kept = self._nothing()
        tail = request.messages[len(kept.messages) :]
        return call_id in kept.calls or any(call_id in _calls(message) for message in tail)

    def encode(self, request: ModelRequest) -> bytes:
        """The body of a request."""
        kept = self._beginning(request)
        self._extend(kept, request)
        tail = request.messages[len(kept.messages) :]
        if kept.pictures + _pictures(tail) > MANY:  # how many there are says how large each may be
            return self._joined(request, self._nothing(), request.messages)
        body = self._joined(request, kept, tail)
        self._kept[_key(request)] = kept  # the newest stands last
        if len(self._kept) > CONVERSATIONS:
            self._kept.pop(next(iter(self._kept)), None)  # another thread may be here too
        return body

    def _nothing(self) -> _Kept:
        return _Kept([], [], Ids(self._form.rename(self._info)))

    def _beginning(self, request: ModelRequest) -> _Kept:
        """What is kept of this very conversation, taken out; a changed one is begun anew."""
        kept = self._kept.pop(_key(request), None)
        if kept is None or not _begins_with(request.messages, kept.messages):
            return self._nothing()
        return kept

    def _extend(self, kept: _Kept, request: ModelRequest) -> None:
        messages = request.messages
        start = len(kept.messages)
        end = _last_seam(messages, start)
        if end <= start:
            return
        fresh = messages[start:end]
        ready = prepare(fresh, self._info, ids=kept.ids)
        groups = self._form.speak(self._info, request, ready, kept.groups)
        kept.json.extend(_dumped(item) for group in groups for item in group)
        kept.groups += len(groups)
        kept.units += sum(content_units(m.content) for m in fresh)
        kept.pictures += _pictures(fresh)
        kept.calls.update(*map(_calls, fresh))
        kept.messages.extend(fresh)

    def _joined(self, request: ModelRequest, kept: _Kept, tail: Sequence[Message]) -> bytes:
        form, info = self._form, self._info
        ready = prepare(tail, info, ids=kept.ids.copy())
        head = form.head(info, request)
        groups = form.speak(info, request, ready, kept.groups)
        items = [*head, *(item for group in groups for item in group)]
        units = kept.units + sum(content_units(m.content) for m in tail)
        limit = output_limit(info, request, tokens_of(units + self._frame_units(request)))
        body = form.around(info, request, limit)
        told = len(items) > len(head)
        placed = form.mark(info, request, body, items)
        if kept.json and not (told and placed):  # the mark stands on something older
            return self._joined(request, self._nothing(), request.messages)
        said = [_dumped(item) for item in items]
        spoken = b",".join([*said[: len(head)], *kept.json, *said[len(head) :]])
        known = self._envelope
        if body != known[0]:
            known = self._envelope = body, _dumped(body)
        return b'{"%b":[%b],%b' % (form.field.encode(), spoken, known[1][1:])

    def _frame_units(self, request: ModelRequest) -> int:
        """As frame_units says, counted once for the steps of a turn."""
        known = self._frame
        if known is None or known[:2] != (request.system, request.tools):
            known = self._frame = request.system, request.tools, frame_units(request)
        return known[2]


_Key = tuple[str, bool]
"""A conversation, and whether it is thought: levels may be told between its messages."""


def _key(request: ModelRequest) -> _Key:
    return request.session_id, request.thinking == "off"


def _dumped(value: JsonValue) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return sendable(text).encode()


def _begins_with(messages: Sequence[Message], beginning: Sequence[Message]) -> bool:
    if len(messages) <= len(beginning):
        return False
    return list(messages[: len(beginning)]) == beginning  # the same objects are not looked into


def _calls(message: Message) -> list[str]:
    return [c.id for c in message.tool_calls] if isinstance(message, AssistantMessage) else []


def _pictures(messages: Sequence[Message]) -> int:
    return sum(
        isinstance(block, Image)
        for message in messages
        if not isinstance(message.content, str)
        for block in message.content
    )


def _last_seam(messages: Sequence[Message], start: int) -> int:
    """The last place where a conversation can be parted: no call waits for its result there.

    Never at the end itself, between results and a user's words, or between two answers.
    """
    seam = start
    pending: set[str] = set()
    answered = False
    for index in range(start, len(messages)):
        message = messages[index]
        if isinstance(message, ToolResultMessage):
            answered &= message.tool_call_id not in pending  # one without its call is not sent
            pending.discard(message.tool_call_id)
            continue
        if isinstance(message, AssistantMessage):
            if message.failed:
                continue
            if not (pending or answered):
                seam = index
            pending = {call.id for call in message.tool_calls}
            answered = True
        else:
            behind_result = index > 0 and isinstance(messages[index - 1], ToolResultMessage)
            if not pending and not behind_result:
                seam = index
            pending = set()
            answered = False
    return seam
