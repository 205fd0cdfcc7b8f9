"""Servers for the faults around compaction: strict ones, small ones, ones that count nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.context.making import refuse

from singletree.compaction.budget import estimate
from singletree.compaction.prompts import SECTIONS, SYSTEM
from singletree.errors import ContextOverflow
from singletree.messages import Usage
from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.scripted import ScriptedModel, Turn, say
from singletree.session.settings.keys import Settings

SUMMARY = "\n".join(f"{heading}\n- S" for heading in SECTIONS)


@dataclass
class Server:
    """Plays turns; takes only what a strict provider takes, and only up to its window."""

    turns: Sequence[Turn | Callable[[ModelRequest], Turn]]
    window: int = 128_000
    told_window: int | None = None
    summary: Turn = field(default_factory=lambda: say(SUMMARY))
    requests: list[ModelRequest] = field(default_factory=list)
    summaries: list[ModelRequest] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    @property
    def model(self) -> ScriptedModel:
        info = ModelInfo("fake", "m", context_window=self.told_window or self.window)
        return ScriptedModel([self.answer] * 200, info)

    def answer(self, request: ModelRequest) -> Turn:
        refuse(request.messages)
        size = tokens(request)
        self.sizes.append(size)
        if size > self.window:
            raise ContextOverflow(f"prompt is too long: {size} tokens > {self.window} maximum")
        if request.system == SYSTEM:
            self.summaries.append(request)
            return self.summary
        self.requests.append(request)
        turn = self.turns[min(len(self.requests), len(self.turns)) - 1]
        return turn if isinstance(turn, Turn) else turn(request)


def tokens(request: ModelRequest) -> int:
    """What a server would count, roughly."""
    tools = sum(len(f"{tool.name}{tool.description}{tool.schema}") for tool in request.tools)
    return (len(request.system) + tools) // 4 + sum(map(estimate, request.messages))


def limits(reserve: int, keep: int) -> Settings:
    return Settings.model_validate(
        {"compaction": {"reserveTokens": reserve, "keepRecentTokens": keep}}
    )


def counted(turn: Turn, tokens: int) -> Turn:
    return turn.but(usage=Usage(input=tokens, total_tokens=tokens))
