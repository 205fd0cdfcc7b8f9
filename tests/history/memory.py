"""How much memory a piece of work takes, measured in a process of its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path


def peak_growth(work: Callable[[], None]) -> int:
    """Bytes by which the work raises the largest size of a forked process; its failure is ours."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_run, args=(work, theirs))
    child.start()
    theirs.close()
    try:
        grown: int = ours.recv()
    except EOFError:
        raise AssertionError("the work failed: its process tells why") from None
    finally:
        child.join()
        ours.close()
    return grown


def _run(work: Callable[[], None], answer: Connection) -> None:
    before = _status("VmRSS")
    work()
    answer.send(max(0, _status("VmHWM") - before))


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"the system does not tell {name}")
