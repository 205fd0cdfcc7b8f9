"""What a person's text means before it is a message: a command, an extension's matter, a template.

In this order: a slash command of ours or of an extension is run at once, also while a turn runs;
extensions may change or take the text; a skill or a prompt template unfolds; pictures are made fit.
A text that is none of these passes as it is, without a wait. Never starts a turn. Read next:
../turn/turns.py (what becomes of it), ../../context/gather.py (skills and templates).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import anyio
import anyio.to_thread

from singletree.context.gather import Gathered
from singletree.extensions.api import Handled, Input
from singletree.messages import Image, Text, text_of
from singletree.session.extensions.hooks import Hooks

Content = Sequence[Text | Image]
Source = Literal["prompt", "steer", "followUp"]

SKILL = "skill:"


@dataclass(frozen=True, slots=True)
class Builtin:
    """A command of ours. `run` gets the text behind the name; what it returns is shown."""

    description: str
    hint: str | None
    run: Callable[[str], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class Offered:
    """A slash command as a list shows it. `path`: the file it comes from."""

    name: str
    description: str
    source: Literal["builtin", "extension", "prompt", "skill"]
    hint: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """A command or an extension did all there was to do; `note` is what it answered."""

    note: str | None = None


class UserInput:
    """The texts that come into one session. `gather` reads files: it is slow.

    `fit`: a message with pictures that can be sent.
    """

    def __init__(
        self,
        hooks: Hooks,
        gather: Callable[[], Gathered],
        builtin: Mapping[str, Builtin],
        skills_offered: Callable[[], bool],
        fit: Callable[[Content], Awaitable[Content]],
    ) -> None:
        self._hooks = hooks
        self._gather = gather
        self._builtin = builtin
        self._skills_offered = skills_offered
        self.fit = fit
        self._in_order = anyio.Lock()

    async def offered(self) -> list[Offered]:
        """All slash commands, in the order in which a name is looked up."""
        gathered = await anyio.to_thread.run_sync(self._gather)
        made = [Offered(n, b.description, "builtin", b.hint) for n, b in self._builtin.items()]
        made += [
            Offered(name, command.description, "extension")
            for name, command in self._hooks.commands.items()
            if name not in self._builtin
        ]
        made += [
            Offered(one.name, one.description, "prompt", one.hint, one.path)
            for one in gathered.templates.items
        ]
        if self._skills_offered():
            made += [
                Offered(f"{SKILL}{one.name}", one.description, "skill", None, one.path)
                for one in gathered.skills.items
            ]
        return made

    def is_command(self, content: Content) -> bool:
        """Whether this is run at once instead of being said."""
        return self._command(content) is not None

    async def heard(self, content: Content, source: Source) -> Content | Done:
        """What is to be said, or that all is done."""
        command = self._command(content)
        if command is not None:
            return Done(await command())
        if not _slash(content) and not self._hooks.hears(Input) and not _pictures(content):
            return content
        async with self._in_order:
            taken = await self._extensions_take(content, source)
            return taken if isinstance(taken, Done) else await self.fit(await self._unfolded(taken))

    def _command(self, content: Content) -> Callable[[], Awaitable[str | None]] | None:
        name, words = _parted(_slash(content))
        if (own := self._builtin.get(name)) is not None:
            return lambda: own.run(words)
        if name and (theirs := self._hooks.commands.get(name)) is not None:
            return lambda: self._hooks.run(theirs, words)
        return None

    async def _extensions_take(self, content: Content, source: Source) -> Content | Done:
        if not self._hooks.hears(Input):
            return content
        images = tuple(block for block in content if isinstance(block, Image))
        given = Input(text_of(list(content)), images, source)
        fired = await self._hooks.fire(given)
        if isinstance(fired.verdict, Handled):
            return Done(fired.verdict.note or None)
        if fired.payload is given:
            return content
        left = fired.payload
        return [*([Text(text=left.text)] if left.text else []), *left.images]

    async def _unfolded(self, content: Content) -> Content:
        if not _slash(content):
            return content
        first, *rest = content
        assert isinstance(first, Text)
        gathered = await anyio.to_thread.run_sync(self._gather)
        text = await anyio.to_thread.run_sync(gathered.expand, first.text)
        return content if text == first.text else [Text(text=text), *rest]


def _parted(text: str) -> tuple[str, str]:
    """The first word and what stands behind it."""
    name = text.split(maxsplit=1)[0] if text[:1].strip() else ""
    return name, text[len(name) :].strip()


def _pictures(content: Content) -> bool:
    return any(isinstance(block, Image) for block in content)


def _slash(content: Content) -> str:
    """The text behind a slash at the very beginning, else nothing."""
    first = content[0] if content else None
    if isinstance(first, Text) and first.text.startswith("/"):
        return first.text[1:]
    return ""
