"""The folders an editor has open: one more, or one less, while the daemon runs.

A folder that is added is opened when something is said in it. What runs in one that is taken away
runs to its end, and then its sessions are let go, unless somebody else has it open.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pydantic import Field

from singletree.rpc.daemon import Daemon
from singletree.rpc.protocol.base import Shape
from singletree.rpc.routes import Call, Route, Routes


class Folder(Shape):
    """A folder by its address."""

    uri: str


class Change(Shape):
    """What came and what went."""

    added: list[Folder] = Field(default_factory=list)
    removed: list[Folder] = Field(default_factory=list)


class FoldersChanged(Shape):
    """workspace/didChangeWorkspaceFolders."""

    event: Change


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    changed = partial(_changed, daemon)
    return {"workspace/didChangeWorkspaceFolders": Route(FoldersChanged, changed)}


def _changed(daemon: Daemon, params: FoldersChanged, call: Call) -> None:
    peer, gone = call.peer, [folder.uri for folder in params.event.removed]
    stay = [uri for uri in peer.client.folders if uri not in gone]
    more = [folder.uri for folder in params.event.added if folder.uri not in stay]
    peer.client = replace(peer.client, folders=(*stay, *more))
    for uri in gone:
        daemon.close_folder(uri, peer)
