"""Checks of `loop/flow`: whole runs with tools, queues, retries and commands on a real session.

What differs on purpose is brought to one form first: with us a prompt is an entry before its run
begins, a follow-up is a run of its own, and calls that never ran are told as ended only. Between
the start of an answer's calls and the end of its step the order is: starts, queue, ends, results.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup
from tests.model.talk import failed
from tests.session.stage import Casting, Stage, said, stage
from tests.vectors.runner import Case, Check
from tests.vectors.wording import marked

from singletree.agent.tool import Args, Tool, ToolOutput, ToolRun, typed
from singletree.errors import SessionBusy
from singletree.extensions.api import ExtensionAPI
from singletree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomMessage,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from singletree.model.base import Hear, ModelInfo, ModelRequest
from singletree.model.script import CallPart, FailPart, Part, SayPart, Turn
from singletree.model.scripted import ScriptedModel
from singletree.session.events import (
    EntryAppended,
    MessageEnded,
    QueueChanged,
    RetryChanged,
    RunEnded,
    RunStarted,
    SessionEvent,
    Settled,
    StepEnded,
    StepStarted,
    ToolEnded,
    ToolStarted,
)
from singletree.session.settings.keys import Settings
from singletree.tools.world import Exit

Row = list[Any]
FAILED = ("error", "aborted")
RETRY = {"maxRetries": 2, "baseDelayMs": 1}
"""What the vectors were recorded with, but for the wait."""


class Stubborn:
    """A shell in which every command says "o"."""

    async def run(
        self,
        command: str,
        *,
        cwd: Path,
        limit: float | None,
        on_output: Callable[[bytes], None],
        env: Mapping[str, str] | None = None,
    ) -> Exit:
        on_output(b"o")
        return Exit(0, "exit")


class Play:
    """One case: the model's answers, the tools, and what is done when."""

    def __init__(self, case: Case, tasks: TaskGroup) -> None:
        self.raw = case.input
        self.errors: list[Row] = []
        self.requests: list[list[Row]] = []
        self.apis: list[ExtensionAPI] = []
        self.models = {ref: Answering(self, ref) for ref in ("m", "m2")}
        self.left = list(self.raw["responses"])
        self.on: Stage | None = None
        self._tasks = tasks

    @property
    def tools(self) -> list[Tool]:
        """alpha and beta: they say their argument, wait for ever, or fail."""
        return [
            Tool(name, name, "read", f"Tool {name}.", XArgs, typed(XArgs, self._work))
            for name in ("alpha", "beta")
        ]

    async def do(self, action: Any) -> None:
        """One thing that a person or an extension does."""
        assert self.on is not None
        session, options = self.on.session, action.get("options", {})
        match action["do"]:
            case "prompt":
                await self._prompt(action["text"], options.get("streamingBehavior", "error"))
            case "steer":
                await session.turns.steer(said(action["text"]))
            case "follow_up":
                await session.turns.follow_up(said(action["text"]))
            case "clear_queue":
                session.queue.clear()
            case "abort":
                self._tasks.start_soon(session.turns.abort)
            case "custom":
                deliver, trigger = options.get("deliverAs", "steer"), options.get("triggerTurn")
                self.apis[0].send(action["text"], deliver_as=deliver, trigger=bool(trigger))
            case "bash_result":
                await session.user_bash.run(
                    "ls", exclude_from_context=options.get("excludeFromContext", False)
                )
            case "model":
                await session.choice.set_model(action["id"])

    async def _prompt(self, text: str, when_busy: Any) -> None:
        assert self.on is not None
        try:
            await self.on.session.turns.prompt(said(text), when_busy=when_busy)
        except SessionBusy:
            self.errors.append(["prompt", "busy"])

    async def _work(self, args: XArgs, tool_run: ToolRun) -> ToolOutput:
        for action in self.raw["tool_actions"].get(tool_run.call_id, ()):
            await self.do(action)
        match args.x:
            case "wait":
                await anyio.sleep_forever()
            case "slow":
                await anyio.sleep(0.05)
            case "throw":
                raise ValueError("thrown")
        return ToolOutput.text(args.x)


