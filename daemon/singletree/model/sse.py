"""Bytes to server-sent events. No I/O, no JSON, no provider: bytes in, events out.

Only LF, CRLF and CR end a line; text is decoded once a line is whole, so that a cut inside a
character or between CR and LF changes nothing. Read next: http.py (where bytes come from).
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ENDS = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class ServerEvent(NamedTuple):
    """One event: its name ("" if none was given) and its data lines joined by LF."""

    name: str
    data: str


class SSEDecoder:
    """Feed it bytes as they come; `close` gives what an end without a blank line left."""

    def __init__(self) -> None:
        self.waiting = 0
        """Bytes of an event whose end has not come."""
        self._rest: list[bytes] = []
        self._after_cr = False
        self._begun = False
        self._name = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[ServerEvent]:
        """The events that are whole now."""
        if self._after_cr and data:
            self._after_cr = False
            if data.startswith(b"\n"):
                data = data[1:]
        if not data:
            return []
        self.waiting += len(data)
        self._after_cr = data.endswith(b"\r")
        lines = _ENDS.split(data) if b"\r" in data else data.split(b"\n")
        if len(lines) > 1 and self._rest:
            self._rest.append(lines[0])
            lines[0] = b"".join(self._rest)
            self._rest.clear()
        last = lines.pop()
        if last:
            self._rest.append(last)
        if b"" in lines:
            self.waiting = len(last)
        return self._events(lines)

    def close(self) -> list[ServerEvent]:
        """What is left: a last line without its end, a last event without its blank line."""
        rest = b"".join(self._rest)
        self._rest.clear()
        return self._events([rest, b""])

    def _events(self, lines: list[bytes]) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        for line in lines:
            if not self._begun:
                self._begun = True
                line = line.removeprefix(_BOM)
            if line.startswith(b"data:"):
                start = 6 if line[5:6] == b" " else 5
                self._data.append(line[start:].decode("utf-8", "replace"))
            elif not line:
                if self._data:
                    events.append(ServerEvent(self._name, "\n".join(self._data)))
                    self._data = []
                self._name = ""
            elif line.startswith(b"event:"):
                self._name = line[6:].decode("utf-8", "replace").removeprefix(" ")
            elif line == b"data":
                self._data.append("")
        return events
