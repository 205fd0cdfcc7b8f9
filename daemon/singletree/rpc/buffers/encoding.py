"""Bytes of a file as the text of its buffer: in the encoding and with the line ends it has there.

Pure. Read next: ../editing/files.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from singletree.rpc.buffers.changes import unix


def as_buffer(data: bytes, shown: str, on_disk: bytes | None) -> str | None:
    """The text that a buffer would have for `data`, when it shows `shown` for `on_disk`.

    `on_disk` None: the buffer has text of its own. None comes back where the buffer does not show
    what is on the disk, or could not show `data`.
    """
    for decode in _DECODERS if on_disk is not None else _DECODERS[:1]:
        try:
            if on_disk is None or unix(decode(on_disk)) == unix(shown):
                return _with_ends_of(shown, decode(data))
        except UnicodeError:
            continue
    return None


def _with_ends_of(shown: str, text: str) -> str:
    """The text with the line ends of a buffer, where that has but one kind."""
    crlf = shown.count("\r\n")
    if crlf and crlf == shown.count("\n") == shown.count("\r"):
        return unix(text).replace("\n", "\r\n")
    if "\n" in shown and "\r" not in shown:
        return unix(text)
    return text


def _utf8(data: bytes) -> str:
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogatepass")


def _mixed(encoding: str, data: bytes) -> str:
    """UTF-8, and what is no UTF-8 in an older encoding: an edit of such a file mixes them."""
    text = data.decode("utf-8", "surrogateescape")
    return "".join(
        letter.encode("utf-8", "surrogateescape").decode(encoding)
        if "\udc80" <= letter <= "\udcff"
        else letter
        for letter in text
    )


_DECODERS: tuple[Callable[[bytes], str], ...] = (
    _utf8,
    partial(_mixed, "cp1252"),
    partial(_mixed, "latin-1"),
)
