"""What an extension hears and may answer, and what it may do. The whole contract of an extension.

An extension is a Python module with `setup(api)`. In it, it asks to hear of things by their
payload:

    def setup(api):
        async def guard(calling: ToolCalling):
            if calling.tool == "bash" and "sudo" in str(calling.args):
                return Block("No sudo here.")
        api.on(ToolCalling, guard)

A handler gets a deep copy of its own and answers None (nothing to say), the payload changed
(`calling.but(args=…)`), or a verdict that the payload allows (`Block`, `Cancel`, …). Handlers run
one after the other, in the order of loading, then of registration; each sees what the one before
made of it. Never imports the session: an extension sees it through `SessionView` and acts through
`Actions`. Read next: runner.py (order and failures), loader.py (where extensions come from).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import get_ident
from typing import ClassVar, Literal, Protocol, Self, TypeVar

from pydantic import BaseModel, JsonValue

from singletree.agent.tool import Tool, ToolOutput, ToolRun
from singletree.errors import ExtensionError
from singletree.extensions.apart import apart
from singletree.extensions.dialog import Dialog, Reply
from singletree.extensions.outputs import checked_output
from singletree.extensions.sign import Sign, SignKind
from singletree.messages import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    Image,
    Text,
    ThinkingLevel,
    ToolResultMessage,
)

SIGN_BYTES = 64 << 10
NO_SIGN = "a sign must be JSON."
OTHER_THREAD = "only the event loop's thread may do that; call anyio.from_thread.run_sync."
LARGE_SIGN = f"a sign may have at most {SIGN_BYTES} bytes."

Deliver = Literal["steer", "followUp", "nextTurn"]


@dataclass(frozen=True, slots=True)
class Handled:
    """The extension took care of the input itself: no turn."""

    note: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """The call is not run; the model reads the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """What was about to happen does not happen."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class OwnSummary:
    """The extension's summary in place of a model's. The newest one counts."""

    text: str
    details: JsonValue = None
    first_kept_entry_id: str | None = None


Verdict = Handled | Block | Cancel | OwnSummary


@dataclass(frozen=True, slots=True)
class Payload:
    """Base of all that an extension hears.

    `verdicts`: those it may answer. `shuts`: a handler that fails counts as a `Block`.
    `changes`: whether the payload itself may be answered, changed.
    """

    verdicts: ClassVar[tuple[type[Verdict], ...]] = ()
    shuts: ClassVar[bool] = False
    changes: ClassVar[bool] = False

    def but(self, **changes: object) -> Self:
        """The same with other values."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Input(Payload):
    """A person's text, before it becomes a message."""

    text: str
    images: tuple[Image, ...] = ()
    source: Literal["prompt", "steer", "followUp", "extension"] = "prompt"
    verdicts: ClassVar[tuple[type[Verdict], ...]] = (Handled,)
    changes: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class BeforeAgentStart(Payload):
    """A turn begins. `system` may be changed; `messages` are put behind the user's and stored."""

    prompt: str
    system: str
    messages: tuple[CustomMessage, ...] = ()
    changes: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Context(Payload):
    """What the next request is made from; changes count for this request only."""

    messages: tuple[AgentMessage, ...]
    changes: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class ToolCalling(Payload):
    """A call is about to be run. Changed arguments are checked against the tool once more."""

    call_id: str
    tool: str
    args: Mapping[str, JsonValue]
    verdicts: ClassVar[tuple[type[Verdict], ...]] = (Block,)
    shuts: ClassVar[bool] = True
    changes: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class ToolCalled(Payload):
    """A call was run; the model has not seen its output yet."""

    call_id: str
    tool: str
    args: Mapping[str, JsonValue]
    content: tuple[Text | Image, ...]
    details: JsonValue = None
    is_error: bool = False
    changes: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class UserBash(Payload):
    """A person is about to run a command; an extension that fails stops it."""

    command: str
    cwd: str
    exclude_from_context: bool = False
    verdicts: ClassVar[tuple[type[Verdict], ...]] = (Block,)
    shuts: ClassVar[bool] = True
    changes: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class BeforeCompact(Payload):
    """A compaction is about to be made of `messages`, behind which `first_kept_entry_id` stays."""

    reason: Literal["manual", "threshold", "overflow"]
    messages: tuple[AgentMessage, ...]
    first_kept_entry_id: str
    tokens_before: int
    previous_summary: str | None = None
    instructions: str | None = None
    verdicts: ClassVar[tuple[type[Verdict], ...]] = (Cancel, OwnSummary)
    changes: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class BeforeTree(Payload):
    """The leaf is about to move. Instructions and label may be changed."""

    target_id: str
    old_leaf_id: str | None
    ancestor_id: str | None
    left_behind: tuple[AgentMessage, ...]
    summarize: bool
    instructions: str | None = None
    label: str | None = None
    verdicts: ClassVar[tuple[type[Verdict], ...]] = (Cancel, OwnSummary)
    changes: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class BeforeFork(Payload):
    """A session is about to be forked."""

    entry_id: str
    position: Literal["before", "at"]
    verdicts: ClassVar[tuple[type[Verdict], ...]] = (Cancel,)


