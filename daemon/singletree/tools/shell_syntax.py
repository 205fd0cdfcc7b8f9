"""Reads a command line as bash would, far enough to name every command it may run.

Chains, pipes, subshells, substitutions of every kind, heredocs and redirections are followed. What
is not understood is said (`problem`), never guessed: whoever judges then asks a person. Runs
nothing, expands nothing. Read next: command.py (what the commands mean).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_LENGTH = 50_000
MAX_DEPTH = 25

_SKIPPED = frozenset(
    ["!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done"]
)
_REFUSED = {
    "for": "a for loop sets a variable",
    "select": "a select loop sets a variable",
    "case": "case … esac is not followed",
    "function": "it defines a function",
    "coproc": "coproc is not followed",
    "[[": "[[ … ]] is not followed",
}
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[[^\]]*\])?\+?=")
_REDIRECT = re.compile(r"(\d*)(<<<|<<-|<<|<>|<&|>&|>>|>\||>|<)|(&>>|&>)")
_ARITHMETIC = re.compile(r"[\w\s+\-*/%<>=!&|^~?:,()]*")
_NAME = re.compile(r"\w+|[@*#?$!-]")
_ANSI = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"', "?": "?", "r": "\r", "e": "\033"}


@dataclass(frozen=True, slots=True)
class Word:
    """A word after quotes are removed. `fixed`: no expansion can change it.

    `pattern`: it holds an unquoted glob or brace; `quoted`: part of it was quoted.
    """

    text: str
    fixed: bool = True
    pattern: bool = False
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Redirect:
    """`operator` with its target; for a heredoc the target is its body."""

    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command: names it assigns, its words, its redirections."""

    assigned: tuple[str, ...]
    words: tuple[Word, ...]
    redirects: list[Redirect]


@dataclass(slots=True)
class Script:
    """All simple commands of a line, the ones inside substitutions too, and the first problem."""

    commands: list[Simple] = field(default_factory=list)
    problem: str = ""


class Unclear(Exception):
    """Why a line is not understood."""


def read_script(line: str, depth: int = 0) -> Script:
    """Every command of a line."""
    script = Script()
    try:
        if len(line) > MAX_LENGTH or depth > MAX_DEPTH:
            raise Unclear("it is too long or too deep")
        reader = _Reader(line, script, depth)
        reader.commands("")
    except Unclear as problem:
        script.problem = str(problem)
    return script


