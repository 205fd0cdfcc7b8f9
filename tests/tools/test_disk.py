"""The disk: whole or not at all, through links, in order."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from tests.tools.worlds import names, world_of

from singletree.errors import ToolError
from singletree.tools.disk import Disk, FileLocks
from singletree.tools.world import Listed, Stat


async def test_what_is_at_a_path(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    (tmp_path / "dead").symlink_to("nowhere")
    (tmp_path / "link").symlink_to("f")
    os.mkfifo(tmp_path / "pipe")
    disk = Disk()
    assert await disk.stat(tmp_path / "f") == Stat("file", 3)
    assert await disk.stat(tmp_path / "link") == Stat("file", 3)
    assert await disk.stat(tmp_path) == Stat("dir")
    assert await disk.stat(tmp_path / "pipe") == Stat("other")
    assert await disk.stat(tmp_path / "dead") is None
    assert await disk.stat(tmp_path / "f" / "below") is None
    assert sorted(await disk.entries(tmp_path), key=lambda entry: entry.name) == [
        Listed("dead", "link"),
        Listed("f", "file"),
        Listed("link", "file"),
        Listed("pipe", "other"),
    ]
    assert disk.dirty() == {}


async def test_a_file_comes_in_pieces(tmp_path: Path) -> None:
    data = os.urandom(2_500_000)
    (tmp_path / "f").write_bytes(data)
    async with Disk().opened(tmp_path / "f") as content:
        assert content is not None and content.stat == Stat("file", len(data))
        pieces = [piece async for piece in content.pieces]
    assert len(pieces) == 3 and b"".join(pieces) == data == await Disk().read(tmp_path / "f")


async def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "pipe", "other"), (tmp_path, "dir")):
        async with Disk().opened(path) as content:
            assert content is not None and content.stat.kind == kind
            assert [piece async for piece in content.pieces] == []
    async with Disk().opened(tmp_path / "gone") as content:
        assert content is None


async def test_a_write_makes_folders_and_leaves_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.txt"
    await Disk().write(path, b"deep", label="write")
    assert path.read_bytes() == b"deep"
    assert names(path.parent) == ["c.txt"]
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


async def test_a_write_keeps_the_mode_and_follows_links(tmp_path: Path) -> None:
    real = tmp_path / "real.sh"
    real.write_text("old")
    real.chmod(0o750)
    link = tmp_path / "sub" / "link.sh"
    link.parent.mkdir()
    link.symlink_to("../real.sh")
    await Disk().write(link, b"new", label="write")
    assert link.is_symlink() and real.read_bytes() == b"new"
    assert real.stat().st_mode & 0o777 == 0o750
    assert names(tmp_path) == ["real.sh", "sub"]


async def test_a_write_keeps_owner_and_attributes_where_it_may(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    with contextlib.suppress(OSError):
        os.setxattr(path, "user.note", b"kept")
    with contextlib.suppress(PermissionError):
        os.chown(path, 1234, 4321)
    before = path.stat()
    attributes = os.listxattr(path)
    await Disk().write(path, b"new", label="write")
    after = path.stat()
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert os.listxattr(path) == attributes
    assert after.st_ino != before.st_ino and path.read_bytes() == b"new"


async def test_a_write_through_a_link_to_nothing_makes_the_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("made")
    await Disk().write(tmp_path / "link", b"x", label="write")
    assert (tmp_path / "made").read_bytes() == b"x"


async def test_what_may_not_be_written_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "ro").write_text("kept")
    (tmp_path / "ro").chmod(0o444)
    (tmp_path / "dir").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "round").symlink_to("round")
    long = tmp_path / "new" / ("x" * 300)
    for path, said in (
        (tmp_path / "ro", f"{tmp_path}/ro is read-only. Nothing was changed."),
        (tmp_path / "dir", f"{tmp_path}/dir is a folder: a file cannot be written there."),
        (
            tmp_path / "pipe",
            f"{tmp_path}/pipe is not a plain file (a device, a pipe or a socket): it is not"
            " written.",
        ),
        (
            tmp_path / "ro" / "below" / "x",
            f"{tmp_path}/ro/below/x: a part of the path is a file, not a folder."
            " Nothing was changed.",
        ),
        (long, f"The name is too long: {long}. Nothing was changed."),
        (
            tmp_path / "round",
            f"{tmp_path}/round goes round in a circle of links. Nothing was changed.",
        ),
    ):
        with pytest.raises(ToolError) as error:
            await Disk().write(path, b"x", label="write")
        assert error.value.message == said
    assert (tmp_path / "ro").read_text() == "kept"
    assert names(tmp_path) == ["dir", "pipe", "ro", "round"]


async def test_a_cancelled_write_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    data = b"n" * 3_000_000
    for delay in (0, 0.0005, 0.002, 0.01):
        with anyio.move_on_after(delay):
            await Disk().write(path, data, label="write")
        assert path.read_bytes() in (b"old", data)
        assert names(tmp_path) == ["f"]


async def test_locks_are_given_in_the_order_of_asking_also_through_links(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    (tmp_path / "link").symlink_to("f")
    world, order = world_of(tmp_path), list[int]()
    inside = 0

    async def hold(number: int) -> None:
        nonlocal inside
        async with world.lock(tmp_path / ("link" if number % 2 else "f")):
            inside += 1
            assert inside == 1
            await anyio.lowlevel.checkpoint()
            order.append(number)
            inside -= 1

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(hold, number)
    assert order == list(range(20))


async def test_a_lock_that_is_given_up_while_waiting_frees_the_next(tmp_path: Path) -> None:
    locks, got = FileLocks(), list[str]()
    path = tmp_path / "f"

    async def hold(name: str) -> None:
        async with locks.hold(path):
            got.append(name)

    async with anyio.create_task_group() as group, locks.hold(path):
        async with anyio.create_task_group() as given_up:
            given_up.start_soon(hold, "gave up")
            await anyio.wait_all_tasks_blocked()
            group.start_soon(hold, "next")
            await anyio.wait_all_tasks_blocked()
            given_up.cancel_scope.cancel()
        async with locks.hold(tmp_path / "other"):
            got.append("other file")
    assert got == ["other file", "next"]


async def test_a_write_onto_something_else_than_it_was_made_from_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"theirs")
    with pytest.raises(ToolError, match="changed by something else"):
        await Disk().write(path, b"ours", label="edit f", base=b"one")
    assert path.read_bytes() == b"theirs"
    await Disk().write(path, b"ours", label="edit f", base=b"theirs")
    assert path.read_bytes() == b"ours"
    path.unlink()
    with pytest.raises(ToolError, match="changed by something else"):
        await Disk().write(path, b"ours", label="edit f", base=b"theirs")
    assert names(tmp_path) == []


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
