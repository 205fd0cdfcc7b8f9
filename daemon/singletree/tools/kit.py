"""The tools there are, in the order in which a model is told of them.

Never knows which of them are active, or whether a call is allowed. Read next: world.py (what they
are given), read.py (the first of them).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from singletree.agent.tool import Tool
from singletree.tools.bash import bash_tool
from singletree.tools.edit import edit_tool
from singletree.tools.find import find_tool
from singletree.tools.ls import ls_tool
from singletree.tools.read import read_tool
from singletree.tools.search import grep_tool
from singletree.tools.world import World
from singletree.tools.write import write_tool

MAKERS: dict[str, Callable[[World], Tool]] = {
    "read": read_tool,
    "bash": bash_tool,
    "edit": edit_tool,
    "write": write_tool,
    "grep": grep_tool,
    "find": find_tool,
    "ls": ls_tool,
}


def default_tools(world: World, names: Collection[str] | None = None) -> list[Tool]:
    """The tools for a world, all or the named ones; names nobody knows are left out."""
    return [make(world) for name, make in MAKERS.items() if names is None or name in names]
