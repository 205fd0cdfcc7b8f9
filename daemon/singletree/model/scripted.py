"""A model that plays given turns: for tests, documents and the editors' end-to-end tests.

    model = ScriptedModel([call("read", path="a.txt"), say("It is empty.")])

Every request is kept in `.requests`. It sleeps only where a turn says so, and when the script is
used up it says that as its answer. Never knows a network or a key. Read next: script.py (the turns
and the format of a file), base.py (the promise).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, assert_never

import anyio
from anyio.lowlevel import checkpoint

from singletree.messages import (
    AssistantMessage,
    Block,
    Text,
    Thinking,
    ToolCall,
    UserMessage,
    text_of,
)
from singletree.model.base import (
    Delta,
    Hear,
    ModelInfo,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from singletree.model.partial_json import read_call
from singletree.model.script import (
    SCRIPTED,
    CallPart,
    Cue,
    FailPart,
    SayPart,
    Scene,
    Script,
    ThinkPart,
    Turn,
    WaitPart,
    call,
    fail,
    read_script,
    say,
    think,
    wait,
)

__all__ = ["ScriptedModel", "Turn", "call", "fail", "from_file", "say", "think", "wait"]

USED_UP = "The script is used up: all its {turns} turns were played, and this is request {request}."
BREATH = 64
"""Deltas after which other tasks get their turn, as they would between network packets."""


class ScriptedModel:
    """Plays turns in order; scenes choose by the user's words (see script.py)."""

    def __init__(self, turns: Sequence[Cue], info: ModelInfo | None = None) -> None:
        self._play(Script(info or SCRIPTED, [Scene(turns=list(turns))]))

    @classmethod
    def of(cls, script: Script) -> Self:
        """A model that plays a whole script."""
        model = cls(())
        model._play(script)
        return model

    def _play(self, script: Script) -> None:
        self.requests: list[ModelRequest] = []
        self._script = script
        self._places = [_Place() for _ in script.scenes]
        self._calls = 0

    @property
    def info(self) -> ModelInfo:
        """What it is."""
        return self._script.info

    async def answer(self, request: ModelRequest, hear: Hear) -> AssistantMessage:
        """Play the next turn of the scene that fits the last user text."""
        self.requests.append(request)
        turn = self._next(request)
        content: list[Block] = []
        count = 0
        await checkpoint()
        for part in turn.parts:
            match part:
                case WaitPart():
                    await anyio.sleep(part.seconds)
                    continue
                case FailPart():
                    raise part.error
                case SayPart():
                    content.append(Text(text=part.text))
                case ThinkPart():
                    content.append(Thinking(thinking=part.text))
                case CallPart():
                    content.append(self._tool_call(part, request))
                case _:
                    assert_never(part)
            for delta in _deltas(part, len(content) - 1, content[-1], turn.chunk):
                if turn.pause and count:
                    await anyio.sleep(turn.pause)
                hear([delta])
                count += 1
                if count % BREATH == 0:
                    await checkpoint()
        return self._message(turn, content)

    def _next(self, request: ModelRequest) -> Turn:
        said = _last_user_text(request).casefold()
        scenes = self._script.scenes
        index = next((i for i, s in enumerate(scenes) if i and s.when.casefold() in said), 0)
        cue = self._places[index].take(scenes[index])
        if cue is None:
            total = sum(len(scene.turns) for scene in scenes)
            return say(USED_UP.format(turns=total, request=len(self.requests)))
        return cue if isinstance(cue, Turn) else cue(request)

    def _tool_call(self, part: CallPart, request: ModelRequest) -> ToolCall:
        call_id = part.id or self._free_id(request)
        if part.raw is None:
            return ToolCall(id=call_id, name=part.tool, arguments=dict(part.args))
        arguments, error = read_call(part.raw)
        return ToolCall(id=call_id, name=part.tool, arguments=arguments, arguments_error=error)

    def _free_id(self, request: ModelRequest) -> str:
        """An id no call of the conversation has: a script may start anew in an old session."""
        said = (m for m in request.messages if isinstance(m, AssistantMessage))
        taken = {c.id for m in said for c in m.tool_calls}
        while True:
            self._calls += 1
            if (call_id := f"call_{self._calls}") not in taken:
                return call_id

    def _message(self, turn: Turn, content: list[Block]) -> AssistantMessage:
        calls = any(isinstance(block, ToolCall) for block in content)
        return AssistantMessage(
            content=content,
            api=self.info.api,
            provider=self.info.provider,
            model=self.info.id,
            usage=turn.usage,
            stop_reason=turn.stop or ("toolUse" if calls else "stop"),
        )


def from_file(path: Path | str) -> ScriptedModel:
    """A model that plays the script in a file. Reads it at once: call this in a worker thread."""
    return ScriptedModel.of(read_script(Path(path)))


@dataclass(slots=True)
class _Place:
    """How far a scene has been played."""

    turn: int = 0
    times: int = 0

    def take(self, scene: Scene) -> Cue | None:
        """The next turn, or None when there is none."""
        if self.turn >= len(scene.turns) and scene.loop:
            self.turn = 0
        if self.turn >= len(scene.turns):
            return None
        cue = scene.turns[self.turn]
        self.times += 1
        repeat = cue.repeat if isinstance(cue, Turn) else 1
        if 0 <= repeat <= self.times:
            self.turn, self.times = self.turn + 1, 0
        return cue


def _last_user_text(request: ModelRequest) -> str:
    for message in reversed(request.messages):
        if isinstance(message, UserMessage):
            return text_of(message.content)
    return ""


def _deltas(
    part: SayPart | ThinkPart | CallPart, index: int, block: Block, chunk: int
) -> Iterator[Delta]:
    match part:
        case SayPart():
            for piece in _pieces(part.text, chunk):
                yield TextDelta(index, piece)
        case ThinkPart():
            for piece in _pieces(part.text, chunk):
                yield ThinkingDelta(index, piece)
        case CallPart():
            assert isinstance(block, ToolCall)
            raw = json.dumps(dict(part.args)) if part.raw is None else part.raw
            for piece in _pieces(raw, chunk):
                yield ToolCallDelta(index, block.id, block.name, piece)
        case _:
            assert_never(part)


def _pieces(text: str, chunk: int) -> Iterator[str]:
    size = chunk if chunk > 0 else max(1, len(text))
    for start in range(0, max(1, len(text)), size):
        yield text[start : start + size]
