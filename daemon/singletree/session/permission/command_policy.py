"""What follows for a command line, from every command in it.

Text people read stands in the constants. Never asks and never runs anything. Read next:
../../tools/command.py (how a line is taken apart).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import anyio

from singletree.errors import ToolError
from singletree.excerpt import excerpt
from singletree.globs import alternatives
from singletree.session.permission.asking import Asking
from singletree.session.permission.places import Place, Places
from singletree.session.permission.rules import Rule
from singletree.session.permission.verdict import ALLOW, ASK_PRIVATE, READ_ONLY, RULE, Mode, Verdict
from singletree.tools.command import Parsed, exactly, forbidden, matches, parse_command
from singletree.tools.programs import Argv, suggest
from singletree.tools.world import World

ASK_COMMAND = "No rule allows {commands}."
ASK_FREE = "It would run outside the sandbox, with the network and all files."
ASK_DOUBT = "Rules allow its commands, but {doubt}."
ASK_UNSEEN = "It is too long to be searched for what rules forbid."
ASK_UNREAD = "It cannot be read with certainty: {doubt}."

OUTSIDE_SANDBOX = ", outside the sandbox"
EXACTLY = "exactly this command line"
STARTING = "commands that start with {patterns}"

BASH, UNCONFINED = "bash", "bash unconfined"
"""Families of rules: commands, and commands outside the sandbox."""

MAX_PATTERNS = 3
MAX_OPTIONS = 50
"""Words that a word with braces stands for, up to which each is looked at."""
MAX_TITLE = 200


_BRACES = re.compile(r"\{[^/]*\}")


class CommandPolicy:
    """Judges command lines. `shell`: the program that will read them; it may look at the disk."""

    def __init__(self, world: World, places: Places, shell: Callable[[], str]) -> None:
        self._world = world
        self._places = places
        self._shell = shell

    async def judge(
        self, line: str, mode: Mode, rules: Sequence[Rule], *, sandbox: bool, free: bool
    ) -> Verdict:
        """`sandbox`: there is one; `free`: the command is to run outside it, if there is one."""
        family = UNCONFINED if sandbox and free else BASH
        parsed, private = await anyio.to_thread.run_sync(self._read, line)
        forbidding = [r for r in rules if r.tool == BASH and r.decision == "deny"]
        for rule in forbidding:
            if forbidden(rule.pattern, parsed, line):
                return Verdict("deny", RULE.format(pattern=rule.pattern), used=(rule,))
        if mode == "readOnly":
            return Verdict("deny", READ_ONLY.format(what="commands"))
        unseen = bool(forbidding) and not parsed.whole
        if mode == "allowAll" and not private and not unseen:
            return ALLOW
        allowing = [r for r in rules if r.tool == family and r.decision == "allow"]
        used, missing = _covering(allowing, parsed, line)
        if not private and used and not missing:
            return Verdict("allow", sandboxed=sandbox and not free, used=used)
        return self._ask(line, parsed, missing, private, family, unseen=unseen)

    def _read(self, line: str) -> tuple[Parsed, Place | None]:
        """The line taken apart, and a secret that it names, as far as that can be seen."""
        parsed = parse_command(line, self._shell())
        for word in parsed.words:
            for text in _paths_in(word):
                with suppress(ToolError):  # no path at all
                    if place := self._places.secret(self._world.resolve(text)):
                        return parsed, place
        return parsed, None

    def _ask(
        self,
        line: str,
        parsed: Parsed,
        missing: Sequence[Argv],
        private: Place | None,
        family: str,
        *,
        unseen: bool,
    ) -> Verdict:
        where = OUTSIDE_SANDBOX if family == UNCONFINED else ""
        told, patterns = ("", ()) if private else _lasting(line, parsed, missing)
        asking = Asking(
            "command",
            family,
            excerpt(line, MAX_TITLE),
            told and told + where,
            patterns,
            command=line,
            cwd=str(self._world.cwd),
            paths=(private.path,) if private else (),
            default_to_no=private is not None,
        )
        why = ASK_UNSEEN if unseen else _why_command(parsed, missing, private)
        return Verdict("ask", ASK_FREE + " " + why if where else why, asking)


def _paths_in(word: str) -> Iterator[str]:
    """What may be a path in a word: all of it, or what stands behind a sign in it."""
    try:
        options = alternatives(word)
    except ValueError:  # no glob
        options = [word]
    if len(options) > MAX_OPTIONS:
        options = [_BRACES.sub("*", word)]
    for option in options:
        starts = {0, option.rfind("=") + 1, option.find("/"), option.find("~")}
        for text in (option[start:] for start in sorted(starts) if start >= 0):
            if "/" in text or text.startswith(("~", ".")):
                yield text


def _covering(
    allowing: Sequence[Rule], parsed: Parsed, line: str
) -> tuple[tuple[Rule, ...], list[Argv]]:
    """The rules that cover the whole line, and the commands of it that none covers.

    A doubt is covered only by a rule for exactly this line.
    """
    if exact := next((r for r in allowing if exactly(r.pattern, line)), None):
        return (exact,), []
    used: list[Rule] = []
    missing: list[Argv] = []
    for argv in parsed.commands:
        rule = next((r for r in allowing if matches(r.pattern, argv, line)), None)
        if rule is None:
            missing.append(argv)
        else:
            used.append(rule)
    return () if parsed.doubts else tuple(dict.fromkeys(used)), missing


def _lasting(line: str, parsed: Parsed, missing: Sequence[Argv]) -> tuple[str, tuple[str, ...]]:
    """What may be remembered of a yes to this line: in words, and as patterns."""
    patterns = tuple(dict.fromkeys(filter(None, (suggest(argv) for argv in missing))))
    whole = len(patterns) == len(set(missing)) and not parsed.doubts
    if whole and 0 < len(patterns) <= MAX_PATTERNS:
        told = " and ".join(f"`{pattern}`" for pattern in patterns)
        return STARTING.format(patterns=told), patterns
    return EXACTLY, (f"={line.strip()}",)


def _why_command(parsed: Parsed, missing: Sequence[Argv], private: Place | None) -> str:
    if private is not None:
        return ASK_PRIVATE.format(path=private.path)
    if not parsed.commands:
        return ASK_UNREAD.format(doubt="; ".join(parsed.doubts) or "it is empty")
    if missing:
        lines = (" ".join(word or "…" for word in argv) for argv in missing[:3])
        told = ", ".join(f"`{excerpt(line, MAX_TITLE)}`" for line in lines)
        return ASK_COMMAND.format(commands=told)
    return ASK_DOUBT.format(doubt="; ".join(parsed.doubts))
