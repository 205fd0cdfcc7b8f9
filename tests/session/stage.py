"""A real session on a temporary folder, with a scripted model and people made of a function."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from singletree.agent.tool import Tool
from singletree.context.gather import gather
from singletree.extensions.api import ExtensionAPI
from singletree.extensions.runner import Setup, set_up
from singletree.history.store import History, Store
from singletree.messages import AssistantMessage, Message, Text, ToolResultMessage, UserMessage
from singletree.model.base import Model
from singletree.model.scripted import ScriptedModel
from singletree.session.dependencies import Dependencies
from singletree.session.events import SessionEvent
from singletree.session.permission.gate import Answer, Gate, Question
from singletree.session.session import AgentSession
from singletree.session.settings.keys import Settings
from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.kit import default_tools
from singletree.tools.shell import LocalShell
from singletree.tools.world import Shell


async def yes(question: Question) -> Answer:
    allow = next(option for option in question.options if option.kind == "allow")
    return Answer("allowed", option_id=allow.id, by="test")


async def no(question: Question) -> Answer:
    return Answer("denied", by="test")


@dataclass
class Stage:
    """A session, what it told, and who answers it."""

    session: AgentSession
    model: ScriptedModel
    folder: Path
    events: list[SessionEvent] = field(default_factory=list)

    def told(self, kind: type[SessionEvent]) -> list[SessionEvent]:
        return [event for event in self.events if isinstance(event, kind)]

    async def say(self, text: str) -> None:
        """Prompt and wait until all is settled."""
        await self.session.turns.prompt([Text(text=text)])
        await self.session.turns.wait()

    async def until(self, reached: Callable[[], bool]) -> None:
        with anyio.fail_after(10):
            while not reached():  # noqa: ASYNC110  # anything may be waited for
                await anyio.sleep(0.005)


def said(text: str) -> list[Text]:
    return [Text(text=text)]


def outline(messages: Sequence[Message]) -> list[str]:
    """Messages of a request, a line each."""
    lines: list[str] = []
    for message in messages:
        match message:
            case UserMessage():
                lines.append(f"user: {_text(message.content)}")
            case AssistantMessage():
                calls = "".join(f" call {call.name}" for call in message.tool_calls)
                lines.append(f"assistant: {_text(message.content)}{calls}")
            case ToolResultMessage():
                lines.append(f"result: {_text(message.content)}")
    return lines


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    assert isinstance(content, list)
    return " ".join(block.text.strip() for block in content if isinstance(block, Text))


@dataclass
class Casting:
    """Who plays: what a session may be given beside its model.

    `find` knows more models; `hears` is told every event when it happens.
    """

    ask: Callable[[Question], Awaitable[Answer]] = yes
    settings: Callable[[], Settings] = Settings
    refresh: Callable[[], Sequence[str]] = tuple
    tools: Sequence[Tool] | None = None
    extensions: Sequence[Setup] = ()
    find: Callable[[str], Model] | None = None
    shell: Shell | None = None
    trusted: bool = False
    hears: Callable[[SessionEvent], None] = lambda event: None


@asynccontextmanager
async def stage(
    tmp_path: Path,
    model: ScriptedModel,
    *,
    ask: Callable[[Question], Awaitable[Answer]] = yes,
    settings: Settings | None = None,
    session_id: str | None = None,
    extensions: Sequence[Setup] = (),
    casting: Casting | None = None,
) -> AsyncIterator[Stage]:
    """Open a session (an existing one by its id) and close it at the end."""
    cast = casting or Casting(ask, lambda: settings or Settings(), extensions=extensions)
    folder, agent_dir = tmp_path / "work", tmp_path / "agent"
    folder.mkdir(exist_ok=True)
    store = Store(agent_dir)
    if session_id is None:
        history = store.create(str(folder))
    else:
        history = await anyio.to_thread.run_sync(store.open_id, session_id)
    events: list[SessionEvent] = []
    made = [await set_up(f"g{n}", setup) for n, setup in enumerate(cast.extensions, 1)]
    async with anyio.create_task_group() as tasks:
        parts = _parts(folder, agent_dir, history, model, cast, made, events, tasks)
        session = AgentSession(parts)
        await session.begin()
        session.choice.ref = model.info.ref
        try:
            yield Stage(session, model, folder, events)
        finally:
            with anyio.CancelScope(shield=True):
                await session.close()


def _parts(
    folder: Path,
    agent_dir: Path,
    history: History,
    model: ScriptedModel,
    cast: Casting,
    extensions: Sequence[ExtensionAPI],
    events: list[SessionEvent],
    tasks: TaskGroup,
) -> Dependencies:
    async def first() -> str:
        return model.info.ref

    def tell(event: SessionEvent) -> None:
        events.append(event)
        cast.hears(event)

    shell = LocalShell({"PATH": "/usr/bin:/bin"})
    world = LocalWorld(folder, Disk(), shell)
    tools = default_tools(world) if cast.tools is None else list(cast.tools)
    ours = ("read", "bash", "edit", "write")
    return Dependencies(
        agent_dir=agent_dir,
        cwd=folder,
        history=history,
        settings=cast.settings,
        refresh=cast.refresh,
        first=first,
        find=cast.find or (lambda ref: model),
        tools=tools,
        active=ours if cast.tools is None else [tool.name for tool in tools],
        gate=Gate(cast.ask, world, agent_dir),
        gather=lambda: gather(folder, agent_dir, trusted=cast.trusted),
        shell=cast.shell or shell,
        outputs=agent_dir / "outputs",
        extensions=tuple(extensions),
        emit=tell,
        spawn=lambda work: _start(tasks, work),
    )


def _start(tasks: TaskGroup, work: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        await work()

    tasks.start_soon(run)
