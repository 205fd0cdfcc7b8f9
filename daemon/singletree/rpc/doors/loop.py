"""The event loop that a daemon runs on: libuv's where there is one, else the standard library's.

Everything a daemon does passes through it, and libuv's takes 10 to 20 % off a tool call. Never
knows what runs on it. Read next: early.py and start.py, which run it.
"""

from __future__ import annotations

import asyncio
import sys


def new_loop() -> asyncio.AbstractEventLoop:
    """A loop that nothing runs on yet."""
    if sys.platform == "win32":  # libuv's loop is not built there
        return asyncio.new_event_loop()
    import uvloop

    return uvloop.new_event_loop()
