"""The log: no line is lost on a slow pipe, and a file of the daemon's own never grows large."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from singletree.rpc.doors.logs import KEPT_BYTES, LOG_BYTES, WAITING, StderrHandler


def log(handler: StderrHandler, lines: range) -> None:
    for number in lines:
        handler.emit(logging.LogRecord("n", 30, "", 0, f"line {number} " + "x" * 100, (), None))


def numbers(text: str) -> list[int]:
    return [int(line.partition("line ")[2].split()[0]) for line in text.splitlines()]


@pytest.fixture
def file(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    path = tmp_path / "daemon.log"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    yield path, fd
    os.close(fd)


def test_a_pipe_that_does_not_wait_gets_every_line() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    handler = StderrHandler(writing)
    log(handler, range(1500))
    read: list[bytes] = []

    def take() -> None:
        while data := os.read(reading, 4096):
            read.append(data)

    thread = threading.Thread(target=take)
    thread.start()
    handler.drain(10)
    os.close(writing)
    thread.join()
    os.close(reading)
    assert numbers(b"".join(read).decode()) == list(range(1500))


def test_its_own_file_is_cut_while_the_daemon_runs(file: tuple[Path, int]) -> None:
    path, fd = file
    handler = StderrHandler(fd, path)
    for start in range(0, 10 * WAITING, WAITING // 2):
        log(handler, range(start, start + WAITING // 2))
        handler.drain(10)
    kept = numbers(path.read_text())
    assert KEPT_BYTES // 2 < path.stat().st_size <= LOG_BYTES
    assert kept == list(range(kept[0], 10 * WAITING))


def test_one_that_is_long_already_is_cut_at_the_start(file: tuple[Path, int]) -> None:
    path, fd = file
    path.write_text("line 0\n" * (LOG_BYTES // 6))
    handler = StderrHandler(fd, path)
    log(handler, range(1, 2))
    handler.drain(10)
    assert path.stat().st_size < KEPT_BYTES + 200
    assert set(numbers(path.read_text())) == {0, 1}


@pytest.mark.parametrize("named", [True, False])
def test_a_file_of_somebody_elses_is_never_cut(
    file: tuple[Path, int], tmp_path: Path, named: bool
) -> None:
    path, fd = file
    path.write_text("line 0\n" * (LOG_BYTES // 6))
    size = path.stat().st_size
    own = tmp_path / "own.log"
    own.touch()
    handler = StderrHandler(fd, own if named else None)
    log(handler, range(1, 2))
    handler.drain(10)
    assert path.stat().st_size > size
