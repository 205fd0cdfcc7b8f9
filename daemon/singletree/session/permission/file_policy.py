"""What follows for a call that reads or changes files, from where its path really leads.

Text people read stands in the constants. Never asks by itself. Read next: places.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

import anyio

from singletree.agent.tool import Tool
from singletree.errors import ToolError
from singletree.session.permission.asking import Asking
from singletree.session.permission.places import Place, Places
from singletree.session.permission.rules import Rule, Rules
from singletree.session.permission.verdict import ALLOW, ASK_PRIVATE, READ_ONLY, RULE, Mode, Verdict
from singletree.tools.paths import locate, locate_new
from singletree.tools.world import World

KEY = "{path} holds keys or permissions of the daemon itself: no tool may touch it."

ASK_GUARDED = "What is in {path} can make other programs run something."
ASK_OUTSIDE = "{path} is outside the workspace."
ASK_EDIT = "Edits are asked for in this mode."

ALL_EDITS = "edits of the project's files"
READS_OF = "reading in {folder}"
EDITS_OF = "edits in {folder}"


class FilePolicy:
    """Judges paths as the tools understand them."""

    def __init__(self, world: World, places: Places, rules: Rules) -> None:
        self._world = world
        self._places = places
        self._rules = rules

    async def judge(self, tool: Tool, path: str, mode: Mode) -> Verdict:
        """The verdict on a call of `tool` with this path."""
        leads, rules = await self._led_to(path)
        places = tuple(dict.fromkeys(leads.values()))
        verdict = self._verdict(tool, places, mode, rules)
        return replace(verdict, leads=tuple((path, one.path) for path, one in leads.items()))

    def _verdict(
        self, tool: Tool, places: tuple[Place, ...], mode: Mode, rules: Sequence[Rule]
    ) -> Verdict:
        family: Literal["read", "edit"] = "edit" if tool.kind == "edit" else "read"
        own = [rule for rule in rules if rule.tool == family]
        if verdict := self._never(places, own):
            return verdict
        if family == "edit" and mode == "readOnly":
            return Verdict("deny", READ_ONLY.format(what="edits"))
        fine = ("inside",) if family == "edit" else ("inside", "guarded", "readable")
        strange = [place for place in places if place.kind not in fine]
        if mode == "allowAll" and all(place.kind != "private" for place in strange):
            return ALLOW
        if not strange and (family == "read" or mode == "acceptEdits"):
            return ALLOW
        return self._ask(family, tool, places, strange, own)

    async def _led_to(self, path: str) -> tuple[dict[Path, Place], list[Rule]]:
        """Every path that a tool may understand by this text, where it leads, the rules of now."""
        meant = self._world.resolve(path)
        place, rules = await anyio.to_thread.run_sync(self._look, meant)
        if place.there:
            return {meant: place}, rules
        others: list[Path] = []
        for find in (locate, locate_new):
            with suppress(ToolError):
                others.append((await find(self._world, path)).path)
        return await anyio.to_thread.run_sync(self._all, [meant, *others]), rules

    def _look(self, path: Path) -> tuple[Place, list[Rule]]:
        return self._places.of(path), self._rules.all()

    def _all(self, paths: Sequence[Path]) -> dict[Path, Place]:
        return {path: self._places.of(path) for path in paths}

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

    def _ask(
        self,
        family: Literal["read", "edit"],
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
        told, patterns = "", tuple[str, ...]()
        if not strange:
            told, patterns = ALL_EDITS, ("**",)
        elif lasting:
            folder = folder if folder != "/" else first.path
            form = READS_OF if family == "read" else EDITS_OF
            told, patterns = form.format(folder=folder), _inside(folder)
        asking = Asking(
            family,
            family,
            f"{tool.label}: {self._places.shown(first.path)}",
            told,
            patterns,
            paths=tuple(p.path for p in places),
            default_to_no=not lasting,
        )
        return Verdict("ask", _why(first), asking)


def _why(place: Place) -> str:
    match place.kind:
        case "private" | "key":
            return ASK_PRIVATE.format(path=place.path)
        case "guarded":
            return ASK_GUARDED.format(path=place.path)
        case "outside" | "readable":
            return ASK_OUTSIDE.format(path=place.path)
        case "inside":
            return ASK_EDIT


def _inside(folder: str) -> tuple[str, ...]:
    """Globs that mean what is in a folder, and it."""
    literal = re.sub(r"([*?\[\]{}\\])", r"\\\1", folder).rstrip("/")
    return f"{literal}/**", literal


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"
