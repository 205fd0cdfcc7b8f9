"""Where a real client and its daemon work in a test: a folder, a script, a file of the session.

The daemon is one of the client's own (`serve --stdio`), started by a small program that leaves its
process id behind. Read next: test_emacs.py, test_node.py.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
PATIENCE = 30.0
FIRST = "one\ntwo\nthree\n"

EDIT = {
    "parts": [{"text": "It begins. "}, {"wait": 0.1}, {"text": "It goes on."}],
    "call": "edit",
    "args": {"path": "a.txt", "edits": [{"oldText": "two", "newText": "TWO"}]},
}
WRITE = {"call": "write", "args": {"path": "new.txt", "content": "new\n"}}
SLOW = {"parts": [{"text": "It begins. "}, {"wait": 60}, {"text": "It ends."}]}
DONE = {"text": "Done."}


@dataclass(frozen=True)
class Ground:
    """A home with a workspace in it."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / "work"

    @property
    def program(self) -> Path:
        """What the client starts."""
        return self.root / "bin" / "singletree"

    def furnish(self, *turns: object) -> None:
        """A workspace with one file, and a daemon whose model plays these turns."""
        (self.folder / ".git").mkdir(parents=True)
        (self.folder / "a.txt").write_text(FIRST)
        script = self.root / "script.jsonl"
        script.write_text("".join(json.dumps(turn) + "\n" for turn in turns), "utf-8")
        self.program.parent.mkdir()
        self.program.write_text(
            f"#!/bin/sh\necho $$ >'{self._pid}'\n"
            f'exec "{sys.executable}" -m singletree "$@" --model "scripted:{script}"\n'
        )
        self.program.chmod(0o755)

    def environment(self, **more: str) -> dict[str, str]:
        """Nothing of the machine's but its locale and its programs."""
        return {
            "HOME": str(self.root),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "PI_CODING_AGENT_DIR": str(self.root / "agent"),
            "PYTHONPATH": str(REPOSITORY / "daemon"),
            **more,
        }

    def messages(self) -> list[Any]:
        """The messages of the one session."""
        found = list((self.root / "agent" / "sessions").glob("*/*"))
        if len(found) != 1:
            return []
        lines = [json.loads(line) for line in found[0].read_bytes().splitlines()]
        return [line["message"] for line in lines if line["type"] == "message"]

    def said(self) -> list[str]:
        """What the person said."""
        users = [one for one in self.messages() if one["role"] == "user"]
        return ["\n".join(block["text"] for block in one["content"]) for one in users]

    def has_ended(self) -> bool:
        """Whether the daemon is gone."""
        try:
            os.kill(int(self._pid.read_text()), 0)
        except ProcessLookupError:
            return True
        return False

    @property
    def _pid(self) -> Path:
        return self.root / "daemon.pid"


def until(reached: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    """Wait for something that nobody tells."""
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, f"{what} did not come about in {seconds:.0f} s"
        time.sleep(0.02)


@contextmanager
def ground(root: Path, *turns: object) -> Iterator[Ground]:
    """A furnished ground. At the end the daemon is gone, whatever became of its client."""
    made = Ground(root)
    made.furnish(*turns)
    yield made
    until(made.has_ended, "the end of the daemon")
