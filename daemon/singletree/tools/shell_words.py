"""Reads one word of a command line as bash would: quotes, expansions, substitutions.

What a word becomes is known only if nothing in it expands; commands inside it are handed to whoever
reads commands. Runs nothing, expands nothing. Read next: shell_syntax.py (commands).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass

from singletree.tools.shell_begins import begins_known

MAX_DEPTH = 25
TOO_DEEP = "it is too long or too deep"
HOME = re.compile(r"\$(?:HOME\b|\{HOME\})", re.ASCII)

_ARITHMETIC = re.compile(r"[\w\s+\-*/%<>=!&|^~?:,()]*", re.ASCII)
_SETS = re.compile(r"(?<![=!<>])=(?!=)|<<=|>>=|\+\+|--")
_OFFSET = re.compile(r":(?![-+=?])")
_NAME = re.compile(r"\w+|[@*#?$!-]", re.ASCII)
_PARAMETER = re.compile(r"!?(?:\w+|[@*#?$!-])(?:\[[\w@*]+\])?", re.ASCII)
_ANSI = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"', "?": "?", "r": "\r", "e": "\033"}


@dataclass(frozen=True, slots=True)
class Word:
    """A word after quotes are removed; of what expands, only a home is in it, as `~`.

    `fixed`: no expansion can change it.

    `pattern`: it holds an unquoted glob or brace; `quoted`: part of it was quoted;
    `begins`: nothing that the line makes, and no name of a file, says how it begins or into how
    many words it falls.
    """

    text: str
    fixed: bool = True
    pattern: bool = False
    quoted: bool = False
    begins: bool = True


class Unclear(Exception):
    """Why a line is not understood."""


class WordReader(ABC):
    """The reader of a text, standing at `_at`; knows words, and leaves commands to its heirs."""

    def __init__(self, text: str, depth: int) -> None:
        self._text = text
        self._depth = depth
        self._at = 0

    @abstractmethod
    def commands(self, closer: str) -> None:
        """Read commands up to `closer`."""

    @abstractmethod
    def heard(self, word: Word) -> None:
        """A word was read, wherever it stands."""

    @abstractmethod
    def follow(self, body: str) -> None:
        """Read another text as commands."""

    def word(self) -> Word:
        """One word; the reader stands at its first character."""
        parts: list[str] = []
        fixed, pattern, quoted, start = True, False, False, self._at
        while char := self.peek():
            if char in " \t\n;&|)" or (char in "<>" and self.peek(1) != "("):
                break
            if char in "<>":
                self._at += 2
                self.commands(")")
                fixed = False
            elif char == "(":
                raise Unclear("it defines a function or uses an extended glob")
            elif char in "'\"" or self._text.startswith(("$'", '$"'), self._at):
                text, same = self._quote(char)
                parts.append(text)
                fixed, quoted = fixed and same, True
            elif char in "$`":
                text, same = self._expansion(char)
                parts.append(text)
                fixed = fixed and same
            elif char == "\\":
                quoted = self._escaped(parts) or quoted
            else:
                pattern = pattern or char in "*?[" or (char == "{" and self.peek(1) != "}")
                parts.append(self._plain(char))
        text = "".join(parts)
        begins = begins_known(self._text[start : self._at], text, fixed=fixed, pattern=pattern)
        word = Word(text, fixed, pattern, quoted, begins)
        self.heard(word)
        return word

    def _plain(self, char: str) -> str:
        if not char.isprintable():
            raise Unclear("it holds an invisible character outside quotes")
        self._at += 1
        return char

    def _escaped(self, parts: list[str]) -> bool:
        following = self.peek(1)
        self._at += 2
        if following == "\n":
            return False
        parts.append(following or "\\")
        return True

    def _quote(self, char: str) -> tuple[str, bool]:
        if char == "'":
            end = self._text.find("'", self._at + 1)
            if end < 0:
                raise Unclear("a quote is not closed")
            text = self._text[self._at + 1 : end]
            self._at = end + 1
            return text, True
        if self._text.startswith("$'", self._at):
            self._at += 2
            return self._ansi()
        self._at += 2 if char == "$" else 1
        return self.quoted('"')

    def _ansi(self) -> tuple[str, bool]:
        """$'…': known escapes are read, others leave the word unknown."""
        parts: list[str] = []
        fixed = True
        while (char := self.peek()) != "'":
            if not char:
                raise Unclear("a quote is not closed")
            if char == "\\":
                self._at += 1
                char = self.peek()
                fixed = fixed and char in _ANSI
                char = _ANSI.get(char, char)
            parts.append(char)
            self._at += 1
        self._at += 1
        return "".join(parts), fixed

    def quoted(self, closer: str) -> tuple[str, bool]:
        """Inside double quotes, or a heredoc's body (no closer)."""
        parts: list[str] = []
        fixed = True
        while True:
            char = self.peek()
            if not char and closer:
                raise Unclear("a quote is not closed")
            if char == closer:
                self._at += 1
                return "".join(parts), fixed
            if char in "$`":
                text, same = self._expansion(char, inside=True)
                parts.append(text)
                fixed = fixed and same
            elif char == "\\":
                following = self.peek(1)
                self._at += 2
                parts.append("" if following == "\n" else following)
                if following not in '$`"\\\n':
                    parts.insert(-1, "\\")
            else:
                parts.append(char)
                self._at += 1

    # -- expansions

    def _expansion(self, char: str, *, inside: bool = False) -> tuple[str, bool]:
        """What begins with $ or `; its value is not known, but for a home, and the commands are."""
        if char == "`":
            self._backticks(inside)
            return "", False
        if home := HOME.match(self._text, self._at):
            self._at = home.end()
            return "~", False
        following = self.peek(1)
        if self._text.startswith("$\\\n", self._at):
            raise Unclear("a $ goes on in the next line")
        if self._text.startswith("$((", self._at):
            self._arithmetic()
        elif following == "(":
            self._at += 2
            self.commands(")")
        elif following == "{":
            self._at += 2
            self._parameter(inside)
        elif following == "[":
            raise Unclear("$[ … ] is not followed")
        elif name := _NAME.match(self._text, self._at + 1):
            self._at = name.end() if name[0][0].isalpha() or name[0][0] == "_" else self._at + 2
        else:
            self._at += 1
            return "$", True
        return "", False

    def _backticks(self, inside: bool) -> None:
        end = self._at + 1
        while self._text[end : end + 1] != "`":
            if end >= len(self._text):
                raise Unclear("a backtick is not closed")
            end += 2 if self._text[end] == "\\" else 1
        body = self._text[self._at + 1 : end]
        self._at = end + 1
        body = re.sub(r'\\([$`\\"])' if inside else r"\\([$`\\])", r"\1", body)
        self.follow(body)

    def _arithmetic(self) -> None:
        found = _ARITHMETIC.match(self._text, self._at + 3)
        text = found[0] if found else ""
        level = 0
        for index, char in enumerate(text):
            level += {"(": 1, ")": -1}.get(char, 0)
            if level < 0:
                if text[index : index + 2] != "))" or _SETS.search(text, 0, index):
                    break
                self._at += 3 + index + 2
                return
        raise Unclear("arithmetic that sets a variable, or has more than names, is not followed")

    def _parameter(self, inside: bool) -> None:
        """${…}: only what it may run or set matters."""
        self.deeper()
        head = _PARAMETER.match(self._text, self._at)
        if head is None:
            raise Unclear("${ … } with a command in it is not followed")
        self._at = head.end()
        begun, rest = self._at, self._text[self._at : self._at + 2]
        if rest[:1] == "=" or rest == ":=" or re.match(r"@[^}]*P", self._text[self._at :]):
            raise Unclear("a ${…} that sets or runs something")
        while (char := self.peek()) != "}":
            if not char:
                raise Unclear("a ${ is not closed")
            if char == "'" and inside:
                raise Unclear("a ' in a ${…} between quotes means now this, now that")
            if self._text.startswith("\\\n", self._at):
                raise Unclear("a ${…} goes on in the next line")
            if char in "'\"" or (not inside and self._text.startswith("$'", self._at)):
                self._quote(char)
            elif char in "$`":
                self._expansion(char, inside=inside)
            else:
                self._at += 2 if char == "\\" else 1
        if _OFFSET.match(rest) and _SETS.search(self._text, begun, self._at):
            raise Unclear("a ${…} that sets or runs something")
        self._at += 1
        self._depth -= 1

    def deeper(self) -> None:
        """One level further in, if there may be one more."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Unclear(TOO_DEEP)

    def peek(self, ahead: int = 0) -> str:
        """The character here, or so many further on; "" behind the end."""
        return self._text[self._at + ahead : self._at + ahead + 1]
