"""Reads a command line as bash would, far enough to name every command it may run.

Chains, pipes, subshells, substitutions of every kind, heredocs and redirections are followed. What
is not understood is said (`problem`), never guessed: whoever judges then asks a person. Runs
nothing, expands nothing. Read next: shell_words.py (words), command.py (what the commands mean).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from singletree.tools.shell_words import MAX_DEPTH, TOO_DEEP, Unclear, Word, WordReader

MAX_LENGTH = 50_000

_SKIPPED = frozenset(
    ["!", "time", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done"]
)
_REFUSED = {
    "for": "a for loop sets a variable",
    "select": "a select loop sets a variable",
    "case": "case … esac is not followed",
    "function": "it defines a function",
    "coproc": "coproc is not followed",
    "[[": "[[ … ]] is not followed",
}
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[[^\]]*\])?\+?=", re.ASCII)
_REDIRECT = re.compile(r"(\d*)(<<<|<<-|<<|<>|<&|>&|>>|>\||>|<)|(&>>|&>)", re.ASCII)
_TIME_OPTION = re.compile(r"(?:-p|--)(?=[ \t])")
_NAMED_DESCRIPTOR = re.compile(r"\{\w+\}[<>]")


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
    """All simple commands of a line, the ones inside substitutions too, and the first problem.

    `words`: every word that was read, wherever it stood.
    """

    commands: list[Simple] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    problem: str = ""


def read_script(line: str, depth: int = 0) -> Script:
    """Every command of a line."""
    script = Script()
    try:
        if len(line) > MAX_LENGTH or depth > MAX_DEPTH:
            raise Unclear(TOO_DEEP)
        reader = _Reader(line, script, depth)
        reader.commands("")
    except Unclear as problem:
        script.problem = str(problem)
    return script


class _Reader(WordReader):
    """One pass over a text, left to right, as bash's own reader goes."""

    def __init__(self, text: str, script: Script, depth: int) -> None:
        super().__init__(text, depth)
        self._script = script
        self._heredocs: list[tuple[list[Redirect], str, bool, bool]] = []

    def heard(self, word: Word) -> None:
        """Keep it for those who ask what a line names."""
        self._script.words.append(word.text)

    def follow(self, body: str) -> None:
        """Read another text as commands of this one."""
        _Reader(body, self._script, self._depth).commands("")

    def commands(self, closer: str) -> None:
        """Up to `closer`, or to the end if there is none."""
        self.deeper()
        while True:
            self._blanks()
            char = self.peek()
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
            char = self.peek()
            if not char or char in "\n;|)" or (char == "&" and self.peek(1) != ">"):
                break
            if char == "(":
                raise Unclear("it defines a function or an array")
            if self._redirect(redirects):
                continue
            if not words and (name := self._assignment()):
                assigned.append(name)
                continue
            word = self.word()
            if not (words or assigned or redirects) and self._is_keyword(word):
                return
            words.append(word)
        if assigned or words or redirects:
            self._script.commands.append(Simple(tuple(assigned), tuple(words), redirects))

    def _is_keyword(self, word: Word) -> bool:
        """Whether a first word belongs to the language, so that a command may follow.

        `time` does: settings, groups and whole pipelines may stand behind it and its options.
        """
        if word.quoted:
            return False
        if word.text in _REFUSED:
            raise Unclear(_REFUSED[word.text])
        self._blanks()
        while word.text == "time" and (found := _TIME_OPTION.match(self._text, self._at)):
            self._at = found.end()
            self._blanks()
        return word.text in _SKIPPED

    def _assignment(self) -> str:
        found = _ASSIGNMENT.match(self._text, self._at)
        if not found:
            return ""
        if found[2]:
            raise Unclear("it assigns to an array")
        self._at = found.end()
        if self.peek() == "(":
            raise Unclear("it assigns an array")
        if self.peek() and self.peek() not in " \t\n;&|<>":
            self.word()
        return found[1]

    def _blanks(self) -> None:
        while True:
            char = self.peek()
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
        return inner.quoted("")[1]

    def _redirect(self, redirects: list[Redirect]) -> bool:
        if self._text.startswith(("<(", ">("), self._at):
            return False
        if _NAMED_DESCRIPTOR.match(self._text, self._at):
            raise Unclear("it opens a descriptor by name")
        found = _REDIRECT.match(self._text, self._at)
        if not found:
            return False
        self._at = found.end()
        operator = found[2] or found[3]
        self._blanks()
        if not self.peek() or self.peek() in "\n;&|()":
            raise Unclear("a redirection without a target")
        if operator in ("<<", "<<-"):
            start = self._at
            word = self.word()
            if not word.fixed or "\n" in word.text:
                raise Unclear("the end mark of a heredoc is not plain")
            quoted = word.quoted or "\\" in self._text[start : self._at]
            self._heredocs.append((redirects, word.text, quoted, operator == "<<-"))
        else:
            redirects.append(Redirect(operator, self.word()))
        return True
