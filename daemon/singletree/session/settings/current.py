"""The settings of one session as they are now: read again when a file or an editor says otherwise.

`refresh` reads files: call it in a worker thread. Never decides which layers count. Read next:
layers.py (the layers).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from singletree.session.settings.keys import Settings
from singletree.session.settings.layers import Layers, read_layers, settings_path
from singletree.session.settings.workspace_trust import WorkspaceTrust

Stamp = tuple[int, int, int] | None

NOT_OURS = '"{key}" in the workspace\'s settings is left out: only you may set it.'


@dataclass(frozen=True, slots=True)
class FromEditors:
    """What the editors say at one moment: their own settings, and texts that are not saved."""

    settings: Mapping[str, JsonValue]
    unsaved: Mapping[Path, bytes]


def no_editor() -> FromEditors:
    """There is no editor."""
    return FromEditors({}, {})


class CurrentSettings:
    """The layers of one session; `settings` are those of the last look."""

    def __init__(
        self,
        agent_dir: Path,
        workspace: Path,
        trust: WorkspaceTrust,
        ask: Callable[[], FromEditors] = no_editor,
    ) -> None:
        self._agent_dir = agent_dir
        self._workspace = workspace
        self.trust = trust
        self._ask = ask
        self._seen: object = None
        self.layers = Layers(Settings())

    @property
    def settings(self) -> Settings:
        """What counts."""
        return self.layers.settings

    @property
    def trusted(self) -> bool:
        """Whether the workspace's own count, as of the last look."""
        return self.trust.now.trusted

    def refresh(self) -> Sequence[str]:
        """Look again; gives what is wrong with the settings and was not so at the last look."""
        self.trust.look()
        said = self._ask()
        seen = [self._stamp(path, said) for path in self._files()], dict(said.settings)
        if seen == self._seen:
            return ()
        known = _wrong(self.layers)
        self.layers = read_layers(
            self._agent_dir, self._workspace, said.settings or None, self.trusted, said.unsaved
        )
        self._seen = seen
        return [warning for warning in _wrong(self.layers) if warning not in known]

    def _files(self) -> Sequence[Path]:
        user = settings_path(self._agent_dir, self._workspace, "user")
        own = settings_path(self._agent_dir, self._workspace, "workspace")
        return (user, own) if self.trusted else (user,)

    def _stamp(self, path: Path, said: FromEditors) -> tuple[Stamp, bytes | None]:
        unsaved = said.unsaved.get(Path(os.path.realpath(path))) if said.unsaved else None
        try:
            stat = path.stat()
        except OSError:
            return None, unsaved
        return (stat.st_mtime_ns, stat.st_size, stat.st_ino), unsaved


def _wrong(layers: Layers) -> list[str]:
    """What a person should know of the settings."""
    return [*layers.warnings, *(NOT_OURS.format(key=key) for key in layers.ignored)]
