"""The settings of one session as its files are now: read again when one of them has changed.

`refresh` reads files: call it in a worker thread. Never decides which layers count. Read next:
settings.py (the layers).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from singletree.session.settings import Layers, Settings, read_layers, settings_path

Stamp = tuple[int, int, int] | None


class Current:
    """The layers of one session; `settings` are those of the last look."""

    def __init__(
        self,
        agent_dir: Path,
        workspace: Path,
        overrides: Mapping[str, JsonValue] | None,
        trusted: bool,
    ) -> None:
        self._agent_dir = agent_dir
        self._workspace = workspace
        self._overrides = overrides
        self._trusted = trusted
        self._stamps: list[Stamp] = []
        self.layers = Layers(Settings())

    @property
    def settings(self) -> Settings:
        """What counts."""
        return self.layers.settings

    def refresh(self) -> Sequence[str]:
        """Look again; gives what is wrong with the files and was not so at the last look."""
        stamps = [_stamp(path) for path in self._files()]
        if stamps == self._stamps:
            return ()
        known = self.layers.warnings
        self.layers = read_layers(self._agent_dir, self._workspace, self._overrides, self._trusted)
        self._stamps = stamps
        return [warning for warning in self.layers.warnings if warning not in known]

    def _files(self) -> Sequence[Path]:
        user = settings_path(self._agent_dir, self._workspace, "user")
        own = settings_path(self._agent_dir, self._workspace, "workspace")
        return (user, own) if self._trusted else (user,)


def _stamp(path: Path) -> Stamp:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
