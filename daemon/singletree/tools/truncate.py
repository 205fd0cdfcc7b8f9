"""How much of a text reaches the model: two limits, whichever comes first, head or tail.

Only whole lines are kept, except where a single line is over the limit: then its readable part is
kept, and the cut says so. Never half a character, never a file, never a stream of its own: whoever
has bytes hands them in. Read next: accumulator.py (streams), read.py (keeps the
head), bash.py (keeps the tail).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from singletree.messages import utf16_head

MAX_LINES = 2000
MAX_BYTES = 51_200
MAX_LINE_UNITS = 500

NOTICE = "[Cut: {lines}, {size} in all. Shown: {shown}.{rest}]"
SHOWN_LINES = "lines {first}-{last}"
SHOWN_PART = "the {side} {size} of line {line}"
SIDES = {"head": "first", "tail": "last"}
REST = " All of it: {full_copy}"

Limit = Literal["lines", "bytes"]


@dataclass(frozen=True, slots=True)
class Cut:
    """What was kept of a text. `first` and `last` are the line numbers kept, counted from 1.

    `by` is the limit that was hit, None when nothing readable is missing. `partial`: only a part of
    the single line `first` is there. `total_bytes` and `total_lines` are those of the whole text;
    `side` is the one that was kept.
    """

    text: str
    total_lines: int
    total_bytes: int
    first: int
    last: int
    by: Limit | None = None
    partial: bool = False
    side: Literal["head", "tail"] = "head"

    @property
    def lines(self) -> int:
        """How many lines were kept."""
        return self.last - self.first + 1


def keep_head(text: str, lines: int = MAX_LINES, size: int = MAX_BYTES) -> Cut:
    """The first lines that fit both limits; of a first line that does not fit, its beginning."""
    data = to_bytes(text)
    body = data.removesuffix(b"\n")
    total = count_lines(data)
    if total <= lines and len(body) <= size:
        return Cut(text if len(data) <= size else text[:-1], total, len(data), 1, total)
    kept = body[: size + 1].split(b"\n", lines)
    kept.pop()
    if kept:
        by: Limit = "lines" if len(kept) == lines else "bytes"
        return Cut(to_text(b"\n".join(kept)), total, len(data), 1, len(kept), by)
    return Cut(to_text(clip_head(body, size)), total, len(data), 1, 1, "bytes", partial=True)


def tail_of(body: bytes, total: int, size_of_all: int, lines: int, size: int) -> Cut:
    """The last lines of a text that is over a limit, or the end of a last line that does not fit.

    `body` is at least its last bytes, without the line end behind them.
    """
    kept = body[-(size + 1) :].rsplit(b"\n", lines)[1:]
    by: Limit = "lines" if max(len(kept), 1) == lines else "bytes"
    if kept:
        text, first, partial = b"\n".join(kept), total - len(kept) + 1, False
    else:
        text, first, partial = clip_tail(body, size), total, True
    return Cut(to_text(text), total, size_of_all, first, total, by, partial, side="tail")


def notice(cut: Cut, full_copy: str = "") -> str:
    """The line for the model: how big it was, what is shown, where the whole is; "" if uncut.

    `full_copy` says where all of it is and how to get at it.
    """
    if cut.by is None:
        return ""
    return NOTICE.format(
        lines=plural(cut.total_lines, "line"),
        size=format_size(cut.total_bytes),
        shown=_shown(cut),
        rest=REST.format(full_copy=full_copy) if full_copy else "",
    )


def format_size(size: int) -> str:
    """A size for reading: 1023B, 1.0KB, 1.5MB."""
    if size < 1024:
        return f"{size}B"
    if size < 1024 * 1024:
        return f"{_tenth(size, 1024)}KB"
    return f"{_tenth(size, 1024 * 1024)}MB"


def details_of(cut: Cut) -> dict[str, JsonValue]:
    """The cut for a person's view, in the form that session files have."""
    return {
        "truncated": cut.by is not None,
        "truncatedBy": cut.by,
        "totalLines": cut.total_lines,
        "totalBytes": cut.total_bytes,
        "outputLines": cut.lines,
        "outputBytes": len(to_bytes(cut.text)),
        "lastLinePartial": cut.partial,
        "firstLineExceedsLimit": cut.partial and cut.side == "head",
        "maxLines": MAX_LINES,
        "maxBytes": MAX_BYTES,
    }


def bounded(value: float | None, default: int, least: int, most: int) -> int:
    """A number of the model's as a whole one that can be used."""
    if value is None or value != value:
        return default
    return int(min(max(value, least), most))


def plural(count: int, noun: str) -> str:
    """1 line, 2 lines."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def clip_head(data: bytes, size: int) -> bytes:
    """The first whole UTF-8 characters of `data` that fit in `size` bytes."""
    end = min(max(size, 0), len(data))
    if end < len(data):
        while end > 0 and data[end] & 0xC0 == 0x80:
            end -= 1
    return data[:end]


def clip_tail(data: bytes, size: int) -> bytes:
    """The last whole UTF-8 characters of `data` that fit in `size` bytes."""
    start = max(len(data) - max(size, 0), 0)
    if start > 0:
        while start < len(data) and data[start] & 0xC0 == 0x80:
            start += 1
    return data[start:]


def cut_line(line: str, units: int = MAX_LINE_UNITS) -> tuple[str, bool]:
    """The beginning of a line that is too long for a list of lines, and whether it was cut."""
    kept = utf16_head(line, units)
    return kept, len(kept) < len(line)


def _shown(cut: Cut) -> str:
    if cut.partial:
        size = format_size(len(to_bytes(cut.text)))
        return SHOWN_PART.format(side=SIDES[cut.side], size=size, line=cut.first)
    return SHOWN_LINES.format(first=cut.first, last=cut.last)


def count_lines(data: bytes) -> int:
    """Lines of a text; one that is not ended counts."""
    return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)


def to_bytes(text: str) -> bytes:
    """UTF-8, half characters too."""
    return text.encode("utf-8", "surrogatepass")


def to_text(data: bytes) -> str:
    """The way back."""
    return data.decode("utf-8", "surrogatepass")


def _tenth(size: int, unit: int) -> str:
    """One decimal, halves away from zero."""
    tenths = (size * 10 + unit // 2) // unit
    return f"{tenths // 10}.{tenths % 10}"
