"""Reading a session file, whole and forgiving: what it holds and what is wrong with it.

Every whole line counts; damaged bytes are copied aside and told; the file itself is only read.
Files of versions 1 and 2 come back as version 3 in memory. Never knows what an entry means. Read
next: index.py (the heads of the lines), damage.py (what can be wrong), log.py (writing).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from singletree.errors import SessionUnreadable
from singletree.history.damage import WITH_BYTES, Damage, DamageKind, keep_aside
from singletree.history.entries import SESSION_VERSION, SessionHeader, header_of
from singletree.history.index import Index
from singletree.history.jsonl import Json, decode, encode
from singletree.history.upgrade import upgrade

CHECKED_TAIL = 256 * 1024
"""Bodies of so many last bytes are checked on opening: that is where crashes leave marks."""
_BOM = b"\xef\xbb\xbf"
_CHUNK = 1 << 20
_BUFFER = 1 << 16
_NOT_A_SESSION = "The file is no session file: it has no readable header. It was left as it is."
_RESCUE = (
    "A copy can be made of the entries that can still be read: agent/session/new with `recover`, "
    "or `singletree sessions --recover {path}`."
)


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a file holds. `whole`: its last byte is a line feed.

    `upgraded`: of an older version, its content as version 3, to which the index then refers.
    """

    header: SessionHeader
    index: Index
    damage: tuple[Damage, ...]
    size: int
    whole: bool
    upgraded: bytes | None = None


def recover(path: Path, damaged: Path | None = None) -> Recovered:
    """Read a session file's heads; damaged bytes are copied into the folder `damaged`.

    SessionUnreadable where the first line that can be read is no header: nothing is touched then.
    """
    index = Index()
    with path.open("rb", buffering=_BUFFER) as file:
        size = os.fstat(file.fileno()).st_size
        header, raw_header = _read_header(file, index, path)
        if header.version < SESSION_VERSION:
            return _recover_older(path, file, index, raw_header, damaged)
        index.scan(file, check_from=max(0, size - CHECKED_TAIL))
        index.settle()
        file.seek(max(0, index.end - 1))
        whole = file.read(1) == b"\n"
        told = _kept_aside(file, index.damage, path.name, damaged)
    if header.version > SESSION_VERSION:
        told = (*told, Damage("newer_version", 1, id=str(header.version)))
    return Recovered(header, index, told, index.end, whole)


def _recover_older(
    path: Path, file: BinaryIO, index: Index, header: Json, damaged: Path | None
) -> Recovered:
    """A file of version 1 or 2, as version 3 in memory."""
    objects, older = [header], str(header.get("version") or 1)
    for raw in file:
        index.lines += 1
        data = decode(raw)
        if data is not None:
            objects.append(data)
        elif raw.strip():
            what: DamageKind = "broken_line" if raw.endswith(b"\n") else "torn_tail"
            index.damage.append(Damage(what, index.lines, index.end, len(raw)))
        index.end += len(raw)
    told = _kept_aside(file, index.damage, path.name, damaged)
    told = (*told, Damage("older_version", 1, id=older))
    lines = [encode(data) for data in upgrade(objects)]
    fresh = index_of(lines)
    new_header = header_of(decode(lines[0]) or {})
    assert new_header is not None
    return Recovered(new_header, fresh, told, fresh.end, True, b"".join(lines))


def read_header(path: Path) -> SessionHeader:
    """The header of a session file, and nothing else; SessionUnreadable where there is none."""
    with path.open("rb") as file:
        return _read_header(file, Index(), path)[0]


def index_of(lines: Sequence[bytes]) -> Index:
    """The index of lines that are in memory, header first."""
    index = Index()
    index.end, index.lines = len(lines[0]), 1
    index.scan(lines[1:])
    index.settle()
    return index


def _read_header(file: BinaryIO, index: Index, path: Path) -> tuple[SessionHeader, Json]:
    """The first line that can be read, which must be a header; what stands before it is damage."""
    for raw in file:
        index.lines += 1
        text = raw.removeprefix(_BOM) if index.end == 0 else raw
        data = decode(text)
        if data is not None:
            header = header_of(data)
            if header is None:
                break
            index.end += len(raw)
            return header, data
        if raw.strip():
            index.damage.append(Damage("before_header", index.lines, index.end, len(raw)))
        index.end += len(raw)
        if index.end > _CHUNK:
            break
    hint = _RESCUE.format(path=path)
    raise SessionUnreadable(_NOT_A_SESSION, hint=hint, detail={"path": str(path)})


def _kept_aside(
    file: BinaryIO, found: Sequence[Damage], name: str, folder: Path | None
) -> tuple[Damage, ...]:
    """The damage to tell: bytes copied aside now; what lay there already has been told before."""
    told: list[Damage] = []
    for stretch in _stretches(found):
        first, last = stretch[0], stretch[-1]
        if folder is None or first.kind not in WITH_BYTES:
            told += stretch
            continue
        file.seek(first.offset)
        raw = file.read(last.end - first.offset)
        kept, new = keep_aside(folder, name, first.offset, raw)
        if new:
            told += (replace(one, kept=kept) for one in stretch)
    return tuple(told)


def _stretches(found: Iterable[Damage]) -> Iterator[list[Damage]]:
    """Damaged lines that follow one another, at most with blank ones between: one copy for all."""
    stretch: list[Damage] = []
    for one in found:
        if stretch and not _goes_on(stretch, one):
            yield stretch
            stretch = []
        stretch.append(one)
    if stretch:
        yield stretch


def _goes_on(stretch: Sequence[Damage], one: Damage) -> bool:
    last = stretch[-1]
    together = last.kind in WITH_BYTES and one.kind in WITH_BYTES
    blank = one.offset - last.end == one.line - last.line - 1
    return together and blank and one.end - stretch[0].offset <= _CHUNK
