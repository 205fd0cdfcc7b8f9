"""Who answers, how hard it thinks, with which tools: chosen for a session, changed while it runs.

A change counts from the next step on. It is written into the tree with the next prompt, so that
looking around leaves no trace. Never asks a model. Read next: turn/driver.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import anyio.to_thread

from singletree.agent.tool import Tool
from singletree.errors import SingletreeError
from singletree.history.entries import ModelChangeEntry, ThinkingLevelChangeEntry
from singletree.messages import ThinkingLevel
from singletree.model.base import Model
from singletree.model.thinking import clamp
from singletree.session.settings.keys import Settings
from singletree.session.tree.conversation import Conversation

MODEL_GONE = "The model {ref} of this session is not known here; another one answers."
CANNOT_THINK = "{model} is not known to think."
NEAREST_LEVEL = "{model} has no level {wanted}; it has {levels}."
NO_MODEL = "No model is chosen."
NO_MODEL_HINT = "Choose one with agent/model/set, or set defaultModel in settings.json."


@dataclass(frozen=True, slots=True)
class Override:
    """Another choice for one turn alone."""

    model: str | None = None
    thinking: ThinkingLevel | None = None


class ModelChoice:
    """The choices of one session. `named`: the model that the command line insists on."""

    def __init__(
        self,
        talk: Conversation,
        tools: Sequence[Tool],
        named: str | None,
        settings: Callable[[], Settings],
        first: Callable[[], Awaitable[str]],
        find: Callable[[str], Model],
        changed: Callable[[], None],
        warn: Callable[[str, str], None],
    ) -> None:
        self._talk = talk
        self._settings = settings
        self._first = first
        self._find = find
        self._changed = changed
        self._warn = warn
        self._found: dict[str, Model | SingletreeError] = {}
        self._stale: set[str] = set()
        self._level: ThinkingLevel | None = None
        self.override = Override()
        self.ref: str | None = named
        self._from_branch = False
        self._own = self.all_tools = tuple(tools)
        self.tools = self.all_tools

    async def restore(self) -> None:
        """Go on with what the branch was answered with last."""
        model, self._level = await anyio.to_thread.run_sync(self._talk.settings)
        if model is not None and self.ref is None:
            self.ref, self._from_branch = "/".join(model), True
        await self._look()

    async def settle(self) -> None:
        """Find the model of the next turn; the one to begin with, where nobody has chosen yet.

        Raises `no_model` or `auth_required`.
        """
        if self.ref is None and self.override.model is None:
            ref = await self._first()
            if self.ref is None:
                self.ref = ref
                self._changed()
        await self._look()
        try:
            self.model()
        except SingletreeError as error:
            if error.code != "no_model" or not self._from_branch:
                raise
            self._warn("model_gone", MODEL_GONE.format(ref=self.ref))
            self.ref, self._from_branch = None, False
            await self.settle()

    def model(self) -> Model:
        """The model of the next step, as found last. Raises `no_model` or `auth_required`."""
        ref = self.override.model or self.ref
        if ref is None:
            raise SingletreeError(NO_MODEL, code="no_model", hint=NO_MODEL_HINT)
        if ref not in self._found:
            self._find_it(ref)
        found = self._found[ref]
        if isinstance(found, SingletreeError):
            raise found.with_traceback(None)
        return found

    def forget_found(self) -> None:
        """Keys or models have changed: look again before the next turn."""
        self._stale.update(self._found)

    async def _look(self) -> None:
        """Find what is chosen, unless it is found already. Reads files, so not in the loop."""
        ref = self.override.model or self.ref
        known = None if ref in self._stale else self._found.get(ref or "")
        if ref is not None and (known is None or isinstance(known, SingletreeError)):
            await anyio.to_thread.run_sync(self._find_it, ref)

    def _find_it(self, ref: str) -> None:
        """Note the model, or why it cannot be used, so that nobody reads the files to ask again."""
        self._stale.discard(ref)
        try:
            self._found[ref] = self._find(ref)
        except SingletreeError as error:
            self._found[ref] = error

    @property
    def thinking(self) -> ThinkingLevel:
        """The level of the next step, one the model has."""
        wanted = self.override.thinking or self._level or self._default_level()
        try:
            return clamp(wanted, self.model().info.levels)
        except SingletreeError:
            return wanted

    @property
    def images(self) -> bool:
        """Whether the next step is shown pictures: the model sees them and settings allow it."""
        try:
            return self.model().info.images and not self._settings().images.block_images
        except SingletreeError:
            return False

    async def set_model(self, ref: str) -> None:
        """Choose the model. Raises `no_model` or `auth_required`."""
        found = await anyio.to_thread.run_sync(self._find, ref)
        self.ref, self._from_branch = found.info.ref, False
        self._found[self.ref] = found
        self._changed()

    def levels(self) -> Sequence[ThinkingLevel]:
        """Those the model has."""
        try:
            return self.model().info.levels
        except SingletreeError:
            return ("off",)

    def set_thinking(self, level: ThinkingLevel) -> None:
        """Choose the thinking level."""
        self._level = level
        self._changed()

    def why_another(self, wanted: str) -> str | None:
        """Why the level that counts is not the wanted one."""
        if self.thinking == wanted:
            return None
        info = self.model().info
        if info.levels == ("off",):
            return CANNOT_THINK.format(model=info.ref)
        return NEAREST_LEVEL.format(model=info.ref, wanted=wanted, levels=", ".join(info.levels))

    def set_tools(self, names: Sequence[str]) -> None:
        """Choose the active tools."""
        known = {tool.name for tool in self.all_tools}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise SingletreeError(
                f"There is no tool {unknown[0]}; there are {', '.join(sorted(known))}.",
                code="not_found",
            )
        self.tools = tuple(tool for tool in self.all_tools if tool.name in names)
        self._changed()

    def offer(self, tools: Sequence[Tool], wanted: Callable[[str], bool]) -> None:
        """The tools of extensions, all of them; one with the name of one of ours takes its place.

        New ones are active where they are `wanted`.
        """
        theirs, ours = {tool.name: tool for tool in tools}, {tool.name for tool in self._own}
        added = (tool for tool in tools if tool.name not in ours)
        all_tools = (*(theirs.get(tool.name, tool) for tool in self._own), *added)
        if [id(tool) for tool in all_tools] == [id(tool) for tool in self.all_tools]:
            return
        known, active = ({t.name for t in some} for some in (self.all_tools, self.tools))
        self.all_tools = all_tools
        self.tools = tuple(
            tool
            for tool in all_tools
            if tool.name in active or (tool.name not in known and wanted(tool.name))
        )
        self._changed()

    def record(self) -> None:
        """Write down model and thinking level where the branch knows others, or none.

        A branch that says both is opened by pi without a trace.
        """
        (model, level), info = self._talk.settings(), self.model().info
        if model != (info.provider, info.id):
            self._talk.add(ModelChangeEntry(provider=info.provider, model_id=info.id))
        if level != self.thinking:
            self._talk.add(ThinkingLevelChangeEntry(thinking_level=self.thinking))

    def _default_level(self) -> ThinkingLevel:
        settings = self._settings()
        ref = self.override.model or self.ref or ""
        return settings.model_thinking_levels.get(ref, settings.default_thinking_level)
