"""ripgrep as a child process: its program, its arguments, its JSON lines as bounded results.

Memory is bounded whatever the files hold: a line longer than `width` is kept around its match, and
the program is ended once there are more matches than asked for. Never knows what a tool is. Read
next: search.py.
"""

from __future__ import annotations

import base64
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from bisect import bisect_left
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream, Process

from singletree.errors import ToolError
from singletree.messages import utf16_head, utf16_units
from singletree.pathtext import is_folder
from singletree.tools.clean import clean
from singletree.tools.looks import shown_name
from singletree.tools.paths import trouble
from singletree.tools.pipes import answer_pipes
from singletree.tools.shell import tie

NOT_INSTALLED = (
    "ripgrep (rg) was not found, so files cannot be searched. Search with a shell command instead."
)
BAD_PATTERN = "ripgrep cannot use the pattern: {reason}"
BAD_GLOB = "ripgrep cannot use the glob: {reason}"
NOT_TEXT = (
    "The pattern or the glob has a NUL or half a character in it: no file can be searched so."
)
ENDLESS = (
    "{path} stands in the place of an ignore file, but is a pipe that something holds open: a"
    " search would wait for its end for ever. Remove it, or search elsewhere."
)
BEFORE, AFTER = "[…] ", " […]"
TOO_LONG = "(a matching line that is too long, not shown)"

_FIRST_MATCH = re.compile(rb'"start":\d+,"end":\d+\}')
_IMPOSSIBLE = re.compile("[\0\ud800-\udfff]")

HELD = "/proc/self/fd"
ADVICE = "\n\nConsider"
"""Behind it ripgrep names options that nobody here can give."""
MAX_RECORD = 8 * 1024 * 1024
MAX_KEPT = 512 * 1024
MAX_MEMORY = 1 << 30
"""Bytes for ripgrep: a line, or an ignore file that is a link to a device, may have no end."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for. `name`: only in this file of the folder, whatever ignore rules say."""

    pattern: str
    glob: str | None
    ignore_case: bool
    literal: bool
    context: int
    limit: int
    name: str
    width: int


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output: a match, or context around one."""

    path: str
    number: int
    text: str
    match: bool

    def __str__(self) -> str:
        sign = ":" if self.match else "-"
        return f"{self.path}{sign}{self.number}{sign} {self.text}"


@dataclass(slots=True)
class Found:
    """What was found so far. `more`: beyond the limit. `problem`: what could not be read."""

    lines: list[Line] = field(default_factory=list)
    more: bool = False
    cut_lines: bool = False
    problem: str = ""

    def joined(self, other: Found, limit: int) -> Found:
        """Both together, at most `limit` matches of them."""
        both = sorted([*self.lines, *other.lines], key=lambda line: (line.path, line.number))
        kept: list[Line] = []
        matches = 0
        for line in both:
            matches += line.match
            if matches > limit:
                break
            kept.append(line)
        return Found(
            kept,
            self.more or other.more or matches > limit,
            self.cut_lines or other.cut_lines,
            self.problem or other.problem,
        )

    def text(self) -> str:
        """All lines, ordered by file."""
        ordered = sorted(self.lines, key=lambda line: (line.path, line.number))
        return "\n".join(str(line) for line in ordered)


async def run_ripgrep(
    query: Query, folder: Path, *, handle: int | None = None, without: Collection[str] = ()
) -> Found:
    """Search `folder`, and of it not the files and folders `without`, given relative to it.

    `handle`: the folder, or the one file, held open: nothing else is searched then.
    """
    if _IMPOSSIBLE.search(query.pattern + (query.glob or "")):
        raise ToolError(NOT_TEXT)
    program = await anyio.to_thread.run_sync(find_ripgrep)
    tied = await anyio.to_thread.run_sync(tie)  # it may look at a pipe for ever
    process = await _started([*tied, program], query, folder, handle)
    reader = _Reader(query, without)
    complaint = bytearray()
    endless: list[Path] = []

    def stuck(pipe: Path) -> None:
        endless.append(pipe)
        _end(process)

    try:
        assert process.stdout is not None
        assert process.stderr is not None
        async with anyio.create_task_group() as watch:
            watch.start_soon(answer_pipes, folder, lambda: reader.heard, stuck)
            async with anyio.create_task_group() as group:
                group.start_soon(_drain, process.stderr, complaint)
                async for record in _records(process.stdout):
                    if not reader.take(record):
                        _end(process)
                        break
            code = await process.wait()
            watch.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            _end(process)
            await process.aclose()
    if endless:
        raise ToolError(ENDLESS.format(path=shown_name(endless[0])))
    return reader.result(code, clean(bytes(complaint)))


async def _started(program: list[str], query: Query, folder: Path, handle: int | None) -> Process:
    cwd, place = str(folder), f"./{query.name}"
    if handle is not None and is_folder(HELD):  # else by its path, as on other systems
        held = f"{HELD}/{handle}"
        cwd, place = (cwd, held) if query.name else (held, "./")
    try:
        process = await anyio.open_process(
            [*program, *_arguments(query), place],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            start_new_session=True,
            pass_fds=() if handle is None else (handle,),
        )
    except OSError as error:
        raise trouble(folder, error) from error
    if hasattr(resource, "prlimit"):
        with suppress(OSError):  # it has ended
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
    return process


@lru_cache(maxsize=1)
def find_ripgrep() -> str:
    """The program that was installed beside us, else the machine's."""
    beside = Path(sys.executable).with_name("rg")
    found = str(beside) if beside.is_file() else shutil.which("rg")
    if found is None:
        raise ToolError(NOT_INSTALLED)
    return found


