"""What a careful client knows of a session from what it was told, and whether a hole was in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.rpc.client import Message, RawClient

Key = tuple[str, str, int]

KINDS = {"text": "text", "thinking": "thinking", "toolArgs": "tool"}
FIELDS = {"text": "text", "thinking": "thinking"}


class Mirror:
    """Follows one session over any number of connections; fails at the first hole."""

    def __init__(self, *, all_deltas: bool = True) -> None:
        self.events: list[Message] = []
        self.texts: dict[Key, str] = {}
        self.whole: dict[Key, str] = {}
        self.deltas = 0
        self.cursor: Message | None = None
        self._next: dict[Key, int] = {}
        self._all_deltas = all_deltas

    def attached(self, result: Any) -> None:
        """The answer to open or attach. What was streamed meanwhile is not told again."""
        self.texts.clear()
        self._next.clear()
        if result["mode"] == "replay":
            for note in result["events"]:
                self.event(note)
        else:
            self.cursor = result["cursor"]
        assert self.cursor is not None
        assert result["cursor"]["seq"] == self.cursor["seq"]
        assert result["cursor"]["epoch"] == self.cursor["epoch"]
        for part in result["inFlight"]:
            key = (part["itemId"], part["kind"], part["part"])
            self.texts[key], self._next[key] = part["text"], part["to"]

    def follow(self, frames: Iterable[Message]) -> None:
        """What came over a connection, in order."""
        for frame in frames:
            if frame.get("method") == "agent/event":
                self.event(frame["params"])
            elif frame.get("method") == "agent/delta":
                self._delta(frame["params"])

    def event(self, note: Message) -> None:
        """One event: the next one."""
        if self.cursor is not None:
            assert note["epoch"] == self.cursor["epoch"]
            assert note["seq"] == self.cursor["seq"] + 1, (note, self.cursor)
        self.cursor = {"epoch": note["epoch"], "seq": note["seq"]}
        event = note["event"]
        self.events.append(event)
        if event["type"] == "item_ended" and event["kind"] in FIELDS and event["content"]:
            key = (event["itemId"], event["kind"], event["part"])
            self.whole[key] = event["content"][FIELDS[event["kind"]]]
            if self._all_deltas and key in self.texts:
                assert self.texts[key] == self.whole[key]

    def types(self) -> list[str]:
        """The types of all events."""
        return [event["type"] for event in self.events]

    def _delta(self, delta: Message) -> None:
        self.deltas += 1
        key = (delta["itemId"], delta["kind"], delta["part"])
        at = self._next.get(key, 0)
        if self._all_deltas:
            assert delta["from"] == at, (delta, at)
            self.texts[key] = self.texts.get(key, "") + delta["text"]
        self._next[key] = delta["to"]


async def come_back(client: RawClient, mirror: Mirror, session_id: str) -> int:
    """Attach with what is known; the frame behind the answer, where following goes on."""
    params: Message = {"sessionId": session_id}
    if mirror.cursor is not None:
        params["since"] = mirror.cursor
    mid = client.request("agent/session/attach", params)
    mirror.attached((await client.answer(mid, 30))["result"])
    return next(n for n, f in enumerate(client.frames) if f.get("id") == mid) + 1
