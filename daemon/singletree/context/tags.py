"""Tags round text the model reads: what stands inside can't close them.

Pure; never knows what the text is. Read next: projection.py and prompt.py, which use it.
"""

from __future__ import annotations

import re

_ATTRIBUTE = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}
_UNQUOTED = re.compile("[&<>\"'\\x00-\\x1f]")


def defuse(text: str, *names: str) -> str:
    """The text with every opening or closing tag of these names made harmless."""
    if "<" not in text:
        return text
    pattern = rf"<(?=\s*(?:/\s*)?(?:{'|'.join(map(re.escape, names))})\b)"
    return re.sub(pattern, "&lt;", text, flags=re.IGNORECASE)


def escape(text: str) -> str:
    """The text as an attribute's value, or as the whole content of an element, on one line."""
    return _UNQUOTED.sub(lambda m: _ATTRIBUTE.get(m[0], " "), text)


def section(name: str, text: str) -> str:
    """A tagged section on lines of its own."""
    return f"<{name}>\n{defuse(text, name)}\n</{name}>"