class _Reader:
    """Takes ripgrep's records until there are enough."""

    def __init__(self, query: Query, without: Collection[str]) -> None:
        self._query = query
        self._without = frozenset(without)
        self._found = Found()
        self._matches = 0
        self._kept = 0
        self._around = ("", 0)
        """The file of the last match, and the last line of what is around it."""
        self.heard = time.monotonic()
        """When the last record came."""

    def take(self, record: bytes) -> bool:
        """One record; False when no more are wanted."""
        self.heard = time.monotonic()
        if len(record) > MAX_RECORD:
            lean = _up_to_its_first_match(record)
            if lean is None:
                return self._take_giant(record)
            record = lean
        message = json.loads(record)
        kind, data = message["type"], message["data"]
        if kind not in ("match", "context"):
            return True
        path = self._path(data)
        if self._without and self._is_without(path):
            return True
        number = data["line_number"]
        if kind == "match":
            self._matches += 1
            if self._matches > self._query.limit:
                self._found.more, kind = True, "context"
            else:
                self._around = path, number + self._query.context
        if self._found.more and (path != self._around[0] or number > self._around[1]):
            return False
        raw = _bytes(data["lines"]).rstrip(b"\r\n")
        starts = [sub["start"] for sub in data["submatches"]]
        text = self._window(raw, starts[0] if starts else 0)
        return self._keep(Line(shown_name(path), number, text, kind == "match"))

    def result(self, code: int, complaint: str) -> Found:
        """Everything, when the program has ended; ToolError if it could not take the question."""
        about_a_file = complaint.startswith(("rg: ./", f"rg: {HELD}"))
        if code == 2 and not self._found.lines and not about_a_file:
            reason = complaint.removeprefix("rg: ").partition(ADVICE)[0].strip()
            if "regex" in reason or "literal" in reason or "-P" in reason:
                raise ToolError(BAD_PATTERN.format(reason=reason))
            if "glob" in reason:
                raise ToolError(BAD_GLOB.format(reason=reason))
        if complaint and not self._found.more:
            named = re.sub(rf"{HELD}/\d+", self._query.name, complaint)
            self._found.problem = named.splitlines()[0][:300]
        if self._found.more:
            self._found.lines = _near(self._found.lines, self._query.context)
        return self._found

    def _path(self, data: dict[str, dict[str, str]]) -> str:
        return self._query.name or os.fsdecode(_bytes(data["path"])).removeprefix("./")

    def _is_without(self, path: str) -> bool:
        parts = path.split("/")
        return any("/".join(parts[:n]) in self._without for n in range(1, len(parts) + 1))

    def _keep(self, line: Line) -> bool:
        self._found.lines.append(line)
        self._kept += len(line.text) + len(line.path) + 16
        if self._kept > MAX_KEPT:
            self._found.more = True
            return False
        return True

    def _take_giant(self, record: bytes) -> bool:
        """A line too long to be parsed: told of, so that it is not missed in silence."""
        head = record[:4096].partition(b',"lines"')[0] + b"}}"
        try:
            path = shown_name(self._path(json.loads(head)["data"]))
        except (ValueError, KeyError):
            path = "?"
        self._matches += 1
        self._found.cut_lines = True
        return self._keep(Line(path, 0, TOO_LONG, True))

    def _window(self, raw: bytes, start: int) -> str:
        """The line, or where it is long the part around its match."""
        width = self._query.width
        text = raw.decode("utf-8", "replace")
        if len(raw) <= width or utf16_units(text) <= width:
            return _shown(raw)
        self._found.cut_lines = True
        before = utf16_units(raw[:start].decode("utf-8", "replace"))
        head = "" if before < width * 4 // 5 else utf16_head(text, before - width // 3)
        piece = utf16_head(text[len(head) :], width)
        tail = AFTER if len(head) + len(piece) < len(text) else ""
        return f"{BEFORE if head else ''}{_shown(piece.encode())}{tail}"


