"""What of a session comes from the disk and may change meanwhile: settings, trust, its extensions.

Looked at before each turn and summary, and when a client says so. Never decides what counts. Read
next: settings/current.py (the settings), settings/workspace_trust.py.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio
import anyio.to_thread

from singletree.session.dependencies import Dependencies
from singletree.session.events import (
    CommandsChanged,
    ConfigChanged,
    ExtensionFailed,
    SessionEvent,
)
from singletree.session.extensions.hooks import Hooks
from singletree.session.model_choice import ModelChoice
from singletree.session.notices import Notices
from singletree.session.turn.queue import Queue


class Reload:
    """Keeps one session at what the disk says, and tells of it."""

    def __init__(
        self,
        parts: Dependencies,
        hooks: Hooks,
        queue: Queue,
        choice: ModelChoice,
        notices: Notices,
        tell: Callable[[SessionEvent], None],
    ) -> None:
        self._parts = parts
        self._hooks = hooks
        self._queue = queue
        self._choice = choice
        self._notices = notices
        self._tell = tell
        self._told: ConfigChanged | None = None
        self._trust = parts.trust()
        self._of_workspace = parts.of_workspace
        self._refreshing = anyio.Lock()

    def config(self) -> ConfigChanged:
        """What can be switched, as it is now."""
        return ConfigChanged(
            self._choice.ref,
            self._choice.images,
            self._choice.thinking,
            self._parts.history.name,
            tuple(tool.name for tool in self._choice.tools),
            self._parts.gate.mode,
            self._parts.trust().trusted,
            self._parts.trust().left_aside,
        )

    def tell_config(self) -> None:
        """Something was switched."""
        self._told = self.config()
        self._tell(self._told)

    async def refresh(self) -> None:
        """Before a turn or a summary: what has changed on the disk counts from now on."""
        async with self._refreshing:
            config = self.config()
            for warning in await anyio.to_thread.run_sync(self._parts.refresh):
                self._notices.warn("settings", warning)
            before, self._trust = self._trust, self._parts.trust()
            if self._trust is not before:
                await self._exchange_extensions()
            self.take_over()
            changed = self._trust is not before
            if changed:
                self._tell(CommandsChanged())
            if (changed or self.config() != config) and self.config() != self._told:
                self.tell_config()

    async def _exchange_extensions(self) -> None:
        """The workspace is trusted now, or no more: its extensions come, or go."""
        self._notices.drop("trust")
        for text in self._trust.warnings:
            self._notices.warn("trust", text)
        loaded = await self._parts.load_of_workspace()
        for failure in loaded.problems:
            self._tell(ExtensionFailed(failure.extension, failure.event, failure.message))
        old, self._of_workspace = self._of_workspace, loaded.extensions
        await self._hooks.exchange(old, loaded.extensions, self.config(), self._parts.history.leaf)

    def take_over(self) -> None:
        """What settings and extensions say now."""
        parts = self._parts
        settings = parts.settings()
        self._queue.begin_modes(settings.steering_mode, settings.follow_up_mode)
        self._choice.offer(
            self._hooks.tools, lambda name: not parts.only_active or name in parts.active
        )
