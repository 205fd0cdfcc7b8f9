"""What a command line would do, for whoever judges it: every command in it, and what it writes.

Programs that run other programs (env, xargs, find -exec, bash -c, sudo …) are looked into. A
pattern is the beginning of a command, word by word (`git status`), `=` before a whole line means
exactly that line, `*` means any. Never decides and never runs anything. Read next:
shell_syntax.py (how a line is read), ../session/permission/gate.py (who judges).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache

from singletree.tools.programs import (
    RUNNERS,
    SETTERS,
    SHELLS,
    TRANSPARENT,
    Argv,
    carrier,
    may_carry,
    only_options,
)
from singletree.tools.shell_begins import HARMLESS_SETTINGS
from singletree.tools.shell_syntax import Simple, read_script
from singletree.tools.shell_words import HOME, MAX_DEPTH, TOO_DEEP, Unclear, Word

SETS = "it sets {name} for a command"
WRITES = "it writes to {target}"
UNKNOWN_PROGRAM = "the program to run is known only when it runs"
UNKNOWN_NAME = "what it sets is known only when it runs"
UNKNOWN_SCRIPT = "a script is known only when it runs"
UNKNOWN_OPTIONS = "the options of {program} are known only when it runs"
CARRIES = "{program} can do more than its name says with {option}"
CONNECTS = "it opens a connection to {target}"
DELETES = "find deletes or writes files with {option}"
OTHERWISE = "{program} may read it otherwise than bash"

MOST = 2000
"""Commands that are looked at; a line with more of them is asked for."""
LONGEST = 32
"""Words of a hidden command that are kept: no pattern has more."""

HARMLESS_TARGETS = frozenset(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"])

_GIT_VALUE = frozenset(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"])
GIT_HARMLESS = frozenset(["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"])
_FIND_RUNS = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_FIND_WRITES = frozenset(["-delete", "-fls", "-fprint", "-fprint0", "-fprintf"])
_CONNECTION = re.compile(r"/+dev/+(?:tcp|udp)/")
_GIVEN = Word("", fixed=False, begins=False)
"""What xargs puts behind a command."""
_SETTING = re.compile(r"([A-Za-z_]\w*)=")
_PLAIN_WORDS = re.compile(r"""[^\s;&|()<>`'"${}\\]+""")
"""What is looked at in a line that is not understood, for what is forbidden."""
_BASH_ALONE = re.compile(
    r"""&>|>&\s*[^\s\d-]|\|&|<<<|[<>]\(|\$['"\[]|\$\{(?!\w+\})|\[\[|;&|\btime\b"""
)
"""What only bash is sure to read as bash does: `ls &>x y` starts y in another shell."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A line, understood as far as it could be.

    `commands` must all be allowed for the line to be. `hidden` are further readings, in which only
    what is forbidden is looked for. `writes` are targets of redirections (None: unknown). `words`
    are all that stand anywhere in it, without what expands, but with `~` for a home.
    `doubts` say why a person has to look even if every command is allowed. `whole`: no word was
    left unseen because the line is too long or too deep.
    """

    commands: tuple[Argv, ...]
    hidden: tuple[Argv, ...]
    writes: tuple[str | None, ...]
    doubts: tuple[str, ...]
    words: tuple[str, ...]
    whole: bool


def parse_command(line: str, shell: str = "bash") -> Parsed:
    """Every command a line may run, given to this program."""
    found = _Findings(shell.rpartition("/")[2])
    try:
        found.line(line, 0)
    except Unclear as problem:
        found.doubts.append(str(problem))
    return Parsed(
        tuple(dict.fromkeys(found.commands)),
        tuple(dict.fromkeys(found.hidden)),
        tuple(dict.fromkeys(found.writes)),
        tuple(dict.fromkeys(found.doubts)),
        tuple(dict.fromkeys(found.words)),
        TOO_DEEP not in found.doubts,
    )


def exactly(pattern: str, line: str) -> bool:
    """Whether a pattern means this whole line."""
    return pattern.startswith("=") and pattern[1:].strip() == line.strip()


def matches(pattern: str, argv: Argv, line: str) -> bool:
    """Whether a pattern covers a command of the line."""
    if pattern.startswith("="):
        return exactly(pattern, line)
    words = _beginning(pattern)
    return words is not None and argv[: len(words)] == words


@lru_cache(maxsize=256)
def _beginning(pattern: str) -> tuple[str, ...] | None:
    """The words that a pattern wants at the beginning; None where it means nothing."""
    try:
        words = shlex.split(pattern)
    except ValueError:
        return None
    return tuple(words[:-1] if words[-1] == "*" else words) if words else None


def forbidden(pattern: str, parsed: Parsed, line: str) -> bool:
    """Whether any reading of the line runs what the pattern names, whatever its folder."""
    for argv in (*parsed.commands, *parsed.hidden):
        forms = [argv, *_plain_forms(argv)]
        if any(matches(pattern, form, line) for form in forms):
            return True
    return False


@dataclass(slots=True)
class _Findings:
    shell: str
    """The program that reads the line."""
    commands: list[Argv] = field(default_factory=list)
    hidden: list[Argv] = field(default_factory=list)
    writes: list[str | None] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def line(self, line: str, depth: int) -> None:
        if self.shell != "bash" and (self.shell not in SHELLS or _BASH_ALONE.search(line)):
            self.doubts.append(OTHERWISE.format(program=self.shell))
        script = read_script(line, depth)
        self.words += script.words
        for simple in script.commands:
            self.simple(simple, depth)
        if script.problem:
            self.doubts.append(script.problem)
            words = _PLAIN_WORDS.findall(HOME.sub("~", line))
            if len(words) >= MOST:
                self.doubts.append(TOO_DEEP)
            self.words += words
            self._hide(("", *words[: MOST - 1]))

    def simple(self, simple: Simple, depth: int) -> None:
        self.settings(simple.assigned)
        for redirect in simple.redirects:
            if _CONNECTION.match(redirect.target.text):
                self.doubts.append(CONNECTS.format(target=redirect.target.text))
            if ">" in redirect.operator and not self._harmless(redirect.operator, redirect.target):
                target = redirect.target
                self.writes.append(target.text if target.fixed and not target.pattern else None)
                self.doubts.append(WRITES.format(target=target.text or "an unknown file"))
        if simple.words:
            fed = [r.target for r in simple.redirects if r.operator in ("<<", "<<<")]
            self.command(simple.words, fed, depth)

    def settings(self, names: Iterable[str]) -> None:
        for name in names:
            if not HARMLESS_SETTINGS.fullmatch(name):
                self.doubts.append(SETS.format(name=name))

    def command(self, words: Sequence[Word], fed: Sequence[Word], depth: int) -> None:
        """One command and what it starts."""
        if depth > MAX_DEPTH or len(self.commands) + len(self.hidden) > MOST:
            raise Unclear(TOO_DEEP)
        first = words[0]
        if not first.fixed or first.pattern:
            self.doubts.append(UNKNOWN_PROGRAM)
            self.commands.append((None,))
            return
        argv = tuple(word.text if word.fixed else None for word in words)
        program = first.text.rpartition("/")[2]
        if program in TRANSPARENT and self._started(program, words, fed, depth):
            return
        if program in SHELLS and self._shell(words, fed, depth):
            return
        if first.text == "eval":
            self._eval(words[1:], depth)
            return
        self.commands.append(_without_harmless(argv))
        self._more(program, argv, words, depth)

    def _more(self, program: str, argv: Argv, words: Sequence[Word], depth: int) -> None:
        """What a command may do beyond what its name says."""
        if program in RUNNERS:
            self._runs(argv, depth)
        if program == "find":
            self._find(words, depth)
        if program in SETTERS:
            self._sets(words[1:])
        for name, options in _parts(program, argv):
            if option := carrier(name, options):
                self.doubts.append(CARRIES.format(program=name, option=option))
            if may_carry(name) and not _settled(name, words):
                self.doubts.append(UNKNOWN_OPTIONS.format(program=name))

    def _started(
        self, program: str, words: Sequence[Word], fed: Sequence[Word], depth: int
    ) -> bool:
        """Go on with what env, nice, xargs … start; False if they start nothing."""
        at = _after_options(words, TRANSPARENT[program])
        options = [word.text for word in words[1:at]]
        if program == "timeout":
            at += 1
        if any(not word.fixed or word.pattern for word in words[1:at]):
            self.doubts.append(UNKNOWN_PROGRAM)
        if any(o.startswith("--") and "=" not in o for o in options if o != "--"):
            self._hide(tuple(word.text if word.fixed else None for word in words))
        if program == "command" and any(o.startswith(("-v", "-V")) for o in options):
            return False
        if program == "env":
            if any(o.startswith(("-S", "--split", "-C", "--chdir")) for o in options):
                self.doubts.append(CARRIES.format(program="env", option=options[0]))
            while at < len(words) and (setting := _SETTING.match(words[at].text)):
                self.settings([setting[1]])
                at += 1
        if program == "time" and any(o.startswith(("-o", "--output")) for o in options):
            self.doubts.append(WRITES.format(target="the file of time -o"))
        if at >= len(words):
            return False
        given = (_GIVEN,) if program == "xargs" else ()
        self.command((*words[at:], *given), fed, depth + 1)
        return True

    def _shell(self, words: Sequence[Word], fed: Sequence[Word], depth: int) -> bool:
        """Read the script of `bash -c …` or of a heredoc; False if there is none to read."""
        at = 1
        script: Word | None = None
        while at < len(words) and words[at].fixed and words[at].text[:1] in ("-", "+"):
            option = words[at].text
            if option.startswith("--") or option in ("-i", "-O", "+O"):
                return False
            if option[-1] == "o" and any(not _unlike(w, "posix") for w in words[at + 1 : at + 2]):
                return False
            at += 2 if option[-1] == "o" else 1
            if option.startswith("-") and "c" in option:
                script = words[at] if at < len(words) else None
                break
        if script is None:
            if at < len(words) or not fed:
                return False
            script = fed[-1]
        if not script.fixed:
            self.doubts.append(UNKNOWN_SCRIPT)
            return False
        outside, self.shell = self.shell, words[0].text.rpartition("/")[2]
        self.line(script.text, depth + 1)
        self.shell = outside
        return True

    def _eval(self, words: Sequence[Word], depth: int) -> None:
        if all(word.fixed and not word.pattern for word in words):
            self.line(" ".join(word.text for word in words), depth + 1)
        else:
            self.doubts.append(UNKNOWN_SCRIPT)

    def _sets(self, words: Sequence[Word]) -> None:
        """export, read, unset …: the same doubts as about `NAME=value` before a command."""
        for word in words:
            if not (word.fixed or (word.begins and _SETTING.match(word.text))):
                self.doubts.append(UNKNOWN_NAME)
            elif not word.text.startswith(("-", "+")):
                self.settings([word.text.partition("=")[0]])

    def _runs(self, argv: Argv, depth: int) -> None:
        """What sudo, ssh, watch … may run: looked at for what is forbidden."""
        self._hide(argv)
        for word in argv[1:]:
            if word is not None and " " in word:
                inner = _Findings(self.shell)
                inner.line(word, depth + 1)
                self.hidden += [*inner.commands, *inner.hidden]
                self.words += inner.words
                if TOO_DEEP in inner.doubts:
                    self.doubts.append(TOO_DEEP)

    def _hide(self, argv: Argv) -> None:
        """Every end of a command, as a command that it may run."""
        if len(argv) > MOST:
            raise Unclear(TOO_DEEP)
        self.hidden.extend(argv[start : start + LONGEST] for start in range(1, len(argv)))

    def _find(self, words: Sequence[Word], depth: int) -> None:
        for at, word in enumerate(words):
            if word.text in _FIND_WRITES:
                self.doubts.append(DELETES.format(option=word.text))
                if word.text == "-delete":
                    self.hidden.append(("rm",))
            if word.text in _FIND_RUNS:
                inner = words[at + 1 :]
                ends = (i for i, w in enumerate(inner) if w.text in (";", "+"))
                if inner := inner[: next(ends, len(inner))]:
                    self.command(inner, (), depth + 1)

    @staticmethod
    def _harmless(operator: str, target: Word) -> bool:
        if operator == ">&" and re.fullmatch(r"\d+-?|-", target.text):
            return True
        return target.fixed and target.text in HARMLESS_TARGETS


def _unlike(word: Word, name: str) -> bool:
    """Whether a word is known and another one."""
    return word.fixed and word.text != name


def _settled(program: str, words: Sequence[Word]) -> bool:
    """Whether no word can become an option that is not seen; find's are known as a whole."""
    if only_options(program):
        end = next(
            (at for at, word in enumerate(words) if word.fixed and word.text == "--"), len(words)
        )
        words = words[:end]
    if program == "find":
        return all(word.begins or _no_option_of_find(word) for word in words)
    return all(word.begins for word in words)


def _no_option_of_find(word: Word) -> bool:
    if not word.fixed or "{" in word.text:
        return False
    return not any(fnmatchcase(option, word.text) for option in _FIND_RUNS | _FIND_WRITES)


def _after_options(words: Sequence[Word], with_value: str) -> int:
    """Where the command begins that a wrapper starts."""
    at = 1
    while at < len(words) and words[at].text.startswith("-") and words[at].text != "-":
        option = words[at].text
        at += 1
        if option == "--":
            break
        takes = len(option) == 2 and option[1] in with_value
        at += 1 if takes else 0
    return at


def _parts(program: str, argv: Argv) -> list[tuple[str, list[str]]]:
    """A program with its options; git also as its subcommand with that one's options."""
    words = [word for word in argv[1:] if word is not None]
    if program != "git":
        return [(program, words)]
    at = _git_command(argv)
    own = [word for word in argv[1:at] if word is not None]
    rest = [word for word in argv[at + 1 :] if word is not None]
    return [("git", own), (f"git {argv[at] if at < len(argv) else ''}", rest)]


def _without_harmless(argv: Argv) -> Argv:
    """Git without options that change nothing but how it shows things."""
    while argv[:1] == ("git",) and len(argv) > 1 and argv[1] in GIT_HARMLESS:
        argv = (argv[0], *argv[2:])
    return argv


def _git_command(argv: Argv) -> int:
    """Where git's subcommand stands."""
    at = 1
    while at < len(argv) and (word := argv[at]) is not None and word.startswith("-"):
        at += 2 if word in _GIT_VALUE else 1
    return min(at, len(argv))


def _plain_forms(argv: Argv) -> list[Argv]:
    """The same command without the folder of its program, and git without its own options."""
    if not argv or argv[0] is None:
        return []
    program = argv[0].rpartition("/")[2]
    forms: list[Argv] = [(program, *argv[1:])]
    if program == "git":
        forms.append(("git", *argv[_git_command(argv) :]))
    return forms