def _shown(line: bytes) -> str:
    """A line as it can be sent; a return in it is drawn, for a terminal would write over."""
    return clean(line.replace(b"\r", "\u240d".encode()))


def _near(lines: list[Line], context: int) -> list[Line]:
    """Without context of a match that is beyond the limit."""
    matches: dict[str, list[int]] = {}
    for line in lines:
        if line.match:
            matches.setdefault(line.path, []).append(line.number)

    def is_near(line: Line) -> bool:
        numbers = matches.get(line.path, [])
        at = bisect_left(numbers, line.number - context)
        return at < len(numbers) and numbers[at] <= line.number + context

    return [line for line in lines if is_near(line)]


def _arguments(query: Query) -> list[str]:
    chosen = ["--json", "--no-config", "--hidden", "--no-require-git", "--glob", "!.git"]
    if query.glob:
        chosen += ["--glob", re.sub(r"^(!?)(?:\./)+", r"\1", query.glob)]
    if query.ignore_case:
        chosen.append("--ignore-case")
    if query.literal:
        chosen.append("--fixed-strings")
    if query.context:
        chosen += ["--context", str(query.context)]
    return [*chosen, "--max-count", str(query.limit + 1), "--regexp", query.pattern, "--"]


async def _records(stream: ByteReceiveStream) -> AsyncIterator[bytes]:
    """Whole lines; of one beyond MAX_RECORD its beginning, a byte over the limit."""
    rest = bytearray()
    async for chunk in stream:
        *ends, begun = chunk.split(b"\n")
        for end in ends:
            rest += end[: MAX_RECORD + 1 - len(rest)]
            yield bytes(rest)
            rest.clear()
        rest += begun[: MAX_RECORD + 1 - len(rest)]
    if rest:
        yield bytes(rest)


def _up_to_its_first_match(record: bytes) -> bytes | None:
    """A record without the other matches of its line, of which there may be millions.

    None where the line itself does not end. No text can look like these keys: its quotes are
    escaped.
    """
    matches = record.find(b',"submatches":[')
    first = _FIRST_MATCH.search(record, matches) if matches > 0 else None
    return None if first is None else record[: first.end()] + b"]}}"


async def _drain(stream: ByteReceiveStream, into: bytearray) -> None:
    async for chunk in stream:
        into += chunk[: 8192 - len(into)]


def _end(process: Process) -> None:
    if process.returncode is None:
        process.kill()


def _bytes(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])
