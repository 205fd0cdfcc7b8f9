"""What follows from mode and rules for a call: run it, refuse it, or ask, and with which answers.

Judges what a call would touch, never what it means. Never asks and never remembers by itself. Read
next: places.py (where paths lead), ../tools/command.py (what a command line runs), gate.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import anyio
from pydantic import BaseModel

from singletree.agent.tool import Tool
from singletree.errors import ToolError
from singletree.session.choices import Asking, Choices
from singletree.session.places import Place, Places
from singletree.session.rules import Rule, Rules
from singletree.tools.command import Parsed, exactly, forbidden, matches, parse_command
from singletree.tools.paths import locate, locate_new
from singletree.tools.programs import Argv, suggest
from singletree.tools.world import World

Mode = Literal["ask", "acceptEdits", "readOnly", "allowAll"]

RULE = "A rule of the user forbids this ({pattern}), so it did not run."
READ_ONLY = "The session is in read-only mode: {what} are refused. The user can change the mode."
KEY = "{path} holds keys or permissions of the daemon itself: no tool may touch it."

ASK_COMMAND = "No rule allows {commands}."
ASK_FREE = "It would run outside the sandbox, with the network and all files."
ASK_DOUBT = "Rules allow its commands, but {doubt}."
ASK_UNREAD = "It cannot be read with certainty: {doubt}."
ASK_PRIVATE = "{path} is private."
ASK_GUARDED = "What is in {path} can make other programs run something."
ASK_OUTSIDE = "{path} is outside the workspace."
ASK_EDIT = "Edits are asked for in this mode."
ASK_TOOL = "No rule allows this tool."

OUTSIDE_SANDBOX = ", outside the sandbox"
EXACTLY = "exactly this command line"
STARTING = "commands that start with {patterns}"
ALL_EDITS = "edits of files in the workspace"
READS_OF = "reading in {folder}"
EDITS_OF = "edits in {folder}"
USES_OF = "every use of {tool}"

BASH, UNCONFINED = "bash", "bash unconfined"
"""Families of rules: commands, and commands outside the sandbox."""

MAX_PATTERNS = 3
MAX_TITLE = 200


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is for the model when denied, for the person when asked. `used` rules decided."""

    decision: Literal["allow", "deny", "ask"]
    reason: str = ""
    asking: Asking | None = None
    sandboxed: bool = False
    used: tuple[Rule, ...] = ()


ALLOW = Verdict("allow")


