"""What a process is started with, and what a door offers to the sessions behind it.

Values and promises only. Read next: assembly.py, host.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

from singletree.extensions.dialog import Dialog, Reply
from singletree.extensions.sign import Sign
from singletree.session.events import SessionEvent
from singletree.session.permission.gate import Answer, Mode, Question
from singletree.tools.world import Files


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says. `environment`: what the daemon was started with.

    `tools`: the active ones. `trust`: the word on every workspace, where it was given.
    `settings`: the editor's own, above all files.
    """

    agent_dir: Path
    environment: Mapping[str, str]
    model: str | None = None
    tools: tuple[str, ...] | None = None
    system_prompt: str | None = None
    append_system_prompt: tuple[str, ...] = ()
    session_dir: Path | None = None
    trust: bool | None = None
    mode: Mode | None = None
    settings: Mapping[str, JsonValue] = field(default_factory=dict)


class Front(Protocol):
    """What a door offers to the sessions behind it."""

    def begin(self, session_id: str, cwd: Path) -> None:
        """A session is about to be opened."""
        ...

    def files(self, session_id: str) -> Files:
        """The files as the session's clients see them."""
        ...

    def settings(self, session_id: str) -> Mapping[str, JsonValue]:
        """What the session's clients set themselves, above all files."""
        ...

    async def ask(self, session_id: str, question: Question) -> Answer:
        """Ask the people; nobody there is a no."""
        ...

    async def show(self, session_id: str, dialog: Dialog) -> Reply:
        """Put a dialog before the people; nobody there is as good as dismissed."""
        ...

    def sign(self, session_id: str, sign: Sign) -> None:
        """Show the clients of the session a sign."""
        ...

    def emit(self, session_id: str, event: SessionEvent) -> None:
        """Tell the clients of the session."""
        ...
