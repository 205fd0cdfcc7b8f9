"""The patterns of JSON Schema, which are JavaScript's, as Python's: what the two write differently.

`$` is the very end, digits and word characters are those of ASCII, groups are named otherwise. What
Python lacks (`\\p{..}`) stays, and is then no pattern. Pure. Read next: rules.py.
"""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(
    r"\\k<(?P<back>\w+)>|\\(?P<escaped>.)|\(\?<(?P<name>[A-Za-z_]\w*)>|(?P<plain>.)", re.DOTALL
)
_SETS = {"d": "0-9", "w": "A-Za-z0-9_"}


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str] | None:
    """The pattern ready for use; None if it is none."""
    try:
        return re.compile(_translated(pattern))
    except re.error:
        return None


def _translated(pattern: str) -> str:
    text, in_set = "", False
    for token in _TOKEN.finditer(pattern):
        piece = token[0]
        if not in_set and token["back"]:
            piece = f"(?P={token['back']})"
        elif not in_set and token["name"]:
            piece = f"(?P<{token['name']}>"
        elif piece == "$" and not in_set:
            piece = r"\Z"
        elif piece == "[" and in_set:
            piece = r"\["
        elif escaped := token["escaped"]:
            piece = _escape(escaped, in_set)
        in_set = piece == "[" or (in_set and piece != "]")
        text += piece
    return text


def _escape(char: str, in_set: bool) -> str:
    if char in _SETS:
        return _SETS[char] if in_set else f"[{_SETS[char]}]"
    if char.lower() in _SETS and not in_set:
        return f"[^{_SETS[char.lower()]}]"
    return f"\\{char}"