@dataclass(frozen=True, slots=True)
class BeforeSwitch(Payload):
    """Another session is about to become the current one."""

    reason: Literal["new", "resume"]
    session_id: str | None = None
    verdicts: ClassVar[tuple[type[Verdict], ...]] = (Cancel,)


@dataclass(frozen=True, slots=True)
class SessionStart(Payload):
    """The session is open and may be acted on."""

    reason: Literal["startup", "reload", "new", "resume", "fork"]


@dataclass(frozen=True, slots=True)
class SessionShutdown(Payload):
    """The session is being closed; the last that an extension hears."""

    reason: Literal["quit", "reload", "new", "resume", "fork"]


@dataclass(frozen=True, slots=True)
class AgentStart(Payload):
    """A run begins."""


@dataclass(frozen=True, slots=True)
class AgentEnd(Payload):
    """A run is over; `messages` are all that it added."""

    messages: tuple[AgentMessage, ...]


@dataclass(frozen=True, slots=True)
class AgentSettled(Payload):
    """Nothing automatic remains."""

    aborted: bool = False


@dataclass(frozen=True, slots=True)
class StepStart(Payload):
    """A model is about to be asked."""

    index: int


@dataclass(frozen=True, slots=True)
class StepEnd(Payload):
    """An answer and the results of its calls are there."""

    message: AssistantMessage
    results: tuple[ToolResultMessage, ...]


@dataclass(frozen=True, slots=True)
class MessageEnd(Payload):
    """A message is whole and stored as entry `entry_id`."""

    entry_id: str
    message: AgentMessage


@dataclass(frozen=True, slots=True)
class ModelSelected(Payload):
    """Another model answers from now on."""

    model: str
    previous: str | None = None


@dataclass(frozen=True, slots=True)
class ThinkingSelected(Payload):
    """Another thinking level holds from now on."""

    level: ThinkingLevel
    previous: ThinkingLevel


@dataclass(frozen=True, slots=True)
class Compacted(Payload):
    """A compaction is in the tree."""

    entry_id: str
    reason: Literal["manual", "threshold", "overflow"]


@dataclass(frozen=True, slots=True)
class TreeMoved(Payload):
    """The leaf has moved."""

    new_leaf_id: str | None
    old_leaf_id: str | None
    summary_entry_id: str | None = None


P = TypeVar("P", bound=Payload)
Answer = Payload | Verdict | None
Handler = Callable[[P], Awaitable[Answer] | Answer]


class SessionView(Protocol):
    """What an extension may see of its session."""

    @property
    def session_id(self) -> str:
        """Its id."""
        ...

    @property
    def cwd(self) -> Path:
        """Where its tools work."""
        ...

    @property
    def model(self) -> str | None:
        """The model in use, as `provider/id`."""
        ...

    @property
    def thinking(self) -> ThinkingLevel:
        """The thinking level in use."""
        ...

    @property
    def idle(self) -> bool:
        """Whether no turn runs."""
        ...

    def messages(self) -> Sequence[AgentMessage]:
        """The conversation on the active branch."""
        ...

    def notes(self, kind: str) -> Sequence[JsonValue]:
        """What was appended under this kind on the active branch, oldest first."""
        ...


