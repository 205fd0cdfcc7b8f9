"""run_loop: ask a model, run its tools, ask again, until nothing waits.

A function of data (LoopContext) and callbacks (LoopConfig). It keeps nothing between two calls,
writes no file, logs nothing, and knows no session, no editor and no permission. Two loops: the
inner one goes on while the model calls tools or steering waits, the outer one while follow-ups
wait. Read next: config.py (the callbacks), calls.py (calls and results).

What it promises:
- `emit` and the `take_…` callbacks are plain functions: between taking a text and telling of it
  nothing can be cancelled, so a text is always either in its queue or in the conversation.
- Cancelling the caller's scope ends the run in a tail that never waits: the open answer ends as
  "aborted" with what was streamed, every call of a finished answer gets its one result, StepEnded
  and RunEnded are told, and the cancellation goes on upwards. No request follows it. (Calls inside
  an answer that is itself aborted or failed get no result: such an answer is never sent again.)
- A failure of the model, or a SingletreeError of a callback, ends the run as a value:
  `RunEnded(reason="error", error=…)`. Anything else is a broken promise: told the same way, raised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from singletree.agent.calls import Batch
from singletree.agent.config import Blocked, LoopConfig, LoopContext, Onward, Step, Waiting
from singletree.agent.draft import Draft
from singletree.agent.events import (
    AgentEvent,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    RunEnded,
    RunReason,
    RunStarted,
    StepEnded,
    StepStarted,
)
from singletree.errors import EmptyAnswer, ModelError, SingletreeError, in_words
from singletree.messages import (
    AgentMessage,
    AssistantMessage,
    StopReason,
    Text,
    ToolResultMessage,
)
from singletree.model.base import Delta, Model, ModelRequest

__all__ = ["Blocked", "LoopConfig", "LoopContext", "Onward", "Step", "Waiting", "run_loop"]

EMPTY_ANSWER = "The model ended its answer without saying anything."
UNNAMED_ERROR = "The model ended its answer with an error."

Emit = Callable[[AgentEvent], None]


async def run_loop(
    prompts: Sequence[Waiting], context: LoopContext, config: LoopConfig, emit: Emit
) -> RunEnded:
    """One run, from its prompts (none: go on from where the context stands) to its end."""
    run = _Run(context, config, emit)
    emit(RunStarted())
    try:
        return run.end(await run.turns(prompts), run.error)
    except SingletreeError as error:
        run.close("error", error.message)
        return run.end("error", error)
    except anyio.get_cancelled_exc_class():
        run.close("aborted")
        run.end("aborted")
        raise
    except BaseException as error:
        told = SingletreeError(in_words(error))
        run.close("error", told.message)
        run.end("error", told)
        raise


class _Run:
    """The state of one call of run_loop: its own copy of the conversation, and what is open."""

    def __init__(self, context: LoopContext, config: LoopConfig, emit: Emit) -> None:
        self.error: ModelError | None = None
        self._config = config
        self._emit = emit
        self._messages = list(context.messages)
        self._added: list[AgentMessage] = []
        self._step = Step(
            -1, config.model, config.thinking, context.system, (), tuple(context.tools)
        )
        self._in_step = False
        self._draft: tuple[str, Draft] | None = None
        self._answer: AssistantMessage | None = None
        self._batch: Batch | None = None

    async def turns(self, prompts: Sequence[Waiting]) -> RunReason:
        """The outer loop: a turn for the prompts, then one for each lot of follow-ups."""
        waiting = prompts
        while True:
            reason = await self._turn(waiting)
            if reason is not None:
                return reason
            await checkpoint_if_cancelled()
            waiting = self._config.take_follow_up()
            if not waiting:
                return "finished"

    async def _turn(self, prompts: Sequence[Waiting]) -> RunReason | None:
        """The inner loop: steps until no tool was called and no steering waits."""
        waiting, steps, called = prompts, 0, True
        while True:
            if not waiting:
                await checkpoint_if_cancelled()
            steering = self._config.take_steering()
            if not (called or steering):
                return None
            steps = 1 if steering else steps + 1
            if steps > self._config.max_steps:
                return "max_steps"
            reason = await self._one_step([*waiting, *steering], steered=bool(steering))
            if reason is not None:
                return reason
            waiting, called = (), bool(self._answer and self._answer.tool_calls)

    async def _one_step(self, waiting: Sequence[Waiting], *, steered: bool) -> RunReason | None:
        """One model call with its tools; a reason if the run must end after it."""
        self._answer = self._batch = None
        self._in_step = True
        self._emit(StepStarted(self._step.index + 1))
        self._say(waiting)
        await self._prepare()
        if not steered:
            self._say(self._config.take_steering())
        answer = await self._ask()
        if self.error is not None:
            self._end_step(answer, ())
            return "error"
        results = await self._answer_calls(answer)
        self._end_step(answer, results)
        onward = await self._config.finish_step(answer, results)
        return "stopped" if onward == "stop" else None

    async def _prepare(self) -> None:
        """Let the caller change what the next request is made from."""
        now = self._step
        step = Step(
            now.index + 1, now.model, now.thinking, now.system, tuple(self._messages), now.tools
        )
        self._step = await self._config.before_step(step) or step
        if self._step.messages is not step.messages:
            self._messages = list(self._step.messages)

    async def _ask(self) -> AssistantMessage:
        """Stream one answer; a failure of the model is an answer too, and `self.error`."""
        step, config = self._step, self._config
        request = ModelRequest(
            step.system,
            tuple(config.to_llm(await config.transform_context(tuple(self._messages)))),
            tuple(tool.spec for tool in step.tools),
            step.thinking,
            session_id=config.session_id,
        )
        await checkpoint_if_cancelled()
        answer_id, draft = config.mint(), Draft(step.model.info, step.thinking)
        self._draft = (answer_id, draft)
        self._emit(MessageStarted(answer_id, draft.message()))
        try:
            answer, self.error = _judged(await self._stream(step.model, request))
        except ModelError as error:
            answer, self.error = draft.message("error", error.message), error
        self._end_answer(answer)
        return answer

    async def _stream(self, model: Model, request: ModelRequest) -> AssistantMessage:
        assert self._draft is not None
        answer_id, draft = self._draft

        def hear(deltas: Sequence[Delta]) -> None:
            for delta in deltas:
                draft.feed(delta)
                self._emit(MessageDelta(answer_id, delta))

        return await model.answer(request, hear)

    async def _answer_calls(self, answer: AssistantMessage) -> tuple[ToolResultMessage, ...]:
        if not answer.tool_calls:
            return ()
        config = self._config
        self._batch = Batch(
            answer,
            self._step.tools,
            config.before_tool,
            config.after_tool,
            self._emit,
            config.calls,
        )
        await self._batch.run()
        return self._add_results(self._batch)

    def close(self, stop_reason: StopReason, error_message: str | None = None) -> None:
        """The tail: end what is open, without waiting for anything."""
        results: tuple[ToolResultMessage, ...] = ()
        if self._draft is not None:
            self._end_answer(self._draft[1].message(stop_reason, error_message))
        elif self._batch is not None:
            self._batch.close()
            results = self._add_results(self._batch)
        if self._answer is not None and self._in_step:
            self._end_step(self._answer, results)

    def end(self, reason: RunReason, error: SingletreeError | None = None) -> RunEnded:
        """Tell that the run is over."""
        ended = RunEnded(tuple(self._added), reason, error)
        self._emit(ended)
        return ended

    def _say(self, waiting: Sequence[Waiting]) -> None:
        for entry_id, message in waiting:
            entry_id = entry_id or self._config.mint()
            self._emit(MessageStarted(entry_id, message))
            self._end_message(entry_id, message)

    def _end_answer(self, answer: AssistantMessage) -> None:
        assert self._draft is not None
        answer_id, self._draft, self._answer = self._draft[0], None, answer
        self._end_message(answer_id, answer)

    def _add_results(self, batch: Batch) -> tuple[ToolResultMessage, ...]:
        self._batch = None
        results = batch.results()
        self._say([(None, result) for result in results])
        return tuple(results)

    def _end_message(self, entry_id: str, message: AgentMessage) -> None:
        self._messages.append(message)
        self._added.append(message)
        self._emit(MessageEnded(entry_id, message))

    def _end_step(self, answer: AssistantMessage, results: tuple[ToolResultMessage, ...]) -> None:
        self._in_step = False
        self._emit(StepEnded(answer, results))


def _judged(message: AssistantMessage) -> tuple[AssistantMessage, ModelError | None]:
    """A finished answer and what is wrong with it. An empty one is kept, marked as failed."""
    if message.stop_reason == "error":
        return message, ModelError(message.error_message or UNNAMED_ERROR)
    spoken = any(not isinstance(b, Text) or b.text.strip() for b in message.content)
    if spoken or message.stop_reason == "length":
        return message, None
    failed = message.model_copy(update={"stop_reason": "error", "error_message": EMPTY_ANSWER})
    return failed, EmptyAnswer(EMPTY_ANSWER, retryable=True)