class XArgs(Args):
    """Arguments of alpha and beta."""

    x: str


class Answering:
    """A model that plays the case's next answer, whoever is asked."""

    def __init__(self, play: Play, name: str) -> None:
        self.info = ModelInfo("p", name)
        self._play = play

    async def answer(self, request: ModelRequest, hear: Hear) -> AssistantMessage:
        play = self._play
        play.requests.append([request_row(message) for message in request.messages])
        answer = play.left.pop(0) if play.left else {"text": "ok"}
        for action in answer.get("before", ()):
            await play.do(action)
        return await ScriptedModel([turn(answer)], self.info).answer(request, hear)


def turn(raw: Any) -> Turn:
    """An answer of a vector as a turn."""
    parts: list[Part] = [SayPart(raw["text"])] if raw.get("text") else []
    parts += [CallPart(c["name"], c["arguments"], c["id"]) for c in raw.get("calls", ())]
    if raw.get("stop") == "error":
        parts.append(FailPart(failed(raw["error"])))
    return Turn(tuple(parts), stop=raw.get("stop"))


def flow(case: Case) -> None:
    with tempfile.TemporaryDirectory() as name:
        anyio.run(_flow, case, Path(name))


async def _flow(case: Case, root: Path) -> None:
    raw = dict(case.input["settings"])
    settings = Settings.model_validate({**raw, "retry": {**RETRY, **raw.get("retry", {})}})
    async with anyio.create_task_group() as tasks:
        play = Play(case, tasks)
        casting = Casting(
            settings=lambda: settings,
            tools=play.tools,
            extensions=[play.apis.append],
            find=lambda ref: play.models[ref.removeprefix("p/")],
            shell=Stubborn(),
        )
        model = ScriptedModel([], play.models["m"].info)
        async with stage(root, model, casting=casting) as on:
            play.on = on
            for action in case.input["actions"]:
                await play.do(action)
                await on.session.turns.wait()
                await anyio.sleep(0.01)
                await on.session.turns.wait()
            items = on.session.queue.items
            told = events(on.events)
            got = {
                "errors": play.errors,
                "requests": play.requests,
                "context": [context_row(m) for m in on.session._talk.projection().messages],
                "pending": {
                    "steering": [words(i.content) for i in items if i.kind == "steer"],
                    "follow_up": [words(i.content) for i in items if i.kind == "followUp"],
                },
            }
    want = {
        **case.expected,
        "events": in_order(case.expected["events"]),
        "requests": [sent(rows, case.expected["context"]) for rows in case.expected["requests"]],
    }
    assert {**got, "events": in_order(told)} == want


def words(content: Sequence[Mapping[str, Any]]) -> str:
    return " ".join(block["text"] for block in content)


def request_row(message: object) -> Row:
    match message:
        case UserMessage(content=content):
            return ["user", marked(text_of(content))]
        case ToolResultMessage(tool_call_id=call_id):
            return ["toolResult", call_id]
        case _:
            return ["assistant"]


def sent(rows: Sequence[Row], context: Sequence[Row]) -> list[Row]:
    """A request of pi without failed answers, which it drops on a lower floor than this one."""
    stops = (row[1] for row in context if row[0] == "assistant")
    return [row for row in rows if row[0] != "assistant" or next(stops) not in FAILED]


def context_row(message: object) -> Row:
    match message:
        case UserMessage(content=content):
            return ["user", text_of(content)]
        case AssistantMessage(stop_reason=stop):
            return ["assistant", stop]
        case ToolResultMessage(tool_call_id=call_id, is_error=is_error):
            return ["toolResult", call_id, is_error]
        case CustomMessage():
            return ["custom"]
        case BashExecutionMessage():
            return ["bashExecution"]
    raise AssertionError(message)


