"""What an extension may see of its session and do in it: the other side of `Actions`.

Everything here is at once and in the loop; what needs time goes into their messages. Never asks a
extension. Read next: ../extensions/api.py (the promise), extensions/messages.py, turn/driver.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import JsonValue

from singletree.errors import ExtensionError
from singletree.extensions.api import Deliver
from singletree.extensions.dialog import Dialog, Reply, Show
from singletree.extensions.sign import Sign
from singletree.history.entries import CustomEntry
from singletree.messages import AgentMessage, CustomMessage, ThinkingLevel
from singletree.session.model_choice import ModelChoice
from singletree.session.tree.conversation import Conversation
from singletree.session.turn.driver import Driver

OURS = "singletree."
NOT_THEIRS = 'Kinds that begin with "singletree." are not for extensions.'


class SessionActions:
    """One session as its extensions have it."""

    def __init__(
        self,
        cwd: Path,
        talk: Conversation,
        choice: ModelChoice,
        driver: Driver,
        show: Show,
        sign: Callable[[Sign], None],
    ) -> None:
        self._cwd = cwd
        self._talk = talk
        self._choice = choice
        self._driver = driver
        self._show = show
        self._sign = sign

    @property
    def session_id(self) -> str:
        """Its id."""
        return self._talk.history.id

    @property
    def cwd(self) -> Path:
        """Where its tools work."""
        return self._cwd

    @property
    def model(self) -> str | None:
        """The model in use, as `provider/id`."""
        return self._choice.ref

    @property
    def thinking(self) -> ThinkingLevel:
        """The thinking level in use."""
        return self._choice.thinking

    @property
    def idle(self) -> bool:
        """Whether no turn runs."""
        return not self._driver.busy

    def messages(self) -> Sequence[AgentMessage]:
        """The conversation on the active branch."""
        return [message.model_copy(deep=True) for message in self._talk.projection().messages]

    def notes(self, kind: str) -> Sequence[JsonValue]:
        """What was appended under this kind on the active branch, oldest first."""
        found = self._talk.history.on_path("custom")
        return [e.data for e in found if isinstance(e, CustomEntry) and e.custom_type == kind]

    def append(self, kind: str, data: JsonValue) -> str:
        """Store a note of the extension's own; never sent. Gives the entry's id."""
        if kind.startswith(OURS):
            raise ExtensionError(NOT_THEIRS)
        return self._talk.add(CustomEntry(custom_type=kind, data=data)).id

    def send(self, message: CustomMessage, deliver_as: Deliver, *, trigger: bool) -> None:
        """Say something to the model. `trigger`: begin a turn if none runs."""
        self._driver.deliver(message, deliver_as, trigger=trigger)

    async def show(self, dialog: Dialog) -> Reply:
        """Put a dialog before whoever is there."""
        return await self._show(dialog)

    def sign(self, sign: Sign) -> None:
        """Put up a sign, or take it away."""
        self._sign(sign)
