"""The ledger of edits: on the disk before an edit is made, settled by the file after a crash."""

from __future__ import annotations

import zlib
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from tests.tools.worlds import names, world_of

from singletree.errors import SingletreeError
from singletree.session.edits.edit import Edit
from singletree.session.edits.ledger import DAMAGED, MAX_KEPT, NOT_NOTED, Ledger
from singletree.session.edits.revert import chosen, content, revert
from singletree.session.events import EditsChanged
from singletree.tools.disk import Disk

DISK = Disk()
READ = partial(content, DISK)


def ledger(
    folder: Path, told: list[EditsChanged] | None = None, warned: list[str] | None = None
) -> Ledger:
    heard = [] if told is None else told
    warnings = [] if warned is None else warned
    return Ledger(folder / "ledger", lambda: "turn", heard.append, warnings.append)


async def make(
    books: Ledger, path: Path, before: bytes | None, after: bytes, *, end: str = "landed"
) -> None:
    """An edit on the disk; `end` is how far it comes."""
    missing = [str(p) for p in reversed(path.parents) if not p.exists()]
    making = books.making(
        path, path.as_uri(), before, after, by="disk", call_id="c", folders=missing
    )
    async with making as note:
        if end != "nothing":
            await DISK.write(path, after, label="")
        if end == "landed":
            note.landed(after)


async def test_an_edit_and_its_way_back_survive_a_restart(tmp_path: Path) -> None:
    told: list[EditsChanged] = []
    file = tmp_path / "f"
    file.write_bytes(b"one\r\n\xff\n")
    await make(ledger(tmp_path, told), file, b"one\r\n\xff\n", b"two\n")
    books = ledger(tmp_path, told)
    (edit,) = await books.edits(READ)
    assert (edit.status, edit.turn_id, edit.created) == ("landed", "turn", False)
    done, refused = await revert(books, world_of(tmp_path), [edit])
    assert ([e.id for e in done], refused) == ([edit.id], [])
    assert file.read_bytes() == b"one\r\n\xff\n"
    assert [e.edit_ids for e in told] == [(edit.id,), (edit.id,)]
    (edit,) = await ledger(tmp_path).edits(READ)
    assert edit.status == "undone"
    assert chosen([edit], turn_id="turn") == []


@pytest.mark.parametrize(
    ("end", "status"), [("nothing", []), ("made", ["landed"]), ("landed", ["landed"])]
)
async def test_what_a_crash_left_open_is_settled_by_the_file(
    tmp_path: Path, end: str, status: list[str]
) -> None:
    file = tmp_path / "f"
    file.write_text("one\n")
    await make(ledger(tmp_path), file, b"one\n", b"two\n", end=end)
    books = ledger(tmp_path)
    assert [edit.status for edit in await books.edits(READ)] == status
    file.write_text("three\n")
    assert [edit.status for edit in await ledger(tmp_path).edits(READ)] == status


