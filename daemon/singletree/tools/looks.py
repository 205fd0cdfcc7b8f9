"""What text looks like: quotes, dashes, blanks and accents that a reader cannot tell apart.

Two texts look the same when `looks` gives the same for both; `shown` makes text that can be stored
and sent, and what it shows looks the same as what it stands for. Never knows a file. Read next:
paths.py (names that look alike), match.py (text that looks alike).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
FOREIGN = re.compile("[\ud800-\udfff]")

_ALIKE: dict[int, str] = {
    **dict.fromkeys(map(ord, "‘’‚‛ʼ′"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    **dict.fromkeys(map(ord, "\u00a0\u1680\u202f\u205f\u3000"), " "),
    **dict.fromkeys(range(0x2000, 0x200B), " "),
    **dict.fromkeys(map(ord, "\u200b\u2060\ufeff"), ""),
    **{0x2400 + code: chr(code) for code in range(0x20)},
    0x2421: "\x7f",
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
_PICTURES: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n\r"},
    0x7F: "\u2421",
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
_JOINING = ("\u1160", "\u11ff"), ("\u3131", "\u318e"), ("\uff9e", "\uffdc")
_NAME_PICTURES = {**_PICTURES, 0x09: "\u2409", 0x0A: "\u240a", 0x0D: "\u240d"}


def looks(text: str) -> str:
    """What a text looks like: one form for all texts that look the same."""
    if text.isascii():
        return text
    plain = text.translate(_ALIKE)
    if unicodedata.is_normalized("NFKC", plain):
        return plain
    return "".join(map(looks_of_cluster, clusters(text)))


@lru_cache(maxsize=8192)
def looks_of_cluster(cluster: str) -> str:
    """The same for one character with its marks."""
    return unicodedata.normalize("NFKC", cluster.translate(_ALIKE))


def looks_of_name(name: str) -> str:
    """What a file name looks like: as `looks`, but x² is not x2."""
    return name if name.isascii() else unicodedata.normalize("NFC", name.translate(_ALIKE))


def composed(name: str) -> str:
    """The same text in its one canonical Unicode form."""
    return unicodedata.normalize("NFC", name)


def clusters(text: str) -> Iterator[str]:
    """Characters with the marks that belong to them; joined they are the text."""
    start = 0
    for at in range(1, len(text)):
        if text[at] < "\u0300" or not _continues(text[at]):
            yield text[start:at]
            start = at
    if text:
        yield text[start:]


def shown(text: str) -> str:
    """Text that can be stored and sent: control characters as pictures, stray bytes as U+FFFD."""
    if CONTROLS.search(text) or FOREIGN.search(text):
        return text.translate(_PICTURES)
    return text


def shown_name(name: object) -> str:
    """The same for a path or a name, which stays on one line."""
    return str(name).translate(_NAME_PICTURES)


def _continues(char: str) -> bool:
    """A combining mark, or a Hangul or Katakana part that joins the letter before it."""
    if unicodedata.combining(char):
        return True
    return any(first <= char <= last for first, last in _JOINING)
