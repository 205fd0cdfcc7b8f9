"""The start of `serve --stdio`: the first answer before anything heavy is imported.

`initialize` is read and answered with the standard library alone, then the daemon proper is loaded
and takes over with whatever has come in the meantime. If the client is slower than we are, loading
goes on while we wait for it. Before the first answer nothing is imported that can wait: no asyncio,
logging, typing or dataclasses. Never knows what it starts. Read next: ../hello.py, serve.py.
"""

from __future__ import annotations

import json
import os
import select
import threading
from collections.abc import Callable, Mapping

from singletree.rpc.hello import answer
from singletree.rpc.pipes.frames import Frame, HeaderFrames, header_frame
from singletree.rpc.pipes.stdio import read_some, take_stdio, write_all

TYPE_CHECKING = False  # importing typing for it would cost some milliseconds
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from singletree.rpc.doors.serve import OpenDoor


def serve_stdio(
    load: Callable[[], OpenDoor], declare: Callable[[], Mapping[str, object]] = dict
) -> NoReturn:
    """Serve one client over stdin and stdout, then leave the process with the exit code.

    `load` imports what is served and returns how it is opened; it runs in a thread. `declare`
    gives what `initialize` declares of the agent; it must be quick and equal to the door's.
    """
    reading, writing = take_stdio()
    loading = _Loading(load)
    if not select.select([reading], [], [], 0)[0]:
        loading.start()
    splitter = HeaderFrames()
    frames = _first_frames(reading, splitter)
    greeting = _greet(frames, writing, declare)
    loading.start()
    open_door = loading.result()

    import asyncio

    from singletree.rpc.doors.logs import log_to_stderr
    from singletree.rpc.doors.serve import Line, serve

    log = log_to_stderr()
    loop = asyncio.new_event_loop()
    line = Line(reading, writing, splitter, frames, greeting)
    code = loop.run_until_complete(serve(open_door, line))
    log.drain()
    os._exit(code)  # nothing that still hangs, a thread or a task, can keep the process


class _Loading:
    """An import that goes on in a thread; its failure is the caller's."""

    def __init__(self, load: Callable[[], OpenDoor]) -> None:
        self._load = load
        self._loaded: OpenDoor | None = None
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="load", daemon=True)
            self._thread.start()

    def result(self) -> OpenDoor:
        assert self._thread is not None
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._loaded is not None
        return self._loaded

    def _run(self) -> None:
        try:
            self._loaded = self._load()
            from pydantic import TypeAdapter

            TypeAdapter(int)  # looks for plugins on the disk, once: not in the loop, later
        except BaseException as error:
            self._error = error


def _first_frames(reading: int, splitter: HeaderFrames) -> list[Frame]:
    """Read until there is a frame, or the end of the stream, which the reader will meet again."""
    while data := read_some(reading):
        if frames := splitter.feed(data):
            return frames
    return []


def _greet(
    frames: list[Frame], writing: int, declare: Callable[[], Mapping[str, object]]
) -> dict[str, Any] | None:
    """Answer the first frame if it is a flawless `initialize`; anything else waits."""
    if not frames or not isinstance(frames[0], bytes):
        return None
    try:
        message = json.loads(frames[0])
        params, mid = message["params"], message["id"]
        flawless = message["jsonrpc"] == "2.0" and message["method"] == "initialize"
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not flawless or type(mid) not in (int, str) or not isinstance(params, dict):
        return None
    result = answer(params, declare())
    body = json.dumps({"jsonrpc": "2.0", "id": mid, "result": result}).encode()
    del frames[0]
    try:
        write_all(writing, header_frame(body))
    except OSError:
        return params  # whoever writes next meets it again
    return params
