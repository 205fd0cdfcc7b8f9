"""The tools there are, in the order in which a model is told of them.

Never knows which of them are active, or whether a call is allowed. Read next: world.py (what they
are given), read.py (the first of them).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path

from singletree.agent.tool import Tool
from singletree.tools.bash import bash_tool
from singletree.tools.edit import edit_tool
from singletree.tools.find import find_tool
from singletree.tools.ls import ls_tool
from singletree.tools.read import read_tool
from singletree.tools.search import grep_tool
from singletree.tools.shrink import Shrink
from singletree.tools.world import Shell, World
from singletree.tools.write import write_tool

NAMES = ("read", "bash", "edit", "write", "grep", "find", "ls")


def default_tools(
    world: World,
    names: Collection[str] | None = None,
    *,
    outputs: Path | None = None,
    shell_of: Callable[[str], Shell] | None = None,
    hidden: Sequence[Path] = (),
    shrink: Shrink | None = None,
) -> list[Tool]:
    """The tools for a world, all or the named ones; names nobody knows are left out.

    `outputs`: where long outputs of commands are saved. `shell_of`: the shell for a call id, where
    some commands are confined. `hidden`: what a search passes by. `shrink`: see `read_tool`.
    """
    makers: dict[str, Callable[[World], Tool]] = {
        "read": partial(read_tool, shrink=shrink),
        "bash": partial(bash_tool, outputs=outputs, shell_of=shell_of),
        "edit": edit_tool,
        "write": write_tool,
        "grep": partial(grep_tool, hidden=hidden),
        "find": find_tool,
        "ls": ls_tool,
    }
    return [makers[name](world) for name in NAMES if names is None or name in names]
