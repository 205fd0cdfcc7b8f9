"""What a scripted model plays: turns made in Python or read from a file of JSON lines.

A turn is one answer: parts (text, thinking, calls, pauses, an error) in the order they stream. A
scene is a row of turns; it answers the requests whose last user text holds its words. This module
never plays anything. Read next: scripted.py, which does.

The file has one JSON object a line; blank lines and lines that start with `//` are skipped.

    {"text": "Hello."}                                        an answer
    {"thinking": "Hm.", "text": "Yes.", "call": "read", "args": {"path": "a.txt"}}
    {"calls": [{"tool": "ls", "args": {}}, {"tool": "read", "args": {"path": "b"}, "id": "c7"}]}
    {"parts": [{"text": "Half an ans"}, {"wait": 0.2}, {"error": "gone"}]}     in this very order
    {"text": "abcdefgh", "times": 20000, "chunk": 8}          20,000 deltas of 8 characters
    {"delay": 1.5, "pause": 0.01, "text": "slow"}             seconds first, and between deltas
    {"error": "busy", "code": "overloaded", "retryable": true, "retryAfter": 2, "status": 529}
    {"text": "cut of", "stop": "length", "usage": {"input": 900, "output": 7}}
    {"text": "again and again", "repeat": true}               for ever; a number: that many times

Lines that direct what follows (alone, or together with a first turn):

    {"model": {"name": "Stage", "contextWindow": 8000, "maxOutput": 1000, "images": true,
               "levels": ["off", "high"]}}                    how the model describes itself
    {"loop": true}                                            at its end the scene begins again
    {"when": "tests", "loop": true}                           a new scene, for user texts that hold
                                                              "tests" (case does not matter)

Turns before the first `when` are the main scene: it answers whatever no other scene answers.
`raw` in place of `args` gives the arguments as unparsed text, to play broken JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic.alias_generators import to_camel

from singletree.errors import ModelError, SettingsError
from singletree.jsontext import decoded
from singletree.messages import ThinkingLevel, Usage
from singletree.model.base import ModelInfo, ModelRequest
from singletree.pathtext import LONG, read_plain


@dataclass(frozen=True, slots=True)
class SayPart:
    """Text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkPart:
    """Reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class CallPart:
    """A tool call. `raw` stands for the arguments where they are no whole JSON; "" id: made up."""

    tool: str
    args: Mapping[str, JsonValue] = field(default_factory=dict)
    id: str = ""
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class WaitPart:
    """Seconds of silence."""

    seconds: float


@dataclass(frozen=True, slots=True)
class FailPart:
    """The stream breaks here."""

    error: ModelError


Part = SayPart | ThinkPart | CallPart | WaitPart | FailPart


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer. `chunk` characters a delta (0: each part is one), `pause` seconds between them.

    `stop` None: "toolUse" if it calls, else "stop". `repeat`: how often it is played; -1 for ever.
    """

    parts: tuple[Part, ...]
    chunk: int = 0
    pause: float = 0
    stop: str | None = None
    usage: Usage = field(default_factory=Usage)
    repeat: int = 1

    def __add__(self, other: Turn) -> Turn:
        """One answer with the parts of both; everything else as in the second."""
        return replace(other, parts=self.parts + other.parts)

    def but(
        self,
        *,
        chunk: int | None = None,
        pause: float | None = None,
        stop: str | None = None,
        usage: Usage | None = None,
        repeat: int | None = None,
    ) -> Self:
        """The same with something else: `say("x" * 80).but(chunk=8, repeat=-1)`."""
        return replace(
            self,
            chunk=self.chunk if chunk is None else chunk,
            pause=self.pause if pause is None else pause,
            stop=self.stop if stop is None else stop,
            usage=self.usage if usage is None else usage,
            repeat=self.repeat if repeat is None else repeat,
        )


Cue = Turn | Callable[[ModelRequest], Turn]
"""A turn, or a function that makes one from the request."""


def say(text: str) -> Turn:
    """An answer of one text."""
    return Turn((SayPart(text),))


def think(text: str) -> Turn:
    """Reasoning; add what is said after it: `think("hm") + say("yes")`."""
    return Turn((ThinkPart(text),))


def call(tool: str, /, **args: JsonValue) -> Turn:
    """A tool call; several in one answer: `call("ls") + call("read", path="a")`."""
    return Turn((CallPart(tool, args),))


def wait(seconds: float) -> Turn:
    """Silence, to be added to something."""
    return Turn((WaitPart(seconds),))


