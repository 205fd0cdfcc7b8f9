"""A world on a folder, for the tools that need no shell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.world import Exit, Files


class NoShell:
    """A shell nobody may use."""

    async def run(
        self,
        command: str,
        *,
        cwd: Path,
        limit: float | None,
        on_output: Callable[[bytes], None],
        env: Mapping[str, str] | None = None,
    ) -> Exit:
        raise AssertionError(f"a file tool ran {command}")


def world_of(folder: Path, files: Files | None = None) -> LocalWorld:
    return LocalWorld(folder, files or Disk(), NoShell())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
