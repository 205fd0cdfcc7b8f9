"""How a session is put together: settings, trust, tools, gate, prompt, models, extensions.

The only place that knows all rooms at once. Never keeps a session. Read next:
../session/dependencies.py (what is made here).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.to_thread
from anyio.abc import TaskGroup

from singletree.agent.tool import Tool
from singletree.context.gather import Gathered, gather
from singletree.context.places import Overrides
from singletree.context.reading import from_disk
from singletree.errors import SingletreeError, UnknownSession
from singletree.extensions.loader import (
    Loaded,
    find_extensions,
    load_extensions,
    workspace_extensions,
)
from singletree.extensions.runner import Failure
from singletree.history.entries import prepare
from singletree.history.record import History
from singletree.history.store import Store
from singletree.host.options import Front, Options
from singletree.model.base import Terms
from singletree.model.catalog import Catalog
from singletree.pathtext import at_home
from singletree.session.dependencies import Dependencies, Start
from singletree.session.permission.gate import Gate
from singletree.session.settings.current import CurrentSettings, FromEditors
from singletree.session.settings.keys import Settings
from singletree.session.settings.layers import Layers, Scope, load_settings
from singletree.session.settings.workspace_trust import WorkspaceTrust
from singletree.tools.disk import FileLocks, LocalWorld
from singletree.tools.kit import default_tools
from singletree.tools.leftovers import sweep
from singletree.tools.output import prune
from singletree.tools.sandbox import SandboxedShell, can_confine
from singletree.tools.shell import LocalShell, Wishes
from singletree.tools.shrink import allowed
from singletree.tools.world import Files, World

log = logging.getLogger(__name__)


class Assembly:
    """Makes the parts of sessions; what they share in a process lives here."""

    def __init__(self, options: Options, front: Front, tasks: TaskGroup) -> None:
        self.options = options
        self.catalog = Catalog(options.agent_dir, options.environment)
        self._front = front
        self._warm = False
        self._tasks = tasks
        self._locks = FileLocks()
        self._stores: dict[Path | None, Store] = {}
        self._outputs = options.agent_dir / "singletree" / "outputs"
        self._children = options.agent_dir / "singletree" / "children"

    async def parts(self, history: History, cwd: Path, start: Start) -> Dependencies:
        """Everything a session of this folder needs."""
        options, front, session_id = self.options, self._front, history.id
        front.begin(session_id, cwd)
        files = front.files(session_id)
        ask = partial(anyio.from_thread.run_sync, self._said, session_id, files)
        trust = WorkspaceTrust(options.agent_dir, cwd, options.trust)
        current = CurrentSettings(options.agent_dir, cwd, trust, ask)
        wrong = await anyio.to_thread.run_sync(current.refresh)
        shell = self._shell(lambda: current.settings)
        world = LocalWorld(cwd, files, shell, self._locks)
        gate = self._gate(session_id, world, shell, lambda: current.settings)
        made = partial(self._tools, world, gate, shell, lambda: current.settings)
        tools = await anyio.to_thread.run_sync(made)
        gathered = await anyio.to_thread.run_sync(self._gather, cwd, current, files)
        loaded = await self._extensions(current)
        of_workspace = await self._extensions_of(cwd, current)
        return Dependencies(
            agent_dir=options.agent_dir,
            cwd=cwd,
            history=history,
            settings=lambda: current.settings,
            layers=lambda: current.layers,
            refresh=current.refresh,
            first=lambda: self._first(current.settings),
            find=lambda ref: self.catalog.find(ref, lambda: terms_of(current.settings)),
            tools=tools,
            active=options.tools or current.settings.default_tools,
            only_active=options.tools is not None,
            gate=gate,
            gather=lambda: self._gather(cwd, current, files),
            shell=shell,
            outputs=self._outputs,
            extensions=loaded.extensions,
            start=start,
            emit=partial(front.emit, session_id),
            show=partial(front.show, session_id),
            sign=partial(front.sign, session_id),
            spawn=self.spawn,
            named=options.model,
            trust=lambda: trust.now,
            of_workspace=of_workspace.extensions,
            load_of_workspace=partial(self._extensions_of, cwd, current),
            notices=(
                *(("trust", text) for text in trust.now.warnings),
                *(("settings", text) for text in wrong),
                *_notices(gathered, (*loaded.problems, *of_workspace.problems), history),
            ),
        )

    async def store(self, cwd: Path | None) -> Store:
        """Where sessions of a folder are kept."""
        folder = self.options.session_dir
        if folder is None and cwd is not None:
            settings = await anyio.to_thread.run_sync(
                load_settings, self.options.agent_dir, cwd, self.options.settings or None, False
            )
            folder = _inside(cwd, settings.session_dir)
        return self._stores.setdefault(folder, Store(self.options.agent_dir, folder))

    async def store_of(self, session_id: str, cwd: Path | None = None) -> Store:
        """Where a session is kept: of a folder, or of any that was looked into.

        UnknownSession where it is in none.
        """
        first, usual = await self.store(cwd), await self.store(None)
        for store in dict.fromkeys((first, usual, *self._stores.values())):
            if await anyio.to_thread.run_sync(store.find, session_id) is not None:
                return store
        raise UnknownSession(f"There is no session {session_id}.", detail={"id": session_id})

    async def sweep(self) -> None:
        """End what a life before this one left running; old outputs go."""
        await anyio.to_thread.run_sync(sweep, self._children)
        await anyio.to_thread.run_sync(prune, self._outputs)

    async def warm_up(self, wished: str | None) -> None:
        """Let the first request find the way made. What is wrong with it is told then."""
        if not self._warm:
            self._warm = True
            await anyio.to_thread.run_sync(prepare)
            with suppress(SingletreeError, OSError, ValueError):
                await self.catalog.warm_up(wished)

    async def _extensions(self, current: CurrentSettings) -> Loaded:
        """The person's own: those of the folder, and those that settings name."""
        named = _named(current.layers, "extensions", "user")
        found = await anyio.to_thread.run_sync(find_extensions, self.options.agent_dir, None, named)
        return await load_extensions(found, trusted=True, limit=current.settings.extension_limit)

    async def _extensions_of(self, cwd: Path, current: CurrentSettings) -> Loaded:
        """Those that the workspace brings along; none where it is not trusted."""
        named = _named(current.layers, "extensions", "workspace")
        found = await anyio.to_thread.run_sync(workspace_extensions, cwd, named)
        limit = current.settings.extension_limit
        return await load_extensions(found, trusted=current.trusted, limit=limit)

    def _said(self, session_id: str, files: Files) -> FromEditors:
        """What the editors say now; asked in the loop."""
        settings = {**self.options.settings, **self._front.settings(session_id)}
        return FromEditors(settings, files.dirty())

    def _gather(self, cwd: Path, current: CurrentSettings, files: Files) -> Gathered:
        """Called in a worker thread; the loop is asked for the unsaved buffers of this moment."""
        current.trust.look()  # a command may have brought something into a folder that had nothing
        options, layers = self.options, current.layers
        overrides = Overrides(
            options.system_prompt,
            options.append_system_prompt,
            user_skills=_named(layers, "skills", "user"),
            user_prompts=_named(layers, "prompts", "user"),
            project_skills=_named(layers, "skills", "workspace"),
            project_prompts=_named(layers, "prompts", "workspace"),
            skills=_named(layers, "skills", "override"),
            prompts=_named(layers, "prompts", "override"),
        )
        unsaved = anyio.from_thread.run_sync(files.dirty)
        home = options.environment.get("HOME")
        return gather(
            cwd,
            options.agent_dir,
            current.trusted,
            unsaved_first(unsaved),
            overrides,
            Path(home) if home else None,
        )

    async def _first(self, settings: Settings) -> str:
        """The model to begin with: the one of the settings, else the first that can be used."""
        if settings.default_model and settings.default_provider:
            return f"{settings.default_provider}/{settings.default_model}"
        if settings.default_model:
            return settings.default_model
        return (await self.catalog.usable()).info.ref

    def _gate(
        self, session_id: str, world: World, shell: LocalShell, settings: Callable[[], Settings]
    ) -> Gate:
        options = self.options
        return Gate(
            partial(self._front.ask, session_id),
            world,
            options.agent_dir,
            options.mode or settings().permissions.mode or "ask",
            readable=(options.agent_dir / "skills",),
            sandbox=lambda: settings().sandbox.enabled and can_confine(),
            shell=lambda: shell.argv("")[0],
        )

    def _tools(
        self, world: World, gate: Gate, shell: LocalShell, settings: Callable[[], Settings]
    ) -> list[Tool]:
        """What a rule allowed unasked runs in the sandbox, what a person allowed as it is."""
        hidden = gate.places.hidden()

        def confined() -> SandboxedShell:
            wanted = settings().sandbox
            return SandboxedShell(
                shell,
                workspace=world.cwd,
                network=wanted.network,
                writable=[world.cwd / at_home(path) for path in wanted.writable],
                hidden=hidden,
                guarded=[self.options.agent_dir],
                readable=[self._outputs],
            )

        return default_tools(
            world,
            outputs=self._outputs,
            shell_of=lambda call_id: confined() if gate.confined(call_id) else shell,
            hidden=hidden,
            shrink=allowed(lambda: settings().images.auto_resize),
        )

    def _shell(self, settings: Callable[[], Settings]) -> LocalShell:
        return LocalShell(
            self.options.environment,
            children=self._children,
            wishes=lambda: wishes_of(settings()),
        )

    def spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        """Let something go on that belongs to no request; its failure is logged."""

        async def guarded() -> None:
            try:
                await work()
            except Exception:
                log.exception("work of no request failed")

        self._tasks.start_soon(guarded)


