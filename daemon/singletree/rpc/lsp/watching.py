"""Which files an editor is asked to watch for us, and what follows from a change.

Settings count at once, and the list of slash commands is another one when a skill or a template is.
Instructions (AGENTS.md and the like) are read when a turn begins, so nobody has to watch them.
Only editors that can be asked while they run are asked. Read next: configuration.py,
../handlers/watching.py.
"""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Final, Literal

from singletree.rpc.buffers.documents import path_of, uri_of
from singletree.rpc.hello import part
from singletree.rpc.lsp.configuration import ask
from singletree.rpc.peer import Peer

METHOD: Final = "workspace/didChangeWatchedFiles"
REGISTRATION: Final = "agent-files"
IN_WORKSPACE: Final = (
    "**/.pi/settings.json",
    "**/.pi/skills/**",
    "**/.pi/prompts/**",
    "**/.agents/skills/**",
)
IN_AGENT_FOLDER: Final = ("settings.json", "skills/**", "prompts/**")

Matter = Literal["settings", "commands"]


async def watch(peer: Peer, agent_dir: Path) -> None:
    """Ask to be told when one of these files changes."""
    able = part(part(peer.client.capabilities, "workspace"), "didChangeWatchedFiles")
    if able.get("dynamicRegistration") is not True:
        return
    watchers: list[object] = [{"globPattern": pattern} for pattern in IN_WORKSPACE]
    if able.get("relativePatternSupport") is True:
        base = uri_of(agent_dir)
        for pattern in IN_AGENT_FOLDER:
            watchers.append({"globPattern": {"baseUri": base, "pattern": pattern}})
    wanted = {"id": REGISTRATION, "method": METHOD, "registerOptions": {"watchers": watchers}}
    await ask(peer, "client/registerCapability", {"registrations": [wanted]})


def matter_of(uri: str) -> Matter | None:
    """What a changed file means; None for one that means nothing."""
    path = path_of(uri)
    if path is None:
        return None
    changed = PurePath(path)
    if changed.name == "settings.json":
        return "settings"
    return "commands" if {"skills", "prompts"}.intersection(changed.parts) else None
