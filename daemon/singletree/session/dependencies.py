"""What the host puts together for a session. Values and promises only.

Read next: wiring.py (what is made of it), ../host/assembly.py (who puts it together).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from singletree.agent.tool import Tool
from singletree.context.gather import Gathered
from singletree.extensions.api import ExtensionAPI
from singletree.extensions.dialog import Show, show_nobody
from singletree.extensions.loader import Loaded
from singletree.extensions.sign import Sign
from singletree.history.record import History
from singletree.model.base import Model
from singletree.session.events import SessionEvent
from singletree.session.permission.gate import Gate
from singletree.session.settings.keys import Settings
from singletree.session.settings.layers import Layers
from singletree.session.settings.trust import Trust
from singletree.session.turn.driver import Spawn
from singletree.tools.world import Shell

Start = Literal["startup", "reload", "new", "resume", "fork"]

TRUSTED = Trust(True, "nothing_gated")


async def load_none() -> Loaded:
    """The workspace has no extensions."""
    return Loaded()


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What the host puts together for a session; functions are asked each time anew.

    `named`: the model that the command line insists on. `first`: the one to begin with else.
    `find`: a reference as a model. `gather`: everything that goes into the system prompt, read from
    files (slow). `layers`: where settings come from. `refresh`: read changed settings (slow); gives
    what is wrong with them. `active`: the tools to begin with; with `only_active` no extension's
    tool is added. `shell`: for commands that a person runs by hand; long outputs go to `outputs`.
    `emit`, `spawn`, `show` and `sign` come from above: who hears, where turns live, who sees a
    dialog or a sign. `trust`: whether what the workspace brings along counts, as of the last
    `refresh`. `of_workspace`: its extensions; `load_of_workspace` loads those that count now.
    """

    agent_dir: Path
    cwd: Path
    history: History
    settings: Callable[[], Settings]
    first: Callable[[], Awaitable[str]]
    find: Callable[[str], Model]
    tools: Sequence[Tool]
    active: Sequence[str]
    gate: Gate
    gather: Callable[[], Gathered]
    shell: Shell
    emit: Callable[[SessionEvent], None]
    spawn: Spawn
    show: Show = show_nobody
    sign: Callable[[Sign], None] = lambda sign: None
    layers: Callable[[], Layers] = lambda: Layers(Settings())
    refresh: Callable[[], Sequence[str]] = tuple
    only_active: bool = False
    outputs: Path | None = None
    extensions: tuple[ExtensionAPI, ...] = ()
    start: Start = "startup"
    named: str | None = None
    trust: Callable[[], Trust] = lambda: TRUSTED
    of_workspace: tuple[ExtensionAPI, ...] = ()
    load_of_workspace: Callable[[], Awaitable[Loaded]] = load_none
    notices: tuple[tuple[str, str], ...] = ()
