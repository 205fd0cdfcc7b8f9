"""The system prompt of a turn, and what extensions add when it begins.

Made from the files when a turn begins and held for its steps, so that what a provider has cached of
one request serves the next; extensions are asked once, and what they make of the prompt holds as
well. Never knows what a step does with it. Read next: ../../context/prompt.py, runner.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import anyio.to_thread

from singletree.agent.tool import Tool
from singletree.context.gather import Gathered
from singletree.extensions.api import BeforeAgentStart
from singletree.history.entries import CustomMessageEntry
from singletree.messages import CustomMessage, UserMessage, text_of
from singletree.session.extensions.hooks import Hooks
from singletree.session.tree.conversation import Conversation
from singletree.session.tree.xray import Frame, frame, whole_frame


class SystemPrompt:
    """The prompts of one session. `gather` reads files: it is slow."""

    def __init__(self, talk: Conversation, hooks: Hooks, gather: Callable[[], Gathered]) -> None:
        self._talk = talk
        self._hooks = hooks
        self._gather = gather
        self._making: Callable[[Sequence[Tool]], Frame] | None = None
        self._made: tuple[Sequence[Tool], Frame] | None = None

    def forget(self) -> None:
        """A turn begins or is over."""
        self._making = self._made = None

    async def system(self, tools: Sequence[Tool]) -> str:
        """The prompt for the next step; the first one of a turn may add messages to the tree."""
        if self._making is None:
            parts = (await anyio.to_thread.run_sync(self._gather)).parts
            self._making = partial(frame, parts)
            prompt = await self._ask(self._held(tools).prompt)
            if prompt != self._held(tools).prompt:
                self._making, self._made = partial(whole_frame, prompt), None
        around = self._held(tools)
        self._talk.fixed = around.tokens
        return around.prompt

    @property
    def held(self) -> Frame | None:
        """What the last step of this turn carried besides its messages; None before the first."""
        return self._made[1] if self._made else None

    async def frame(self, tools: Sequence[Tool]) -> Frame:
        """What the next step carries besides its messages; asks nobody and changes nothing."""
        if self._making is not None:
            return self._held(tools)
        return await anyio.to_thread.run_sync(lambda: frame(self._gather().parts, tools))

    def _held(self, tools: Sequence[Tool]) -> Frame:
        """The frame of this turn, made anew only where the tools are others."""
        assert self._making is not None
        if self._made is None or self._made[0] != tools:
            self._made = tools, self._making(tools)
        return self._made[1]

    async def _ask(self, prompt: str) -> str:
        if not self._hooks.hears(BeforeAgentStart):
            return prompt
        started = (await self._hooks.fire(BeforeAgentStart(self._newest(), prompt))).payload
        for message in started.messages:
            self._talk.add(custom_entry(message))
        return started.system

    def _newest(self) -> str:
        """What the turn is about."""
        for message in reversed(self._talk.projection().messages):
            if isinstance(message, UserMessage | CustomMessage):
                return text_of(message.content)
        return ""


def custom_entry(message: CustomMessage) -> CustomMessageEntry:
    """An extension's message as it is kept."""
    return CustomMessageEntry(
        custom_type=message.custom_type,
        content=message.content,
        display=message.display,
        details=message.details,
    )