def fail(error: ModelError | str) -> Turn:
    """A failure; after some text it is one in the middle: `say("half") + fail("gone")`."""
    return Turn((FailPart(ModelError(error) if isinstance(error, str) else error),))


@dataclass(slots=True)
class Scene:
    """Turns in a row, for the user texts that hold `when` ("": any). `loop`: it begins again."""

    when: str = ""
    loop: bool = False
    turns: list[Cue] = field(default_factory=list)


@dataclass(slots=True)
class Script:
    """Scenes (the first is the main one) and how the model describes itself."""

    info: ModelInfo
    scenes: list[Scene]


SCRIPTED = ModelInfo(provider="scripted", id="script", name="Scripted", api="scripted")


def read_script(path: Path) -> Script:
    """The script in a file. SettingsError names the line that cannot be read."""
    try:
        text = read_plain(path, LONG).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot read the script {path}: {error}") from error
    return parse_script(text, name=path.name)


def parse_script(text: str, *, name: str = "script") -> Script:
    """The script in a text."""
    script = Script(replace(SCRIPTED, id=name), [Scene()])
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        try:
            parsed = _Line.model_validate(decoded(line))
        except (ValidationError, ValueError) as error:
            why = _first(error) if isinstance(error, ValidationError) else str(error)
            raise SettingsError(f"script {name}, line {number}: {why}") from error
        _direct(script, parsed)
    return script


def _first(error: ValidationError) -> str:
    detail = error.errors()[0]
    return f"{'.'.join(str(key) for key in detail['loc'])}: {detail['msg']}"


class _Shape(BaseModel):
    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, frozen=True, defer_build=True
    )


class _Call(_Shape):
    tool: str
    args: dict[str, JsonValue] = {}
    id: str = ""
    raw: str | None = None


class _Part(_Shape):
    """Fields that make content; a line has them too, for the common short form."""

    wait: float = 0
    thinking: str | None = None
    text: str | None = None
    times: int = 1
    call: str | None = None
    args: dict[str, JsonValue] = {}
    id: str = ""
    raw: str | None = None
    calls: list[_Call] = []
    error: str | None = None
    code: str | None = None
    retryable: bool = False
    retry_after: float | None = None
    status: int | None = None


class _Info(_Shape):
    name: str = SCRIPTED.name
    context_window: int = SCRIPTED.context_window
    max_output: int = SCRIPTED.max_output
    images: bool = False
    levels: list[ThinkingLevel] = ["off"]


class _Line(_Part):
    parts: list[_Part] = []
    delay: float = 0
    pause: float = 0
    chunk: int = 0
    stop: str | None = None
    usage: Usage | None = None
    repeat: bool | int = 1
    when: str | None = None
    loop: bool = False
    model: _Info | None = None


def _direct(script: Script, line: _Line) -> None:
    if line.model is not None:
        script.info = replace(
            script.info,
            name=line.model.name,
            context_window=line.model.context_window,
            max_output=line.model.max_output,
            images=line.model.images,
            reasoning=line.model.levels != ["off"],
            levels=tuple(line.model.levels),
        )
    if line.when is not None:
        script.scenes.append(Scene(line.when))
    scene = script.scenes[-1]
    scene.loop = scene.loop or line.loop
    parts = tuple(p for shape in (line, *line.parts) for p in _parts(shape))
    if parts:
        scene.turns.append(
            Turn(
                ((WaitPart(line.delay),) if line.delay else ()) + parts,
                line.chunk,
                line.pause,
                line.stop,
                line.usage or Usage(),
                -1 if line.repeat is True else int(line.repeat),
            )
        )


def _parts(shape: _Part) -> Iterator[Part]:
    if shape.wait:
        yield WaitPart(shape.wait)
    if shape.thinking is not None:
        yield ThinkPart(shape.thinking)
    if shape.text is not None:
        yield SayPart(shape.text * shape.times)
    yield from _calls(shape)
    if shape.error is not None:
        yield FailPart(
            ModelError(
                shape.error,
                code=shape.code,
                retryable=shape.retryable,
                retry_after=shape.retry_after,
                status=shape.status,
                provider=SCRIPTED.provider,
            )
        )


def _calls(shape: _Part) -> Sequence[CallPart]:
    one = [CallPart(shape.call, shape.args, shape.id, shape.raw)] if shape.call else []
    return one + [CallPart(c.tool, c.args, c.id, c.raw) for c in shape.calls]
