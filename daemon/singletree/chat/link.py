"""The wire to a daemon: a child process, frames, requests and what comes back. Standard library.

Threads only read; everything they read waits in `take()` until the main thread asks for it, and
`wake` becomes readable. Never knows what a message means. Read next: talk.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import IO, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Object = dict[str, Json]

GOODBYE_SECONDS = 6.0
MISUSED = 2
"""How a program ends that was given what it does not know."""


class Refused(Exception):
    """The daemon said no: `code` is the published one, `hint` says what to do."""

    def __init__(self, error: Json) -> None:
        super().__init__(text(error, "message") or "the daemon refused")
        self.code = text(error, "data", "code")
        self.hint = text(error, "data", "hint")


class Gone(Exception):
    """The daemon is not there any more; the text is the end of what it wrote to its log.

    `misused`: it did not take its options, which the text is about.
    """

    def __init__(self, log: Sequence[str], code: int | None) -> None:
        self.misused = code == MISUSED
        super().__init__("\n".join(log[-1:] if self.misused else log))


def pick(value: Json, *path: str) -> Json:
    """What stands at a path of keys; None where there is nothing."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text(value: Json, *path: str) -> str:
    """The text at a path, or an empty one."""
    found = pick(value, *path)
    return found if isinstance(found, str) else ""


def number(value: Json, *path: str) -> float:
    """The number at a path, or 0."""
    found = pick(value, *path)
    return found if isinstance(found, int | float) else 0


def part(value: Json, *path: str) -> Object:
    """The object at a path, or an empty one."""
    found = pick(value, *path)
    return found if isinstance(found, dict) else {}


def rows(value: Json, *path: str) -> list[Object]:
    """The objects of the list at a path."""
    found = pick(value, *path)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def said(message: Object) -> str:
    """What a person or a model said of a message, without what an editor added."""
    own = [block for block in rows(message, "content") if block.get("context") is not True]
    return text(message, "content") or " ".join(text(block, "text") for block in own)


class Link:
    """A daemon of our own. It has its own process group, so Ctrl-C is for us alone."""

    def __init__(self, command: Sequence[str]) -> None:
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(
            list(command), stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        self._arrived: deque[Object | None] = deque()
        self._log: deque[str] = deque(maxlen=20)
        self._last_id = 0
        self.wake, self._waker = os.pipe()
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._listen, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def request(self, method: str, params: Object) -> int:
        """Ask something; its answer will come with this id."""
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        return self._last_id

    def notify(self, method: str, params: Object) -> None:
        """Tell something."""
        self._send({"method": method, "params": params})

    def answer(self, request_id: Json, result: Json) -> None:
        """Answer what the daemon asked."""
        self._send({"id": request_id, "result": result})

    def refuse(self, request_id: Json) -> None:
        """Say that we do not know the method."""
        self._send({"id": request_id, "error": {"code": -32601, "message": "unknown method"}})

    def poke(self) -> None:
        """Wake whoever waits for `wake`."""
        with contextlib.suppress(OSError):
            os.write(self._waker, b".")

    def take(self) -> Iterator[Object]:
        """All messages that have arrived, oldest first. Gone once there can be no more."""
        with contextlib.suppress(BlockingIOError):
            os.set_blocking(self.wake, False)
            os.read(self.wake, 65536)
        while self._arrived:
            message = self._arrived.popleft()
            if message is None:
                self._readers[1].join(1)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._child.wait(1)
                raise Gone(list(self._log), self._child.returncode)
            yield message

    def close(self) -> None:
        """Say goodbye; a daemon that does not go by itself is ended."""
        with contextlib.suppress(OSError, ValueError):
            if self._child.poll() is None:
                self.request("shutdown", {})
                self.notify("exit", {})
            if self._child.stdin:
                self._child.stdin.close()
        try:
            self._child.wait(GOODBYE_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        for reader in self._readers:
            reader.join(1)
        for stream in (self._child.stdout, self._child.stderr):
            if stream:
                stream.close()

    def _send(self, message: Object) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._child.stdin
        with contextlib.suppress(BrokenPipeError):
            self._child.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            self._child.stdin.flush()

    def _read(self) -> None:
        assert self._child.stdout
        with contextlib.suppress(OSError, ValueError):
            for message in frames(self._child.stdout):
                self._put(message)
        self._put(None)

    def _put(self, message: Object | None) -> None:
        self._arrived.append(message)
        self.poke()

    def _listen(self) -> None:
        assert self._child.stderr
        with contextlib.suppress(OSError, ValueError):
            for line in self._child.stderr:
                self._log.append(line.decode("utf-8", "replace").rstrip())


def frames(stream: IO[bytes]) -> Iterator[Object]:
    """The messages of a stream, until it ends."""
    length = 0
    while line := stream.readline():
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
        if line.strip():
            continue
        message = json.loads(stream.read(length) or b"null")
        if isinstance(message, dict):
            yield message
