"""A session looked at without a daemon: put together as one would be, never run, never written.

Read next: one_session.py (which prints what is seen), assembly.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import anyio
from pydantic import JsonValue

from singletree.errors import SingletreeError
from singletree.extensions.dialog import Dialog, Reply, show_nobody
from singletree.extensions.sign import Sign
from singletree.history.record import History
from singletree.host.assembly import Assembly
from singletree.host.options import Options
from singletree.host.places import agent_dir
from singletree.session.events import SessionEvent
from singletree.session.permission.gate import Answer, Question
from singletree.session.session import AgentSession
from singletree.session.tree.xray import Sight
from singletree.tools.disk import Disk
from singletree.tools.world import Files


class Nobody:
    """A front with nobody behind it: files are the disk's, every question is a no."""

    def begin(self, session_id: str, cwd: Path) -> None:
        """Nothing to prepare."""

    def files(self, session_id: str) -> Files:
        """The disk."""
        return Disk()

    def settings(self, session_id: str) -> Mapping[str, JsonValue]:
        """None but those of files."""
        return {}

    async def ask(self, session_id: str, question: Question) -> Answer:
        """Nobody can be asked."""
        return Answer("denied", by="policy")

    async def show(self, session_id: str, dialog: Dialog) -> Reply:
        """Nobody sees it."""
        return await show_nobody(dialog)

    def sign(self, session_id: str, sign: Sign) -> None:
        """Nobody sees it."""

    def emit(self, session_id: str, event: SessionEvent) -> None:
        """Nobody hears it."""


def sight_of(history: History, environment: Mapping[str, str], leaf: str | None = None) -> Sight:
    """What the model would see of a session at an entry, with the tools and settings of now."""
    return anyio.run(_look, history, environment, leaf)


async def _look(history: History, environment: Mapping[str, str], leaf: str | None) -> Sight:
    options = Options(agent_dir(environment), environment)
    cwd = Path(history.header.cwd)
    async with anyio.create_task_group() as tasks:
        parts = await Assembly(options, Nobody(), tasks).parts(history, cwd, "startup")
    session = AgentSession(parts)
    await session.look_on()
    with suppress(SingletreeError):  # no model can be used: no window to compare with
        await session.choice.settle()
    return await session.sight(leaf)