class Judge:
    """Knows the mode, the rules and the places. `sandbox`: whether commands can be confined."""

    def __init__(
        self,
        world: World,
        places: Places,
        rules: Rules,
        mode: Mode,
        sandbox: Callable[[], bool],
    ) -> None:
        self.mode: Mode = mode
        self._world = world
        self._places = places
        self._rules = rules
        self._sandbox = sandbox

    async def judge(self, tool: Tool, args: BaseModel) -> Verdict:
        """The verdict on one call."""
        rules = await anyio.to_thread.run_sync(self._rules.all)
        fields = type(args).model_fields
        if tool.kind == "execute" and isinstance(command := getattr(args, "command", None), str):
            sandbox = await anyio.to_thread.run_sync(self._sandbox)
            free = getattr(args, "unconfined", None) is True or not sandbox
            return await self._command(
                command, rules, UNCONFINED if free and sandbox else BASH, not free
            )
        if tool.kind in ("read", "search", "edit") and "path" in fields:
            path = getattr(args, "path", None)
            places = await self._led_to(path if isinstance(path, str) and path else ".")
            if tool.kind == "edit":
                return self._edit(tool, places, [r for r in rules if r.tool == "edit"])
            return self._read(tool, places, [r for r in rules if r.tool == "read"])
        return self._other(tool, [r for r in rules if r.tool == tool.name])

    # -- files

    async def _led_to(self, path: str) -> tuple[Place, ...]:
        """Every real path that a tool may understand by this text."""
        meant = [self._world.resolve(path)]
        for find in (locate, locate_new):
            with suppress(ToolError):
                meant.append((await find(self._world, path)).path)
        places = [await anyio.to_thread.run_sync(self._places.of, p) for p in meant]
        return tuple(dict.fromkeys(places))

    def _read(self, tool: Tool, places: tuple[Place, ...], rules: Sequence[Rule]) -> Verdict:
        if verdict := self._never(places, rules):
            return verdict
        strange = [p for p in places if p.kind in ("outside", "private")]
        if not strange:
            return ALLOW
        if self.mode == "allowAll" and all(p.kind != "private" for p in strange):
            return ALLOW
        return self._ask_files("read", tool, places, strange, rules)

    def _edit(self, tool: Tool, places: tuple[Place, ...], rules: Sequence[Rule]) -> Verdict:
        if verdict := self._never(places, rules):
            return verdict
        if self.mode == "readOnly":
            return Verdict("deny", READ_ONLY.format(what="edits"))
        strange = [p for p in places if p.kind != "inside"]
        if self.mode == "allowAll" and all(p.kind != "private" for p in strange):
            return ALLOW
        if self.mode == "acceptEdits" and not strange:
            return ALLOW
        return self._ask_files("edit", tool, places, strange, rules)

    def _never(self, places: tuple[Place, ...], rules: Sequence[Rule]) -> Verdict | None:
        """What no mode allows: keys, and what a rule forbids."""
        if key := next((p for p in places if p.kind == "key"), None):
            return Verdict("deny", KEY.format(path=key.path))
        for rule in rules:
            if rule.decision == "deny" and any(
                self._places.covered(rule.pattern, [p]) for p in places
            ):
                return Verdict("deny", RULE.format(pattern=rule.pattern), used=(rule,))
        return None

    def _ask_files(
        self,
        subject: Literal["read", "edit"],
        tool: Tool,
        places: tuple[Place, ...],
        strange: Sequence[Place],
        rules: Sequence[Rule],
    ) -> Verdict:
        lasting = all(p.kind in ("inside", "outside", "readable") for p in places)
        for rule in rules if lasting else ():
            if rule.decision == "allow" and self._places.covered(rule.pattern, places):
                return Verdict("allow", used=(rule,))
        first = strange[0] if strange else places[0]
        folder = first.path if first.folder else _parent(first.path)
        choices = Choices()
        if not strange:
            choices.allow(ALL_EDITS, ("**",))
        elif lasting:
            form = READS_OF if subject == "read" else EDITS_OF
            choices.allow(form.format(folder=folder), (f"{_literal(folder)}/**", _literal(folder)))
        title = f"{tool.label}: {self._places.shown(first.path)}"
        asking = choices.asking(
            subject,
            subject,
            title,
            paths=tuple(p.path for p in places),
            default_to_no=not lasting,
        )
        return Verdict("ask", _why(first, subject), asking)

    # -- commands

    async def _command(
        self, line: str, rules: Sequence[Rule], family: str, confined: bool
    ) -> Verdict:
        """What is outside the sandbox where there is one is a family of its own."""
        parsed = parse_command(line)
        forbidding = [r for r in rules if r.tool == BASH and r.decision == "deny"]
        for rule in forbidding:
            if forbidden(rule.pattern, parsed, line):
                return Verdict("deny", RULE.format(pattern=rule.pattern), used=(rule,))
        if self.mode == "readOnly":
            return Verdict("deny", READ_ONLY.format(what="commands"))
        private = await anyio.to_thread.run_sync(self._private, parsed)
        if self.mode == "allowAll" and not private:
            return ALLOW
        allowing = [r for r in rules if r.tool == family and r.decision == "allow"]
        used, missing = _covering(allowing, parsed, line)
        if not private and used and not missing:
            return Verdict("allow", sandboxed=confined, used=used)
        return self._ask_command(line, parsed, missing, private, family)

    def _private(self, parsed: Parsed) -> Place | None:
        """A secret that the line names, as far as that can be seen."""
        words = [word for argv in parsed.commands for word in argv if word is not None]
        for word in words:
            for text in {word, word.rpartition("=")[2]}:
                if "/" in text or text.startswith("~"):
                    place = self._places.of(self._world.resolve(text))
                    if place.kind in ("private", "key"):
                        return place
        return None

    def _ask_command(
        self,
        line: str,
        parsed: Parsed,
        missing: Sequence[Argv],
        private: Place | None,
        family: str,
    ) -> Verdict:
        choices = Choices()
        where = OUTSIDE_SANDBOX if family == UNCONFINED else ""
        patterns = tuple(dict.fromkeys(filter(None, (suggest(argv) for argv in missing))))
        whole = len(patterns) == len(set(missing)) and not parsed.doubts
        if private is None:
            if whole and 0 < len(patterns) <= MAX_PATTERNS:
                told = " and ".join(f"`{pattern}`" for pattern in patterns)
                choices.allow(STARTING.format(patterns=told) + where, patterns)
            else:
                choices.allow(EXACTLY + where, (f"={line.strip()}",))
        asking = choices.asking(
            "command",
            family,
            _short(line),
            command=line,
            cwd=str(self._world.cwd),
            paths=(private.path,) if private else (),
            default_to_no=private is not None,
        )
        why = _why_command(parsed, missing, private)
        return Verdict("ask", ASK_FREE + " " + why if where else why, asking)

    # -- everything else

    def _other(self, tool: Tool, rules: Sequence[Rule]) -> Verdict:
        for rule in rules:
            if rule.decision == "deny":
                return Verdict("deny", RULE.format(pattern=tool.name), used=(rule,))
        if self.mode == "readOnly":
            return Verdict("deny", READ_ONLY.format(what=f"calls of {tool.name}"))
        if self.mode == "allowAll":
            return ALLOW
        if rules:
            return Verdict("allow", used=(rules[0],))
        choices = Choices()
        choices.allow(USES_OF.format(tool=tool.label), ("*",))
        return Verdict("ask", ASK_TOOL, choices.asking("custom", tool.name, tool.label))


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


def _why(place: Place, subject: Literal["read", "edit"]) -> str:
    match place.kind:
        case "private" | "key":
            return ASK_PRIVATE.format(path=place.path)
        case "guarded":
            return ASK_GUARDED.format(path=place.path)
        case "outside" | "readable":
            return ASK_OUTSIDE.format(path=place.path)
        case "inside":
            return ASK_EDIT


def _why_command(parsed: Parsed, missing: Sequence[Argv], private: Place | None) -> str:
    if private is not None:
        return ASK_PRIVATE.format(path=private.path)
    if not parsed.commands:
        return ASK_UNREAD.format(doubt="; ".join(parsed.doubts) or "it is empty")
    if missing:
        told = ", ".join(_short(" ".join(word or "…" for word in argv)) for argv in missing[:3])
        return ASK_COMMAND.format(commands=told)
    return ASK_DOUBT.format(doubt="; ".join(parsed.doubts))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1]}…"


def _literal(path: str) -> str:
    """A path as a glob that means only it."""
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", path).rstrip("/")


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"