def wishes_of(settings: Settings) -> Wishes:
    """What is wanted of commands, by the settings as they now are."""
    return Wishes(
        settings.shell_path and str(at_home(settings.shell_path)),
        settings.shell_command_prefix,
        tuple(settings.environment.keep),
        tuple(settings.environment.drop),
    )


def _notices(
    gathered: Gathered, problems: Iterable[Failure], history: History
) -> Iterator[tuple[str, str]]:
    """What a person should know of what a session was made from."""
    yield from (("context", one.message) for one in gathered.warnings)
    yield from (("extension", f"{one.extension}: {one.message}") for one in problems)
    yield from ((one.kind, one.message) for one in history.damage)


def terms_of(settings: Settings) -> Terms:
    """How providers are asked, by the settings as they now are."""
    return Terms(
        first=settings.http_first_token_timeout_ms / 1000,
        between=settings.http_idle_timeout_ms / 1000,
        whole=(settings.retry.provider.timeout_ms or 0) / 1000,
        proxy=settings.http_proxy,
        budgets=settings.thinking_budgets,
    )


def unsaved_first(unsaved: Mapping[Path, bytes]) -> Callable[[Path], bytes]:
    """How a file is read where some of them are open and not saved."""

    def read(path: Path) -> bytes:
        if (data := unsaved.get(Path(os.path.realpath(path)))) is not None:
            return data
        return from_disk(path)

    return read if unsaved else from_disk


def _named(layers: Layers, key: str, *scopes: Scope) -> tuple[str, ...]:
    """The paths that layers of settings name under a key."""
    said = dict(layers.values)
    found = [said.get(scope, {}).get(key) for scope in scopes]
    paths = (path for named in found if isinstance(named, list) for path in named)
    return tuple(path for path in paths if isinstance(path, str))


def _inside(cwd: Path, named: str | None) -> Path | None:
    return None if named is None else cwd / at_home(named)
