"""Globs as regular expressions: `*` and `?` stay inside a name, `**` crosses folders.

The dialect of ripgrep and fd, for paths with `/`. Pure text; never looks at a file. Read next:
find.py and ignore.py (who match with them).
"""

from __future__ import annotations

import re


def translate(pattern: str, *, braces: bool = True) -> str:
    """A regular expression for the whole of a relative path. ValueError: not a glob."""
    parser = _Glob(pattern, braces)
    text = parser.sequence(0)
    if parser.at < len(pattern):
        raise ValueError(f"unexpected {pattern[parser.at]!r}")
    return text


class _Glob:
    """One pass over a pattern."""

    def __init__(self, pattern: str, braces: bool) -> None:
        self.pattern = pattern
        self.at = 0
        self._braces = braces

    def sequence(self, depth: int) -> str:
        out: list[str] = []
        while self.at < len(self.pattern):
            char = self.pattern[self.at]
            if self._braces and depth and char in ",}":
                break
            out.append(self._one(char, depth))
        return "".join(out)

    def _one(self, char: str, depth: int) -> str:
        match char:
            case "*":
                return self._stars()
            case "?":
                self.at += 1
                return "[^/]"
            case "[":
                return self._class()
            case "{" if self._braces:
                return self._alternatives(depth)
            case "}" if self._braces:
                raise ValueError("a } without a {")
            case "\\":
                if self.at + 1 >= len(self.pattern):
                    raise ValueError("a backslash at the end")
                self.at += 2
                return re.escape(self.pattern[self.at - 1])
            case _:
                self.at += 1
                return re.escape(char)

    def _stars(self) -> str:
        start = self.at
        while self.at < len(self.pattern) and self.pattern[self.at] == "*":
            self.at += 1
        begins = start == 0 or self.pattern[start - 1] in "/{,"
        rest = self.pattern[self.at : self.at + 1]
        if self.at - start != 2 or not begins or rest not in ("", "/", ",", "}"):
            return "[^/]*"
        if rest == "/":
            self.at += 1
            return "(?:.*/)?"
        return ".+" if start else ".*"

    def _class(self) -> str:
        end = self.at + 1
        if self.pattern[end : end + 1] in ("!", "^"):
            end += 1
        if self.pattern[end : end + 1] == "]":
            end += 1
        end = self.pattern.find("]", end)
        if end < 0:
            raise ValueError("a [ without a ]")
        inside = self.pattern[self.at + 1 : end]
        self.at = end + 1
        negated = inside[:1] in ("!", "^")
        body = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negated else inside)
        text = f"(?!/)[{'^' if negated else ''}{body}]"
        try:
            re.compile(text)
        except re.error as error:
            raise ValueError(str(error)) from None
        return text

    def _alternatives(self, depth: int) -> str:
        self.at += 1
        options: list[str] = []
        while True:
            options.append(self.sequence(depth + 1))
            if self.at >= len(self.pattern):
                raise ValueError("a { without a }")
            self.at += 1
            if self.pattern[self.at - 1] == "}":
                return f"(?:{'|'.join(options)})"
