"""The system prompt of each step, and what guests add when a turn begins.

Made anew from the files each time; guests are asked once a turn, and what they make of the prompt
holds for all its steps. Never knows what a step does with it. Read next: ../../context/prompt.py,
runner.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
        self._asked = False
        self._instead: str | None = None

    def begin(self) -> None:
        """A turn begins."""
        self._asked, self._instead = False, None

    async def system(self, tools: Sequence[Tool]) -> str:
        """The prompt for the next step; the first one of a turn may add messages to the tree."""
        around = await self.frame(tools)
        if not self._asked:
            self._asked = True
            prompt = await self._ask(around.prompt)
            if prompt != around.prompt:
                around = whole_frame(prompt, tools)
        self._talk.fixed = around.tokens
        return around.prompt

    async def frame(self, tools: Sequence[Tool]) -> Frame:
        """What the next step carries besides its messages; asks no guest and changes nothing."""
        if self._instead is not None:
            return whole_frame(self._instead, tools)
        return await anyio.to_thread.run_sync(lambda: frame(self._gather().parts, tools))

    async def _ask(self, prompt: str) -> str:
        if not self._hooks.hears(BeforeAgentStart):
            return prompt
        started = (await self._hooks.fire(BeforeAgentStart(self._newest(), prompt))).payload
        for message in started.messages:
            self._talk.add(custom_entry(message))
        if started.system != prompt:
            self._instead = started.system
        return started.system

    def _newest(self) -> str:
        """What the turn is about."""
        for message in reversed(self._talk.projection().messages):
            if isinstance(message, UserMessage | CustomMessage):
                return text_of(message.content)
        return ""


def custom_entry(message: CustomMessage) -> CustomMessageEntry:
    """A guest's message as it is kept."""
    return CustomMessageEntry(
        custom_type=message.custom_type,
        content=message.content,
        display=message.display,
        details=message.details,
    )
