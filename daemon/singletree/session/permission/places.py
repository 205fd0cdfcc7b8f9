"""Where a path leads, once links are followed: inside the workspace, outside, or somewhere private.

Looks at names and links only, never into a file. Everything here blocks on the disk: called in a
worker thread. Read next: file_policy.py (what follows from it).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Literal

from singletree.globs import translate
from singletree.pathtext import home
from singletree.tools.bubblewrap import GUARDED

Kind = Literal["inside", "guarded", "readable", "outside", "private", "key"]
"""guarded: inside, but a change there makes other programs run something (.git, .pi, …).
readable: outside, but meant to be read. private: a person's secrets. key: never touched."""

_PRIVATE = (
    ".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".config/gh", ".docker/config.json",
    ".kube", ".netrc", ".git-credentials", ".npmrc", ".pypirc", ".password-store",
    ".local/share/keyrings", ".mozilla", ".config/google-chrome", ".config/chromium",
)  # fmt: skip
_KEYS, _OURS, _OUTPUTS = "auth.json", "singletree", "singletree/outputs"
_GLOB = re.compile(r"[*?[]")
_PROCESS = re.compile(r"/proc/(?:\d+|self|thread-self)(?:/.*)?|/dev/(?:mem|kmem|port)")


@dataclass(frozen=True, slots=True)
class Place:
    """A real path and what kind of place it is. `there`: something is; `folder`: a folder is."""

    path: str
    kind: Kind
    there: bool = False
    folder: bool = False


class Places:
    """Knows the folders that matter; all of them are followed to their real places."""

    def __init__(
        self, workspace: Path, agent_dir: Path, own_home: Path | None, readable: Sequence[Path] = ()
    ) -> None:
        self._given = (workspace, agent_dir, own_home or home(), *readable)

    @cached_property
    def _folders(self) -> tuple[str, ...]:
        return tuple(os.path.realpath(path) for path in self._given)

    @property
    def workspace(self) -> str:
        """Its real path."""
        return self._folders[0]

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        return _led_into(self._folders[1], (_KEYS, _OURS))

    @cached_property
    def _private(self) -> tuple[str, ...]:
        return _led_into(self._folders[2], _PRIVATE)

    @cached_property
    def _guarded(self) -> tuple[str, ...]:
        return _led_into(self._folders[0], GUARDED)

    def of(self, path: Path | str) -> Place:
        """The place a path leads to; one that does not exist, where it would be made."""
        real = os.path.realpath(path)
        try:
            mode = Path(real).stat().st_mode
        except OSError:
            return Place(real, self._kind(real))
        return Place(real, self._kind(real), there=True, folder=stat.S_ISDIR(mode))

    def secret(self, path: Path) -> Place | None:
        """The key or private place that a path leads to, or that it may mean as a glob."""
        place = self.of(path)
        if place.kind not in ("key", "private"):
            shut = (*self._keys, *self._private) if _GLOB.search(place.path) else ()
            reached = next((one for one in shut if _reaches(place.path, one)), None)
            return self.of(reached) if reached else None
        return place

    def hidden(self) -> list[Path]:
        """What a search through a folder must not show."""
        return [Path(folder) for folder in (*self._keys, *self._private)]

    def covered(self, pattern: str, places: Iterable[Place]) -> bool:
        """Whether a rule's glob covers all of them: from the workspace, or from the root."""
        try:
            compiled = re.compile(translate(pattern), re.DOTALL)
        except ValueError:
            return False
        shown = [self.shown(place.path) for place in places]
        absolute = pattern.startswith("/")
        return all(s.startswith("/") == absolute and compiled.fullmatch(s) for s in shown)

    def shown(self, real: str) -> str:
        """A path as rules and people see it: relative inside the workspace, else whole."""
        if real == self.workspace:
            return "."
        (folder,) = _inside_of(self.workspace)
        return real[len(folder) :] if real.startswith(folder) else real

    def _kind(self, real: str) -> Kind:
        within = f"{real}/".startswith
        workspace, agent_dir, _, *readable = self._folders
        if _PROCESS.fullmatch(real):
            return "key"
        if within(_inside_of(f"{agent_dir}/{_OUTPUTS}")):
            return "readable"
        if within(self._keys):
            return "key"
        if within(self._private):
            return "private"
        if within(_inside_of(workspace)):
            guarded = within(self._guarded) or "/.git/" in f"/{self.shown(real)}/"
            return "guarded" if guarded or within(_inside_of(agent_dir)) else "inside"
        return "readable" if within(_inside_of(*readable)) else "outside"


def _reaches(glob: str, folder: str) -> bool:
    """Whether what a shell makes of a glob may lie in a folder; a dot is never meant by a star."""
    names, patterns = folder.strip("/").split("/"), glob.strip("/").split("/")
    return len(patterns) >= len(names) and all(
        fnmatchcase(name, pattern) and (name[0] != "." or pattern[0] == ".")
        for name, pattern in zip(names, patterns, strict=False)
    )


def _inside_of(*folders: str) -> tuple[str, ...]:
    """How paths in these folders, and their own with a slash, begin."""
    return tuple(f"{folder.rstrip('/')}/" for folder in folders)


def _led_into(folder: str, names: Iterable[str]) -> tuple[str, ...]:
    """The same for names in a folder, and for where they lead if they are links."""
    paths = [f"{folder.rstrip('/')}/{name}" for name in names]
    return _inside_of(*dict.fromkeys([*paths, *map(os.path.realpath, paths)]))
