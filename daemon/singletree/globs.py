"""Globs as regular expressions: `*` and `?` stay inside a name, `**` crosses folders.

The dialect of ripgrep and fd, for paths with `/`. No pattern is slow, whoever wrote it: what stands
behind a star is looked for once, where it comes first, and never again. That is exact, for the next
star takes whatever is left. Pure text; never looks at a file. Read next: gitignore.py and
tools/find.py (who match with them).
"""

from __future__ import annotations

import re
from enum import Enum, auto

MOST_ALTERNATIVES = 1000
DEEPEST = 20


class _Star(Enum):
    """What takes any number of characters: in a name, of whole folders, or to the end."""

    NAME = auto()
    FOLDERS = auto()
    ALL = auto()


_Part = str | _Star
"""A piece of a pattern; a text is a regular expression of one certain length."""


def translate(pattern: str, *, braces: bool = True) -> str:
    """A regular expression for the whole of a relative path. ValueError: not a glob."""
    options = alternatives(pattern) if braces else [pattern]
    texts = [_joined(_parts(option)) for option in options]
    return texts[0] if len(texts) == 1 else f"(?:{'|'.join(dict.fromkeys(texts))})"


def alternatives(pattern: str) -> list[str]:
    """The patterns without braces that it stands for. ValueError: not a glob."""
    return _Braces(pattern).options()


def _joined(parts: list[_Part]) -> str:
    """The stretches between `**/`, each found where it comes first, the last one at the end."""
    stretches: list[list[_Part]] = [[]]
    for part in parts:
        if part is _Star.FOLDERS:
            stretches.append([])
        else:
            stretches[-1].append(part)
    first, *others = [_stretch(stretch) for stretch in stretches]
    inner = [f"(?>(?:.*?/)??{text})" for text in others[:-1]]
    return "".join([first, *inner, *(f"(?:.*/)?{text}" for text in others[-1:])])


def _stretch(parts: list[_Part]) -> str:
    """Names with stars; what follows the last star may have to wait for the end of its name."""
    out, behind = "", [""]
    for part in parts:
        match part:
            case _Star.NAME:
                out += _behind(behind, last=False)
                behind = ["[^/]*", ""]
            case _Star.ALL:
                behind[-1] += ".+" if out or behind != [""] else ".*"
            case str():
                behind[-1] += part
            case _Star.FOLDERS:
                raise AssertionError("stretches have no such star")
    return out + _behind(behind, last=True)


def _behind(found: list[str], *, last: bool) -> str:
    """A star, if there was one, with what stands behind it."""
    if len(found) == 1 or last:
        return "".join(found)
    return f"(?>[^/]*?{found[1]})"


def _parts(pattern: str) -> list[_Part]:
    """A pattern without braces in its parts."""
    parts: list[_Part] = []
    at = 0
    while at < len(pattern):
        match pattern[at]:
            case "*":
                star, at = _stars(pattern, at)
                parts.append(star)
            case "?":
                parts.append("[^/]")
                at += 1
            case "[":
                end = _class_end(pattern, at)
                parts.append(_class(pattern[at + 1 : end - 1]))
                at = end
            case "\\":
                if at + 1 >= len(pattern):
                    raise ValueError("a backslash at the end")
                parts.append(re.escape(pattern[at + 1]))
                at += 2
            case char:
                parts.append(re.escape(char))
                at += 1
    return parts


def _stars(pattern: str, start: int) -> tuple[_Star, int]:
    """The star that begins here, and where it ends."""
    at = start
    while pattern[at : at + 1] == "*":
        at += 1
    begins = start == 0 or pattern[start - 1] == "/"
    rest = pattern[at : at + 1]
    if at - start != 2 or not begins or rest not in ("", "/"):
        return _Star.NAME, at
    return (_Star.FOLDERS, at + 1) if rest else (_Star.ALL, at)


def _class_end(pattern: str, start: int) -> int:
    """Behind the ] of the class that begins here."""
    end = start + 1
    if pattern[end : end + 1] in ("!", "^"):
        end += 1
    if pattern[end : end + 1] == "]":
        end += 1
    end = pattern.find("]", end)
    if end < 0:
        raise ValueError("a [ without a ]")
    return end + 1


def _class(inside: str) -> str:
    negated = inside[:1] in ("!", "^")
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negated else inside)
    text = f"(?!/)[{'^' if negated else ''}{body}]"
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(str(error)) from None
    return text


class _Braces:
    """One pass over a pattern: every pattern without braces that it stands for."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def options(self) -> list[str]:
        """All of them."""
        found = self._sequence(0)
        if self._at < len(self._pattern):
            raise ValueError("a } without a {")
        return found

    def _sequence(self, depth: int) -> list[str]:
        if depth > DEEPEST:
            raise ValueError("too many braces in braces")
        found = [""]
        while self._at < len(self._pattern):
            char = self._pattern[self._at]
            if char == "}" or (char == "," and depth):
                break
            more = self._alternatives(depth) if char == "{" else [self._text(char)]
            if len(found) * len(more) > MOST_ALTERNATIVES:
                raise ValueError(f"more than {MOST_ALTERNATIVES} alternatives")
            found = [one + other for one in found for other in more]
        return found

    def _text(self, char: str) -> str:
        start = self._at
        match char:
            case "\\":
                self._at += 2
            case "[":
                self._at = _class_end(self._pattern, start)
            case _:
                self._at += 1
        return self._pattern[start : self._at]

    def _alternatives(self, depth: int) -> list[str]:
        found: list[str] = []
        while True:
            self._at += 1
            found += self._sequence(depth + 1)
            if self._at >= len(self._pattern):
                raise ValueError("a { without a }")
            if self._pattern[self._at] == "}":
                self._at += 1
                return found