class Told:
    """Our events as rows in pi's form."""

    def __init__(self, told: Sequence[SessionEvent]) -> None:
        self.rows: list[Row] = []
        self.idle: list[Row] = []
        """What an extension said to a session that does nothing."""
        self._waiting: list[Row] = []
        self._ended = False
        self._running = False
        self._begun = set[str]()
        self._queue: Sequence[Any] = ()
        self._said = {e.entry.id for e in told if isinstance(e, EntryAppended)}

    def add(self, event: SessionEvent) -> None:
        match event:
            case RunStarted():
                self._running = True
                self._waiting += self.idle
                self.idle = []
                self._continued()
            case StepStarted():
                self.rows += [["turn_start"], *self._waiting]
                self._waiting = []
            case StepEnded():
                self.rows.append(["turn_end"])
            case RunEnded():
                self._running, self._ended = False, True
            case Settled():
                self._end()
            case RetryChanged():
                self._retry(event)
            case _:
                self._more(event)

    def _more(self, event: SessionEvent) -> None:
        match event:
            case ToolStarted(call):
                self._begun.add(call.id)
                self.rows.append(["tool_execution_start", call.id, call.name])
            case ToolEnded(call, output):
                if call.id not in self._begun:
                    self.rows.append(["tool_execution_start", call.id, call.name])
                self.rows.append(["tool_execution_end", call.id, output.is_error])
            case MessageEnded(_, message):
                if not isinstance(message, UserMessage):
                    self.rows += both(context_row(message))
            case EntryAppended(entry):
                self._entry(entry)
            case QueueChanged(items):
                self._queued(items)

    def _entry(self, entry: Any) -> None:
        """What is said outside of a step belongs to the next one."""
        if entry.type == "custom_message":
            if not self._running:
                self.idle += both(["custom"])
            return
        if entry.type == "message" and isinstance(entry.message, UserMessage):
            row = ["user", text_of(entry.message.content)]
            if not self._running:
                self.rows += self.idle
                self.idle = []
        else:
            return
        if self.rows and self.rows[-1][:2] in (["turn_start"], ["message_end", "user"]):
            self.rows += both(row)
        else:
            self._waiting += both(row)

    def _queued(self, items: Sequence[Any]) -> None:
        """A text that is taken leaves the queue right before it is said."""
        texts = [
            [words(i.content) for i in items if i.kind == kind] for kind in ("steer", "followUp")
        ]
        row = ["queue_update", *texts]
        left = {i.entry_id for i in self._queue} - {i.entry_id for i in items}
        self._queue = items
        if not left & self._said:
            self.rows.append(row)
        elif self.rows and self.rows[-1][:2] == ["message_end", "user"]:
            self.rows.insert(len(self.rows) - 2, row)
        else:
            self._waiting[-2:-2] = [row]

    def _retry(self, event: RetryChanged) -> None:
        if event.status == "waiting":
            self._end()
            self.rows.append(["auto_retry_start", event.attempt, event.max_attempts])
        elif event.status == "succeeded":
            self.rows.append(["auto_retry_end", True, event.attempt])
        elif event.status == "failed":
            self._end()
            self.rows.append(["auto_retry_end", False, event.attempt])

    def _continued(self) -> None:
        if not self._ended:
            self.rows.append(["agent_start"])
        self._ended = False

    def _end(self) -> None:
        if self._ended:
            self.rows.append(["agent_end"])
        self._ended = False


def events(told: Sequence[SessionEvent]) -> list[Row]:
    made = Told(told)
    for event in told:
        made.add(event)
    return made.rows + made.idle


def both(row: Row) -> list[Row]:
    return [["message_start", *row], ["message_end", *row]]


RANKS = {"tool_execution_start": 0, "queue_update": 1, "tool_execution_end": 2}


def in_order(rows: Sequence[Row]) -> list[Row]:
    """The rows of each answer's calls in one order; which of two tools ends first is free."""
    made: list[Row] = []
    calls: list[Row] = []
    for row in rows:
        if row[0] == "tool_execution_start" or calls:
            if row[0] in ("turn_end", "turn_start", "agent_end"):
                made += sorted(calls, key=_place)
                calls = []
                made.append(row)
            else:
                calls.append(row)
        else:
            made.append(row)
    return made + calls


def _place(row: Row) -> tuple[int, str]:
    rank = RANKS.get(row[0], 3)
    return rank, row[1] if rank in (0, 2) else ""


CHECKS: Mapping[str, Check] = {"flow": flow}
