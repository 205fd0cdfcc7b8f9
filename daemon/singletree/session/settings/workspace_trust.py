"""The trust in one session's workspace as it is now: looked at again when it may be another one.

That is when somebody decided (here, in another process, in pi), and when a folder that brought
nothing along now does. Never decides, never asks. Read next: trust.py.
"""

from __future__ import annotations

from pathlib import Path

from singletree.session.settings.layers import load_settings
from singletree.session.settings.trust import Trust, gated, trust_of

NOT_LOOKED = Trust(False, "undecided")


class WorkspaceTrust:
    """`now` is what the last look found. `decided`: by the command line, for every folder."""

    def __init__(self, agent_dir: Path, workspace: Path, decided: bool | None = None) -> None:
        self.now = NOT_LOOKED
        self._agent_dir = agent_dir
        self._workspace = workspace
        self._decided = decided
        self._seen: object = NOT_LOOKED

    def look(self) -> Trust:
        """Look again. Reads files: call it in a worker thread. The same object means no news."""
        seen = self._stamp()
        if seen == self._seen and not self._brings_something_now():
            return self.now
        found = trust_of(
            self._agent_dir,
            self._workspace,
            decided=self._decided,
            default=load_settings(self._agent_dir).default_project_trust,
        )
        self._seen = self._stamp()
        if found != self.now:
            self.now = found
        return self.now

    def _brings_something_now(self) -> bool:
        return self.now.why == "nothing_gated" and any(gated(self._workspace))

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            stat = (self._agent_dir / "trust.json").stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size, stat.st_ino
