"""A client in a process of its own that plays one scene and tells of it, an object a line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MARK = "TOLD "
SECONDS = 60


class Player:
    """`told`: by their names, what it has told so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.told: dict[str, Any] = {}
        self._lines: list[str] = []

    def until(self, what: str) -> Any:
        """What it tells of a moment."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.append(line)
            _, found, told = line.partition(MARK)
            if found:
                one = json.loads(told)
                self.told[one["what"]] = one
                if one["what"] == what:
                    return one
        raise AssertionError(f"it ended before {what!r}:\n{''.join(self._lines[-20:])}")

    def ended(self) -> None:
        """The scene is over, and nothing went wrong."""
        self.until("end")
        self.process.communicate(timeout=SECONDS)
        assert self.process.returncode == 0


@contextmanager
def playing(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> Iterator[Player]:
    """A player, which is killed at the end if it still runs."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=environment,
        text=True,
    )
    try:
        yield Player(process)
    finally:
        process.kill()
        process.communicate()
