"""A session as text that a person reads at a glance, both ways, and one `check` for a run.

    user: look at a.txt
    assistant: I look.
    call read {"path": "a.txt"}
    result read: hello
    result! read: (a failed result)
    assistant [error: overloaded]: half an ans
    thinking: (part of the answer above or beginning one)
    custom note: (a message of an extension)
    summary: (of a compaction)      branch: (of a branch left behind)

More lines of a text are indented by two spaces. A `call` belongs to the answer it follows, or is an
answer of its own; a `result` answers the oldest open call of its name. What `show` cannot pair it
shows as `orphan`, what was never answered as `open`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from singletree.agent.config import LoopConfig, LoopContext
from singletree.agent.events import AgentEvent, RunEnded
from singletree.agent.loop import run_loop
from singletree.agent.tool import Tool
from singletree.messages import (
    AgentMessage,
    AssistantMessage,
    Block,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from singletree.model.base import Model
from singletree.model.scripted import ScriptedModel, Turn

LINE = re.compile(
    r"(?P<kind>user|assistant|thinking|call|result!?|custom|summary|branch)"
    r"(?: (?P<name>[\w.-]+))?(?: \[(?P<stop>\w+)(?:: (?P<why>[^\]]*))?\])?"
    r"(?:: ?(?P<text>.*)| (?P<args>\{.*\}))?$"
)


def read(story: str) -> list[AgentMessage]:
    """The messages a story tells. Ids of calls are c1, c2, … in the order of the text."""
    made: list[AgentMessage] = []
    blocks: list[_Line] = []
    waiting: list[ToolCall] = []
    calls = 0
    for line in [*_lines(story), None]:
        if blocks and (line is None or not line.joins(blocks)):
            answer = _build_answer(blocks, calls)
            calls += len(answer.tool_calls)
            waiting += answer.tool_calls
            made.append(answer)
            blocks = []
        if line is None:
            continue
        if line.kind in ("assistant", "thinking", "call"):
            blocks.append(line)
        else:
            made.append(_build(line, waiting))
    return made


def show(messages: Sequence[AgentMessage]) -> str:
    """The story that messages tell."""
    lines: list[str] = []
    open_calls: dict[str, str] = {}
    for message in messages:
        match message:
            case AssistantMessage():
                lines += _answer(message)
                if message.stop_reason not in ("error", "aborted"):
                    open_calls |= {c.id: c.name for c in message.tool_calls}
            case ToolResultMessage():
                known = open_calls.pop(message.tool_call_id, None)
                kind = "result!" if message.is_error else "result"
                word = kind if known == message.tool_name else "orphan"
                lines.append(_line(f"{word} {message.tool_name}", text_of(message.content)))
            case UserMessage():
                lines.append(_line("user", text_of(message.content)))
            case CustomMessage():
                lines.append(_line(f"custom {message.custom_type}", text_of(message.content)))
            case CompactionSummaryMessage():
                lines.append(_line("summary", message.summary))
            case BranchSummaryMessage():
                lines.append(_line("branch", message.summary))
            case _:
                lines.append(message.role)
    lines += [f"open {name}" for name in open_calls.values()]
    return "\n".join(lines)


@dataclass
class Played:
    """What a run left: its events, its end, and the requests the model saw."""

    events: list[AgentEvent] = field(default_factory=list)
    messages: list[AgentMessage] = field(default_factory=list)
    ended: RunEnded | None = None


async def check(
    given: str,
    said: str,
    turns: Sequence[Turn],
    expected: str,
    *,
    tools: Sequence[Tool] = (),
    configure: Callable[[LoopConfig], LoopConfig] = lambda config: config,
) -> Played:
    """On a conversation `given`, `said` is answered by `turns`: now it reads as `expected`.

    `expected` is the whole conversation after `given`.
    """
    played = Played()
    model: Model = ScriptedModel(turns)
    context = LoopContext("", read(given), tools)
    prompts = [(None, message) for message in read(said)]
    config = configure(LoopConfig(model))
    played.ended = await run_loop(prompts, context, config, played.events.append)
    played.messages = list(played.ended.messages)
    assert show(played.messages) == expected.strip("\n")
    return played


def check_accepted(messages: Sequence[AgentMessage]) -> None:
    """A strict provider takes this: calls are answered, once each, in order, right behind them."""
    due: list[str] = []
    for message in messages:
        match message:
            case ToolResultMessage():
                assert due
                assert due.pop(0) == message.tool_call_id
            case AssistantMessage():
                assert due == []
                if message.stop_reason not in ("error", "aborted"):
                    due = [c.id for c in message.tool_calls]
            case _:
                assert due == []
    assert due == []


def _line(head: str, text: str) -> str:
    return f"{head}: {text}".rstrip(" ").replace("\n", "\n  ")


def _answer(message: AssistantMessage) -> list[str]:
    lines: list[str] = []
    mark = ""
    if message.stop_reason not in ("stop", "toolUse"):
        why = f": {message.error_message}" if message.error_message else ""
        mark = f" [{message.stop_reason}{why}]"
    first = message.content[0] if message.content else None
    if mark or first is None:
        lines.append(f"assistant{mark}:")
    for block in message.content:
        match block:
            case Text() if lines and lines[-1] == f"assistant{mark}:":
                lines[-1] = _line(f"assistant{mark}", block.text)
            case Text():
                lines.append(_line("assistant", block.text))
            case Thinking():
                lines.append(_line("thinking", block.thinking))
            case ToolCall():
                lines.append(f"call {block.name} {json.dumps(block.arguments, ensure_ascii=False)}")
            case _:
                lines.append(f"({block.type})")
    return lines


@dataclass(frozen=True)
class _Line:
    kind: str
    name: str
    stop: str | None
    why: str | None
    text: str
    args: str | None

    def joins(self, blocks: Sequence[_Line]) -> bool:
        """Whether this is a further part of the answer these lines make."""
        kinds = {line.kind for line in blocks}
        match self.kind:
            case "call":
                return True
            case "assistant":
                return kinds == {"thinking"}
            case "thinking":
                return kinds == {"thinking"}
            case _:
                return False


def _lines(story: str) -> list[_Line]:
    lines: list[_Line] = []
    for raw in story.strip("\n").splitlines():
        if raw.startswith("  ") and lines:
            lines[-1] = replace(lines[-1], text=f"{lines[-1].text}\n{raw[2:]}")
        elif raw.strip():
            match = LINE.match(raw)
            assert match, f"not a line of a story: {raw!r}"
            name, text = match["name"] or "", match["text"] or ""
            lines.append(
                _Line(match["kind"], name, match["stop"], match["why"], text, match["args"])
            )
    return lines


def _build_answer(lines: Sequence[_Line], calls: int) -> AssistantMessage:
    content: list[Block] = []
    for line in lines:
        match line.kind:
            case "call":
                calls += 1
                args = json.loads(line.args or "{}")
                content.append(ToolCall(id=f"c{calls}", name=line.name, arguments=args))
            case "thinking":
                content.append(Thinking(thinking=line.text))
            case _ if line.text:
                content.append(Text(text=line.text))
    marked = next((line for line in lines if line.stop), None)
    called = any(line.kind == "call" for line in lines)
    stop = marked.stop if marked and marked.stop else "toolUse" if called else "stop"
    return AssistantMessage(
        content=content, stop_reason=stop, error_message=marked.why if marked else None
    )


def _build(line: _Line, waiting: list[ToolCall]) -> AgentMessage:
    match line.kind:
        case "user":
            return UserMessage(content=line.text)
        case "custom":
            return CustomMessage(custom_type=line.name, content=line.text)
        case "summary":
            return CompactionSummaryMessage(summary=line.text)
        case "branch":
            return BranchSummaryMessage(summary=line.text)
    call = next(c for c in waiting if c.name == line.name)
    waiting.remove(call)
    return ToolResultMessage(
        tool_call_id=call.id,
        tool_name=line.name,
        content=[Text(text=line.text)],
        is_error=line.kind == "result!",
    )
