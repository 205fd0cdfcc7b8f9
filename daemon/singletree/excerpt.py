"""Long texts where there is room for a few words: cut, or on one line.

Never knows where it is shown. Read next: context/left_out.py, history/preview.py (whose lines).
"""

from __future__ import annotations

LOOKED_AT = 4
"""Times the length of a line: what stands further behind a lot of blank space is not looked for."""


def cut(text: str, most: int) -> str:
    """The text, or its beginning and a mark: at most `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def excerpt(text: str, most: int) -> str:
    """The same on one line, with single spaces."""
    near = text[: LOOKED_AT * most]
    line = " ".join(near.split())
    return cut(line, most) if near == text else cut(f"{line} …", most)
