"""Who comes to the socket: a confined command of ours must not.

A sandbox may leave sockets open (Landlock does), and whoever speaks with the daemon can let it run
anything. Confined commands can gain no privileges, and descend from the daemon; whoever has gone by
the time it is looked at is not let in either. Only Linux has a sandbox, and only there is it looked
at. Read next: listen.py (which asks), ../../tools/sandbox.py.
"""

from __future__ import annotations

import os
import re
import socket
import struct
import sys
from pathlib import Path

_CREDENTIALS = struct.Struct("3i")
_PARENT = re.compile(r"^PPid:\s*(\d+)$", re.MULTILINE)
_CONFINED = re.compile(r"^NoNewPrivs:\s*1$", re.MULTILINE)


def is_confined(client: socket.socket) -> bool:
    """Whether a confined command of this process is at the other end. Reads /proc: in a thread."""
    if sys.platform != "linux" or not Path("/proc/self/status").exists():
        return False
    found = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid = _CREDENTIALS.unpack(found)[0]
    try:
        return pid != 0 and _CONFINED.search(_status(pid)) is not None and _descends(pid)
    except OSError:
        return True


def _descends(pid: int) -> bool:
    own = os.getpid()
    while pid > 1 and (parent := _PARENT.search(_status(pid))):
        pid = int(parent[1])
        if pid == own:
            return True
    return False


def _status(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text()
