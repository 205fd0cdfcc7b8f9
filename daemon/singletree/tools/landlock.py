"""Landlock: the kernel's own sandbox, entered by a process before it starts the command.

Run as a script (`python -I -S landlock.py SPEC -- COMMAND…`) it confines itself, runs the command
and takes in what that leaves behind; needs nothing but the standard library, no privilege and no
package. Never imports the rest of the house. Read next: sandbox.py (who uses it, and what it leaves
open).
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a command waits for these imports
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS, _DROP_BOUND = 38, 24
_SUBREAPER, _DEATH_SIGNAL = 36, 1
_CAPABILITIES_V3 = 0x20080522
_KEPT_CAPABILITIES = sum(1 << n for n in (0, 1, 3, 4, 6, 7))  # owners, modes, users: files only

_WRITE_FILE, _READ_FILE = 1 << 1, 1 << 2
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_MAKE_DEVICE = (1 << 6) | (1 << 11)
_CHANGE = _WRITE_FILE | (1 << 4) | (1 << 5) | (1 << 7) | (1 << 8) | (1 << 9) | (1 << 10) | (1 << 12)
_NET_TCP = 0b11
_SCOPES = 0b11

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
CANNOT = 126
MARK = "SINGLETREE_COMMAND"
"""As in leftovers.py: whoever has it is found and ended by the daemon, which tells of it."""


def abi() -> int:
    """The version of Landlock the kernel offers; 0 if none."""
    try:
        version = _libc().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))
    except (OSError, AttributeError):
        return 0
    return max(0, int(version))


def confine(
    writable: Iterable[str], hidden: Sequence[str], readable: Iterable[str], *, network: bool
) -> None:
    """Bind this process and all it starts: OSError if the kernel refuses.

    Changes only below `writable`; files below `hidden` can't be read unless they are below
    `readable`; no TCP unless `network`.
    """
    version = abi()
    if version < 1:
        raise OSError("this kernel has no Landlock")
    change = _CHANGE | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    read = _READ_FILE if hidden else 0
    net = _NET_TCP if version >= 4 and not network else 0
    scoped = _SCOPES if version >= 6 else 0
    size = 8 if version < 4 else 16 if version < 6 else 24
    attributes = struct.pack("=QQQ", change | _MAKE_DEVICE | read, net, scoped)[:size]
    rules = _call(_CREATE, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0))
    for path in writable:
        _allow(rules, path, change | read)
    for path in DEVICES:
        _allow(rules, path, (change & (_WRITE_FILE | _TRUNCATE)) | read)
    for path in [*readable, *_around(hidden)] if hidden else ():
        _allow(rules, path, _READ_FILE)
    _drop_capabilities()
    if _libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs was refused")
    _call(_RESTRICT, ctypes.c_int(rules), ctypes.c_uint32(0))
    os.close(rules)


def command(
    writable: Sequence[Path],
    *,
    hidden: Sequence[Path],
    readable: Sequence[Path] = (),
    network: bool,
) -> list[str]:
    """What stands before a command to confine it."""
    spec = {
        "writable": [os.path.realpath(path) for path in writable],
        "hidden": [os.path.realpath(path) for path in hidden],
        "readable": [os.path.realpath(path) for path in readable],
        "network": network,
    }
    return [sys.executable, "-I", "-S", os.path.realpath(__file__), json.dumps(spec), "--"]


def _drop_capabilities() -> None:
    """Root keeps what files need; what reaches other processes and the machine goes."""
    for number in range(64):
        if not _KEPT_CAPABILITIES >> number & 1:
            _libc().prctl(_DROP_BOUND, number, 0, 0, 0)
    header = struct.pack("=Ii", _CAPABILITIES_V3, 0)
    data = ctypes.create_string_buffer(24)
    if _libc().capget(header, data):
        return
    words = [word & _KEPT_CAPABILITIES for word in struct.unpack("=6I", data.raw)]
    words[3:] = [0, 0, 0]
    _libc().capset(header, struct.pack("=6I", *words))


def _around(hidden: Sequence[str]) -> list[str]:
    """Everything that is not on the way to something hidden: what may be read."""
    ways = {os.path.realpath(path) for path in hidden}
    for path in list(ways):
        while path != "/":
            path = os.path.dirname(path)  # noqa: PTH120
            ways.add(path)
    ends = {os.path.realpath(path) for path in hidden}
    allowed: list[str] = []
    for folder in ways - ends:
        try:
            with os.scandir(folder) as entries:
                allowed += [e.path for e in entries if e.path not in ways and not e.is_symlink()]
        except OSError:
            continue
    return allowed


def _allow(rules: int, path: str, access: int) -> None:
    """What does not exist or can't be opened is simply not allowed."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112
            access &= _WRITE_FILE | _READ_FILE | _TRUNCATE
        rule = struct.pack("=Qi", access, handle)
        _call(_ADD_RULE, ctypes.c_int(rules), _PATH_BENEATH, rule, ctypes.c_uint32(0))
    finally:
        os.close(handle)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc().syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def main(arguments: Sequence[str]) -> None:
    """`SPEC -- COMMAND…`: confine, run the command to its end, exit as it did."""
    spec = json.loads(arguments[0])
    try:
        confine(spec["writable"], spec["hidden"], spec["readable"], network=spec["network"])
        _libc().prctl(_SUBREAPER, 1, 0, 0, 0)
        child = os.fork()
        if not child:
            _libc().prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
            os.execvp(arguments[2], list(arguments[2:]))
    except OSError as error:
        sys.stderr.write(f"landlock: {error}\n")
        sys.exit(CANNOT)
    sys.exit(_end_of(child))


def _end_of(child: int) -> int:
    """Its exit code. What hides where it comes from has become ours by then, and is killed."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    status = None
    while status is None:
        pid, ended = os.waitpid(-1, 0)
        status = ended if pid == child else None
    beyond: set[int] = set()
    while hiding := [pid for pid in _children() if pid not in beyond and _hides(pid)]:
        for pid in hiding:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except OSError:  # another user's by now
                beyond.add(pid)
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _children() -> list[int]:
    """All children, dead ones too."""
    own = os.getpid()
    try:
        with open(f"/proc/{own}/task/{own}/children") as file:  # noqa: PTH123
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _hides(pid: int) -> bool:
    """Whether a process has left the session and has not the mark of the command."""
    mark = f"{MARK}={os.environ.get(MARK)}".encode()
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            return os.getsid(pid) != os.getsid(0) and mark not in file.read().split(b"\0")
    except OSError:
        return True


if __name__ == "__main__":
    main(sys.argv[1:])
