"""Content-Length frames: bytes in, whole messages out; and the frame of a message.

Pure: fed any split of a stream it finds the same frames. What is no frame is told as a `Defect` and
skipped, so that one bad message never costs the ones behind it. Never reads, waits or parses JSON
beyond the id of what it must refuse. Needs json and re and nothing else, for it stands before the
first answer (no dataclass: that import alone would cost more than the answer does). Read next:
stdio.py (who feeds it), ../connection.py (who takes the frames).
"""

from __future__ import annotations

import json
import re

from singletree.rpc.limits import MAX_MESSAGE

MAX_HEADER = 8 << 10
_ABSURD = 1 << 30  # a length beyond this is noise, not a message to sit out
_HEAD_KEPT = 1 << 10

TOO_LARGE = "A message may have at most {} bytes; this one was skipped"
NO_LENGTH = "A header without a usable Content-Length; what followed it was skipped"
NO_HEADER = "A message without a Content-Length header was skipped"


class Defect:
    """Bytes that are no message. `id` is that of the request, or of the answer, if it was seen."""

    __slots__ = ("answer", "code", "id", "message")

    def __init__(
        self,
        message: str,
        code: str | None = None,
        mid: str | int | None = None,
        answer: bool = False,
    ) -> None:
        self.message = message
        self.code = code
        self.id = mid
        self.answer = answer


Frame = bytes | Defect


def header_frame(body: bytes) -> bytes:
    """The frame of a message."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class HeaderFrames:
    """Content-Length framing. Header names in any case, bare LF line ends, other headers ignored.

    Four situations: before or in a header, in a body, in a body that is too large (`_drain`), and
    lost after a header whose length is of no use, until the next header that is.
    """

    def __init__(self, max_body: int = MAX_MESSAGE) -> None:
        self._max = max_body
        self._buffer = bytearray()
        self._need: int | None = None
        self._drain = 0
        self._head = b""
        self._lost = False

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that these bytes complete."""
        self._buffer += data
        found: list[Frame] = []
        while self._advance(found):
            pass
        return found

    def _advance(self, found: list[Frame]) -> bool:
        if self._drain:
            return self._skip_large(found)
        if self._need is not None:
            return self._take_body(found)
        if self._lost:
            return self._find_header()
        return self._take_header(found)

    def _take_body(self, found: list[Frame]) -> bool:
        need = self._need or 0
        if len(self._buffer) < need:
            return False
        with memoryview(self._buffer) as view:
            found.append(bytes(view[:need]))
        del self._buffer[:need]
        self._need = None
        return True

    def _skip_large(self, found: list[Frame]) -> bool:
        if len(self._head) < _HEAD_KEPT:
            self._head += self._buffer[: _HEAD_KEPT - len(self._head)]
        gone = min(self._drain, len(self._buffer))
        del self._buffer[:gone]
        self._drain -= gone
        if self._drain:
            return False
        found.append(_defect(TOO_LARGE.format(self._max), self._head, "message_too_large"))
        self._head = b""
        return True

    def _take_header(self, found: list[Frame]) -> bool:
        blank = _BLANK_LINE.search(self._buffer)
        if blank is None:
            return self._unfinished_header(found)
        block = bytes(self._buffer[: blank.start()])
        del self._buffer[: blank.end()]
        if not block.strip():
            return True
        lengths = _LENGTH.findall(block)
        length = int(lengths[-1]) if lengths and len(lengths[-1]) < 18 else _ABSURD
        if length >= _ABSURD:
            found.append(_defect(NO_LENGTH, bytes(self._buffer[:_HEAD_KEPT])))
            self._lost = True
            return True
        if block.lstrip()[:1] in (b"{", b"["):
            found.append(_defect(NO_HEADER, block))
        if length > self._max:
            self._drain = length
        else:
            self._need = length
        return True

    def _unfinished_header(self, found: list[Frame]) -> bool:
        """A line that is a whole JSON object is told at once: its sender waits for an answer."""
        line, newline, _ = self._buffer.partition(b"\n")
        if newline and _is_json_object(line):
            found.append(_defect(NO_HEADER, bytes(line)))
            del self._buffer[: len(line) + 1]
            return True
        if len(self._buffer) <= MAX_HEADER:
            return False
        found.append(_defect(NO_LENGTH, bytes(self._buffer[:_HEAD_KEPT])))
        self._lost = True
        return True

    def _find_header(self) -> bool:
        header = _NEXT_HEADER.search(self._buffer)
        if header is None:
            del self._buffer[:-_LONGEST_LENGTH_LINE]
            return False
        del self._buffer[: header.start()]
        self._lost = False
        return True


_BLANK_LINE = re.compile(rb"\r?\n\r?\n|\A\r?\n")
_LENGTH = re.compile(rb"(?im)content-length[ \t]*:[ \t]*(\d+)[ \t]*\r?$")
_NEXT_HEADER = re.compile(rb"(?i)content-length[ \t]*:[ \t]*\d+[ \t]*\r?\n")
_LONGEST_LENGTH_LINE = 64
_ID = re.compile(
    rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*'
    rb'"id"\s*:\s*(-?\d{1,18}(?=\s*[,}])|"(?:[^"\\]|\\.){0,200}")'
)


def _defect(message: str, head: bytes, code: str | None = None) -> Defect:
    """Name the id if the message begins as most clients write it, else leave it unknown."""
    seen = _ID.match(head)
    if seen is None:
        return Defect(message, code)
    answer = b'"method"' not in head[:_HEAD_KEPT]
    return Defect(message, code, json.loads(seen[1]), answer)


def _is_json_object(line: bytes | bytearray) -> bool:
    if line.lstrip()[:1] != b"{":
        return False
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
