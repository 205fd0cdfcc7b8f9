"""Which folder is meant: an address as a path, or the only one that a client has open.

Never opens a session. Read next: daemon.py.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from singletree.errors import SingletreeError
from singletree.rpc.buffers.documents import path_of
from singletree.rpc.peer import Peer

NO_WORKSPACE: Final = (
    "No folder is open. Open one in the editor, or name one: agent/session/open {cwd}, or the "
    "command agent.new with an object that has cwd."
)
WHICH: Final = "Several folders are open ({folders}): name one of them as workspace."
NOT_LOCAL: Final = "{uri} is not a folder of this machine; only file: addresses can be used."


def folder_at(uri: str) -> Path:
    """A folder's address as a path; a plain path is taken as one."""
    if (path := _local(uri)) is None:
        raise SingletreeError(NOT_LOCAL.format(uri=uri), code="workspace_not_found")
    return path


def folder_of(peer: Peer, workspace: str | None, cwd: str | None) -> Path:
    """The folder that a request names, or the only one its client has open."""
    if workspace is not None:
        return folder_at(workspace)
    if cwd is not None:
        return Path(cwd)
    if len(peer.client.folders) == 1:
        return folder_at(peer.client.folders[0])
    raise no_workspace(peer.client.folders)


def no_workspace(folders: Collection[str]) -> SingletreeError:
    """The error where no folder is meant, because none is open or several are."""
    words = WHICH.format(folders=", ".join(sorted(folders))) if folders else NO_WORKSPACE
    return SingletreeError(words, code="no_workspace")


def local_folders(peer: Peer) -> dict[str, Path]:
    """The folders of this machine that a client has open, by their addresses."""
    found = {uri: _local(uri) for uri in peer.client.folders}
    return {uri: path for uri, path in found.items() if path is not None}


def _local(uri: str) -> Path | None:
    path = uri if uri.startswith("/") else path_of(uri)
    return None if path is None or "\0" in path else Path(path)