class _Reader:
    """One pass over a text, left to right, as bash's own reader goes."""

    def __init__(self, text: str, script: Script, depth: int) -> None:
        self._text = text
        self._at = 0
        self._script = script
        self._depth = depth
        self._heredocs: list[tuple[list[Redirect], str, bool, bool]] = []

    # -- commands

    def commands(self, closer: str) -> None:
        """Up to `closer`, or to the end if there is none."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Unclear("it is too deep")
        while True:
            self._blanks()
            char = self._peek()
            if not char:
                if closer or self._heredocs:
                    raise Unclear("something is not closed")
                break
            if char == closer:
                self._at += 1
                break
            self._command(char)
        self._depth -= 1

    def _command(self, char: str) -> None:
        if char == "\n":
            self._newline()
        elif self._text.startswith((";;", ";&"), self._at):
            raise Unclear("case … esac is not followed")
        elif char in ";&|" and not self._text.startswith("&>", self._at):
            self._at += 1
        elif self._text.startswith("((", self._at):
            raise Unclear("(( … )) is not followed")
        elif char == "(":
            self._at += 1
            self.commands(")")
        elif char == ")":
            raise Unclear("a ) without its (")
        else:
            self._simple()

    def _simple(self) -> None:
        assigned: list[str] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            self._blanks()
            char = self._peek()
            if not char or char in "\n;|)" or (char == "&" and self._peek(1) != ">"):
                break
            if char == "(":
                raise Unclear("it defines a function or an array")
            if self._redirect(redirects):
                continue
            if not words and (name := self._assignment()):
                assigned.append(name)
                continue
            word = self._word()
            if not words and not assigned and not redirects and not word.quoted:
                if word.text in _REFUSED:
                    raise Unclear(_REFUSED[word.text])
                if word.text in _SKIPPED:
                    return
            words.append(word)
        if assigned or words or redirects:
            self._script.commands.append(Simple(tuple(assigned), tuple(words), redirects))

    def _assignment(self) -> str:
        found = _ASSIGNMENT.match(self._text, self._at)
        if not found:
            return ""
        if found[2]:
            raise Unclear("it assigns to an array")
        self._at = found.end()
        if self._peek() == "(":
            raise Unclear("it assigns an array")
        if self._peek() and self._peek() not in " \t\n;&|<>":
            self._word()
        return found[1]

    # -- blanks, newlines, heredocs

    def _blanks(self) -> None:
        while True:
            char = self._peek()
            if char in (" ", "\t"):
                self._at += 1
            elif self._text.startswith("\\\n", self._at):
                self._at += 2
            elif char == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                return

    def _newline(self) -> None:
        self._at += 1
        waiting, self._heredocs = self._heredocs, []
        for redirects, delimiter, quoted, tabs in waiting:
            lines: list[str] = []
            while True:
                if self._at >= len(self._text):
                    raise Unclear("a heredoc is not closed")
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line = self._text[self._at : end]
                self._at = min(end + 1, len(self._text))
                line = line.lstrip("\t") if tabs else line
                if line == delimiter:
                    break
                lines.append(line)
            body = "".join(f"{line}\n" for line in lines)
            fixed = quoted or self._inside(body)
            redirects.append(Redirect("<<", Word(body, fixed, quoted=quoted)))

    def _inside(self, body: str) -> bool:
        """Follow the substitutions of a heredoc; whether it had no expansion."""
        inner = _Reader(body, self._script, self._depth)
        return inner._quoted("")[1]

    def _redirect(self, redirects: list[Redirect]) -> bool:
        if self._text.startswith(("<(", ">("), self._at):
            return False
        if re.match(r"\{\w+\}[<>]", self._text[self._at : self._at + 80]):
            raise Unclear("it opens a descriptor by name")
        found = _REDIRECT.match(self._text, self._at)
        if not found:
            return False
        self._at = found.end()
        operator = found[2] or found[3]
        self._blanks()
        if not self._peek() or self._peek() in "\n;&|()":
            raise Unclear("a redirection without a target")
        if operator in ("<<", "<<-"):
            start = self._at
            word = self._word()
            if not word.fixed or "\n" in word.text:
                raise Unclear("the end mark of a heredoc is not plain")
            quoted = word.quoted or "\\" in self._text[start : self._at]
            self._heredocs.append((redirects, word.text, quoted, operator == "<<-"))
        else:
            redirects.append(Redirect(operator, self._word()))
        return True

    # -- words

    def _word(self) -> Word:
        """One word; the reader stands at its first character."""
        parts: list[str] = []
        fixed, pattern, quoted = True, False, False
        while char := self._peek():
            if char in " \t\n;&|)" or (char in "<>" and self._peek(1) != "("):
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
                pattern = pattern or char in "*?[" or (char == "{" and self._peek(1) != "}")
                parts.append(self._plain(char))
        return Word("".join(parts), fixed, pattern, quoted)

    def _plain(self, char: str) -> str:
        if not char.isprintable():
            raise Unclear("it holds an invisible character outside quotes")
        self._at += 1
        return char

    def _escaped(self, parts: list[str]) -> bool:
        following = self._peek(1)
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
        return self._quoted('"')

    def _ansi(self) -> tuple[str, bool]:
        """$'…': known escapes are read, others leave the word unknown."""
        parts: list[str] = []
        fixed = True
        while (char := self._peek()) != "'":
            if not char:
                raise Unclear("a quote is not closed")
            if char == "\\":
                self._at += 1
                char = self._peek()
                fixed = fixed and char in _ANSI
                char = _ANSI.get(char, char)
            parts.append(char)
            self._at += 1
        self._at += 1
        return "".join(parts), fixed

    def _quoted(self, closer: str) -> tuple[str, bool]:
        """Inside double quotes, or a heredoc's body (no closer)."""
        parts: list[str] = []
        fixed = True
        while True:
            char = self._peek()
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
                following = self._peek(1)
                self._at += 2
                parts.append("" if following == "\n" else following)
                if following not in '$`"\\\n':
                    parts.insert(-1, "\\")
            else:
                parts.append(char)
                self._at += 1

    # -- expansions

    def _expansion(self, char: str, *, inside: bool = False) -> tuple[str, bool]:
        """What begins with $ or `; its value is not known, the commands in it are."""
        if char == "`":
            self._backticks(inside)
            return "", False
        following = self._peek(1)
        if self._text.startswith("$((", self._at):
            self._arithmetic()
        elif following == "(":
            self._at += 2
            self.commands(")")
        elif following == "{":
            self._at += 2
            self._parameter()
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
        _Reader(body, self._script, self._depth).commands("")

    def _arithmetic(self) -> None:
        found = _ARITHMETIC.match(self._text, self._at + 3)
        text = found[0] if found else ""
        level = 0
        for index, char in enumerate(text):
            level += {"(": 1, ")": -1}.get(char, 0)
            if level < 0:
                if text[index : index + 2] != "))":
                    break
                self._at += 3 + index + 2
                return
        raise Unclear("arithmetic with more than names and numbers is not followed")

    def _parameter(self) -> None:
        """${…}: only what it may run or set matters."""
        head = re.match(r"!?(?:\w+|[@*#?$!-])(?:\[[\w@*]+\])?", self._text[self._at :])
        if head:
            self._at += head.end()
        rest = self._text[self._at : self._at + 2]
        if rest[:1] == "=" or rest == ":=" or re.match(r"@[^}]*P", self._text[self._at :]):
            raise Unclear("a ${…} that sets or runs something")
        while (char := self._peek()) != "}":
            if not char:
                raise Unclear("a ${ is not closed")
            if char in "'\"":
                self._quote(char)
            elif char in "$`":
                self._expansion(char)
            else:
                self._at += 2 if char == "\\" else 1
        self._at += 1

    def _peek(self, ahead: int = 0) -> str:
        return self._text[self._at + ahead : self._at + ahead + 1]