async def test_damaged_lines_are_told_and_a_line_that_was_cut_off_is_not(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for file in (one, two):
        await make(ledger(tmp_path), file, None, b"new\n")
    lines = tmp_path / "ledger" / "ledger.jsonl"
    content = lines.read_bytes()
    lines.write_bytes(content[:-30])
    warned: list[str] = []
    assert len(await ledger(tmp_path, warned=warned).edits(READ)) == 2
    assert warned == []
    lines.write_bytes(content.replace(b'"by": "disk"', b'"by": "dusk"', 2))
    books = ledger(tmp_path, warned=warned)
    assert [edit.path for edit in await books.edits(READ)] == [str(two)]
    await books.edits(READ)
    assert warned == [DAMAGED.format(count=2, path=lines)]


async def test_a_kept_text_that_is_damaged_is_not_put_back(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("one\n")
    await make(ledger(tmp_path), file, b"one\n", b"two\n")
    (text,) = (tmp_path / "ledger" / "texts").iterdir()
    for spoiled in (b"", b"no zlib", zlib.compress(b"other\n")):
        text.write_bytes(spoiled)
        books = ledger(tmp_path)
        done, refused = await revert(books, world_of(tmp_path), await books.edits(READ))
        assert (done, [one.code for one in refused]) == ([], ["stale"])
        assert file.read_text() == "two\n"


async def test_an_edit_that_is_made_is_told_also_where_it_cannot_be_noted(tmp_path: Path) -> None:
    """Room for the line before the edit, and for none behind it."""
    file, lines, warned = tmp_path / "f", tmp_path / "ledger/ledger.jsonl", list[str]()
    file.write_text("one")
    books = ledger(tmp_path, warned=warned)
    async with books.making(file, file.as_uri(), b"one", b"two", by="disk", call_id="c") as note:
        await DISK.write(file, b"two", label="")
        lines.rename(tmp_path / "aside")
        lines.mkdir()
        note.landed(b"two")
    (edit,) = await books.edits(READ)
    assert edit.status == "landed"
    done, refused = await revert(books, world_of(tmp_path), [edit])
    assert ([e.id for e in done], refused, file.read_text()) == ([edit.id], [], "one")
    assert [NOT_NOTED.partition("{")[0] in one for one in warned] == [True, True]
    lines.rmdir()
    (tmp_path / "aside").rename(lines)
    assert await ledger(tmp_path).edits(READ) == []


async def test_what_cannot_be_settled_waits(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("one\n")
    await make(ledger(tmp_path), file, b"one\n", b"two\n", end="made")
    file.write_text("neither\n")
    assert await ledger(tmp_path).edits(READ) == []
    file.write_text("two\n")
    assert [edit.status for edit in await ledger(tmp_path).edits(READ)] == ["landed"]


async def test_an_edit_that_is_being_made_is_not_settled(tmp_path: Path) -> None:
    books = ledger(tmp_path)
    file = tmp_path / "f"
    file.write_text("one\n")
    making = books.making(file, file.as_uri(), b"one\n", b"two\n", by="disk", call_id="c")
    async with making as note:
        assert await books.edits(READ) == []
        file.write_text("two\n")
        note.landed(b"two\n")
    assert len(await books.edits(READ)) == 1


async def test_edits_of_one_file_are_taken_back_newest_first(tmp_path: Path) -> None:
    books = ledger(tmp_path)
    file = tmp_path / "f"
    texts = [b"1\n", b"2\n", b"3\n", b"4\n"]
    file.write_bytes(texts[0])
    for before, after in pairwise(texts):
        await make(books, file, before, after)
    edits = await books.edits(READ)
    done, _ = await revert(books, world_of(tmp_path), edits[1:])
    assert [e.id for e in done] == [edits[2].id, edits[1].id]
    assert file.read_bytes() == b"2\n"


async def test_what_has_changed_since_is_left_alone(tmp_path: Path) -> None:
    books = ledger(tmp_path)
    file, other = tmp_path / "f", tmp_path / "g"
    file.write_text("one\n")
    other.write_text("one\n")
    await make(books, file, b"one\n", b"two\n")
    await make(books, other, b"one\n", b"two\n")
    file.write_text("changed by a person\n")
    edits = await books.edits(READ)
    done, refused = await revert(books, world_of(tmp_path), edits)
    assert [e.path for e in done] == [str(other)]
    assert [(r.edit.path, r.code) for r in refused] == [(str(file), "stale")]
    assert file.read_text() == "changed by a person\n"
    assert other.read_text() == "one\n"


async def test_line_ends_and_marks_are_no_change(tmp_path: Path) -> None:
    books = ledger(tmp_path)
    file = tmp_path / "f"
    file.write_text("one\n")
    await make(books, file, b"one\n", b"two\nthree\n")
    file.write_bytes(b"\xef\xbb\xbftwo\r\nthree\r\n")
    done, _ = await revert(books, world_of(tmp_path), await books.edits(READ))
    assert len(done) == 1
    assert file.read_text() == "one\n"


async def test_a_file_that_was_made_goes_with_the_folders_made_for_it(tmp_path: Path) -> None:
    books = ledger(tmp_path)
    (tmp_path / "w" / "old").mkdir(parents=True)
    await make(books, tmp_path / "w" / "a" / "b" / "f", None, b"new\n")
    await make(books, tmp_path / "w" / "old" / "c" / "f", None, b"new\n")
    (tmp_path / "w" / "a" / "theirs").write_text("")
    done, _ = await revert(books, world_of(tmp_path), await books.edits(READ))
    assert len(done) == 2
    assert names(tmp_path / "w" / "a") == ["theirs"]
    assert names(tmp_path / "w" / "old") == []


async def test_what_somebody_took_back_already_counts_as_taken_back(tmp_path: Path) -> None:
    books = ledger(tmp_path)
    file, made = tmp_path / "f", tmp_path / "g"
    file.write_text("one\n")
    await make(books, file, b"one\n", b"two\n")
    await make(books, made, None, b"two\n")
    file.write_text("one\n")
    made.unlink()
    done, refused = await revert(books, world_of(tmp_path), await books.edits(READ))
    assert (len(done), refused) == (2, [])


async def test_a_text_too_large_to_keep_is_told(tmp_path: Path) -> None:
    books = ledger(tmp_path)
    file = tmp_path / "f"
    before = b"x" * (MAX_KEPT + 1)
    file.write_bytes(before)
    await make(books, file, before, b"two\n")
    _, refused = await revert(books, world_of(tmp_path), await books.edits(READ))
    assert [r.code for r in refused] == ["not_found"]
    assert file.read_bytes() == b"two\n"


async def test_a_half_written_line_costs_only_itself(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("one\n")
    await make(ledger(tmp_path), file, b"one\n", b"two\n")
    path = tmp_path / "ledger" / "ledger.jsonl"
    path.write_bytes(path.read_bytes() + b'{"id": "half')
    await make(ledger(tmp_path), file, b"two\n", b"three\n")
    assert len(await ledger(tmp_path).edits(READ)) == 2
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def some(id: str, turn: str, path: str) -> Edit:
    return Edit(id, turn, "c", path, f"file://{path}", "disk", None, None, "", "", status="landed")


def test_edits_are_chosen_by_turn_file_and_id() -> None:
    edits = [some("1", "t", "/a"), some("2", "t", "/b"), some("3", "u", "/a")]

    def ids(**how: object) -> list[str]:
        return [edit.id for edit in chosen(edits, **how)]  # type: ignore[arg-type]  # of tests

    assert ids(turn_id="t") == ["1", "2"]
    assert ids(file={"/a"}) == ids(file={"file:///a"}) == ["1", "3"]
    assert ids(turn_id="t", file={"/a"}) == ["1"]
    assert ids(ids=["3"]) == ["3"]
    with pytest.raises(SingletreeError, match="no edit 9"):
        ids(ids=["1", "9"])
