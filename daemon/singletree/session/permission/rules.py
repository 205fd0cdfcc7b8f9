"""Remembered answers: which tool may do what, for how long, and how often it was used.

A rule of the session lives in memory; rules of a workspace and of the user stand in
`<agent dir>/singletree/permissions.json`, never in a project, so that a project can grant itself
nothing. Other windows may change the file: it is read again when it changed. Everything here
blocks on the disk: called in a worker thread. Never decides. Read next: gate.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from singletree.errors import SessionError, or_session_error
from singletree.held import alone_in
from singletree.pathtext import read_plain
from singletree.session.files import replace_file

Decision = Literal["allow", "deny"]
Lasting = Literal["session", "workspace", "user"]

UNREADABLE = "{path} cannot be read ({why}): none of its rules hold."
DAMAGED = "{path} holds no permissions that can be read: none of its rules hold; a copy is {copy}."
NOT_KEPT = "Permissions cannot be kept in {path}: {why}."


@dataclass(frozen=True, slots=True)
class Rule:
    """An answer that holds on. `tool` is a tool's family or name, `workspace` a real path.

    `pattern` is the beginning of a command, or a glob for paths, or `*`; `created` is ISO 8601.
    """

    id: str
    tool: str
    pattern: str
    decision: Decision
    scope: Lasting
    workspace: str | None = None
    created: str = ""
    uses: int = 0


@cache
def _stored() -> TypeAdapter[list[Rule]]:
    """Made on first use: most sessions have no rules."""
    return TypeAdapter(list[Rule])


class Rules:
    """The rules that hold in one session of a workspace. `path` None: nothing is kept."""

    def __init__(self, path: Path | None, workspace: Path) -> None:
        self.problem = ""
        self._path = path
        self._given = workspace
        self._session: list[Rule] = []
        self._stored: list[Rule] = []
        self._seen: tuple[int, int, int] | None = None
        self._unread: OSError | None = None
        self._uses: Counter[str] = Counter()
        """Uses by rule, those that the file does not tell of."""

    def all(self) -> list[Rule]:
        """Every rule in force here, the session's first."""
        self._refresh()
        return self._counted([*self._session, *filter(self._holds, self._stored)])

    def add(self, tool: str, pattern: str, decision: Decision, scope: Lasting) -> Rule:
        """Remember an answer; one that is there already is not doubled."""
        known = next(
            (
                rule
                for rule in self.all()
                if (rule.tool, rule.pattern, rule.decision, rule.scope)
                == (tool, pattern, decision, scope)
            ),
            None,
        )
        if known:
            return known
        rule = Rule(
            secrets.token_hex(4),
            tool,
            pattern,
            decision,
            scope,
            self._workspace if scope == "workspace" else None,
            datetime.now(UTC).isoformat(timespec="seconds"),
        )
        if scope == "session" or self._path is None:
            self._session.append(rule)
        else:
            self._change(lambda stored: [*stored, rule])
        return rule

    def remove(self, ids: Collection[str]) -> list[str]:
        """Forget rules; returns the ids that were there."""
        gone = [rule.id for rule in self.all() if rule.id in ids]
        self._session = [rule for rule in self._session if rule.id not in gone]
        if any(rule.id in gone for rule in self._stored):
            self._change(lambda stored: [rule for rule in stored if rule.id not in gone])
        return gone

    def count(self, used: Sequence[Rule]) -> None:
        """Note that rules decided something. The file learns of it later: calls do not wait."""
        self._uses.update(rule.id for rule in used)

    def save_uses(self) -> None:
        """Write down what was counted; a figure that cannot be kept is no hindrance."""
        if any(rule.id in self._uses for rule in self._stored):
            with contextlib.suppress(SessionError):
                self._change(lambda stored: stored)

    def _counted(self, rules: Sequence[Rule]) -> list[Rule]:
        return [replace(rule, uses=rule.uses + self._uses[rule.id]) for rule in rules]

    @cached_property
    def _workspace(self) -> str:
        return os.path.realpath(self._given)

    def _holds(self, rule: Rule) -> bool:
        return rule.scope == "user" or rule.workspace == self._workspace

    def _refresh(self) -> None:
        """Look at the file again where it changed; of one that is not to be read, none holds."""
        try:
            self._read()
        except OSError as error:
            self._stored, self._unread = [], error
            why = error.strerror or "no reason given"
            self.problem = UNREADABLE.format(path=self._path, why=why)

    def _read(self) -> None:
        if self._path is None:
            return
        seen, self._seen = self._seen, None
        try:
            found = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            self._stored, self._unread = [], None
            return
        self._seen = (found.st_mtime_ns, found.st_size, found.st_ino)
        if self._seen != seen:
            self._stored, self._unread = self._load(self._path), None

    def _load(self, path: Path) -> list[Rule]:
        """The rules of the file; of one that is damaged, none. OSError where it is not read."""
        self.problem = ""
        try:
            data = json.loads(read_plain(path))
            return _stored().validate_python(data["rules"])
        except (ValueError, KeyError, TypeError, RecursionError, ValidationError):
            copy = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
            with contextlib.suppress(OSError):
                copy.write_bytes(path.read_bytes())
                copy.chmod(0o600)
            self.problem = DAMAGED.format(path=path, copy=copy)
        return []

    def _change(self, change: Callable[[list[Rule]], list[Rule]]) -> None:
        """Read, change and replace the file while nobody else does; only if it could be read."""
        path = self._path
        assert path is not None
        with or_session_error(NOT_KEPT, path), alone_in(path.parent):
            self._refresh()
            if self._unread:
                raise self._unread
            before = self._stored
            rules = _stored().dump_python(change(self._counted(before)), mode="json")
            whole = {"version": 1, "rules": rules}
            replace_file(path, json.dumps(whole, indent=2, ensure_ascii=False))
            self._seen = None
            for rule in before:
                self._uses.pop(rule.id, None)