class Actions(SessionView, Protocol):
    """What an extension may do; the session stands behind it."""

    def append(self, kind: str, data: JsonValue) -> str:
        """Store a note of the extension's own; never sent. Gives the entry's id."""
        ...

    def send(self, message: CustomMessage, deliver_as: Deliver, *, trigger: bool) -> None:
        """Say something to the model. `trigger`: begin a turn if none runs."""
        ...

    async def show(self, dialog: Dialog) -> Reply:
        """Put a dialog before whoever is there."""
        ...

    def sign(self, sign: Sign) -> None:
        """Put up a sign, or take it away."""
        ...


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command. `run` gets the text behind the name; what it returns is shown."""

    name: str
    description: str
    run: Callable[[str], Awaitable[str | None]]


@dataclass(slots=True)
class ExtensionAPI:
    """What `setup` is handed: one for each extension, good until its session is closed."""

    name: str
    handlers: list[tuple[type[Payload], Handler[Payload]]] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    actions: Actions | None = None
    drop: Callable[[], None] = field(default=lambda: None)
    thread: int = field(default_factory=get_ident)

    def on(self, kind: type[P], handler: Handler[P]) -> Callable[[], None]:
        """Hear of a kind of payload; the returned function ends it."""

        def heard(payload: Payload) -> Awaitable[Answer] | Answer:
            assert isinstance(payload, kind)
            return handler(payload)

        entry: tuple[type[Payload], Handler[Payload]] = (kind, heard)
        self.handlers.append(entry)

        def off() -> None:
            if entry in self.handlers:
                self.handlers.remove(entry)

        return off

    def tool(self, tool: Tool) -> None:
        """Offer a tool to the model."""

        async def run(args: BaseModel, tool_run: ToolRun) -> ToolOutput:
            return checked_output(await apart(tool.run, args, tool_run))

        self.tools.append(replace(tool, run=run))

    def command(
        self, name: str, description: str, run: Callable[[str], Awaitable[str | None]]
    ) -> None:
        """Offer a slash command to people."""

        async def ran(words: str) -> str | None:
            return await apart(run, words)

        self.commands.append(Command(name, description, ran))

    @property
    def session(self) -> SessionView:
        """The session, once it is open."""
        return self._present()

    def append(self, kind: str, data: JsonValue) -> str:
        """Store a note of one's own in the tree; the model never sees it."""
        return self._acting().append(kind, data)

    def send(
        self,
        text: str,
        *,
        kind: str | None = None,
        deliver_as: Deliver = "steer",
        trigger: bool = False,
        display: bool = True,
        details: JsonValue = None,
    ) -> None:
        """Say something to the model, shown to people or not."""
        message = CustomMessage(
            custom_type=kind or self.name, content=text, display=display, details=details
        )
        self._acting().send(message, deliver_as, trigger=trigger)

    async def show(self, dialog: Dialog) -> Reply:
        """Ask a person something. It is dismissed where nobody is there or the turn is stopped."""
        return await self._acting().show(dialog)

    def sign(self, kind: SignKind, payload: JsonValue, *, key: str | None = None) -> None:
        """Show something small beside the conversation; None takes it away. Nobody answers.

        At most SIGN_BYTES of JSON; each `key` of the extension has one place of its kind.
        """
        try:
            size = len(json.dumps(payload, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            raise ExtensionError(f"{self.name}: {NO_SIGN}") from None
        if size > SIGN_BYTES:
            raise ExtensionError(f"{self.name}: {LARGE_SIGN}")
        name = self.name if key is None else f"{self.name}.{key}"
        self._acting().sign(Sign(kind, name, payload))

    def _acting(self) -> Actions:
        """The session, to change it: one thread does, or what is written mixes."""
        if get_ident() != self.thread:
            raise ExtensionError(f"{self.name}: {OTHER_THREAD}")
        return self._present()

    def _present(self) -> Actions:
        if self.actions is None:
            raise ExtensionError(f"{self.name}: there is no open session to act on.")
        return self.actions
