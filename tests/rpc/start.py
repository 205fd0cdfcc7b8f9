"""Starts the example server as the daemon is started: nothing heavy before the first answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from singletree.rpc.doors.early import serve_stdio

if TYPE_CHECKING:
    from singletree.rpc.doors.serve import OpenDoor


def load() -> OpenDoor:
    from tests.rpc.example import open_door

    return open_door


if __name__ == "__main__":
    serve_stdio(load)
