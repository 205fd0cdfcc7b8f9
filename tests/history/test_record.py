"""A session as it is worked with: what append, move, label and rename leave in tree and file."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.history.made import label, rename

from singletree.errors import SessionError, SessionReadOnly, StaleError
from singletree.history.entries import (
    CompactionEntry,
    CustomEntry,
    Entry,
    MessageEntry,
    ModelChangeEntry,
    ThinkingLevelChangeEntry,
)
from singletree.history.store import History, Store
from singletree.messages import AssistantMessage, Text, UserMessage


def user(text: str) -> Entry:
    return MessageEntry(message=UserMessage(content=text))


def answer(text: str) -> Entry:
    return MessageEntry(message=AssistantMessage(content=[Text(text=text)], model="m"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "agent")


@pytest.fixture
def history(store: Store) -> Iterator[History]:
    made = store.create("/w")
    yield made
    made.close()


def lines(history: History) -> list[dict[str, object]]:
    return [json.loads(line) for line in history.file.read_bytes().splitlines()]


def test_the_file_appears_with_the_first_thing_said(history: History) -> None:
    history.append(ModelChangeEntry(provider="p", model_id="m"))
    history.append(CustomEntry(custom_type="x"))
    assert not history.file.exists() and not history.file.parent.exists()
    history.append(user("hello"))
    assert [line["type"] for line in lines(history)] == [
        "session",
        "model_change",
        "custom",
        "message",
    ]
    assert stat.S_IMODE(history.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(history.file.parent.stat().st_mode) == 0o700


def test_entries_hang_together(history: History) -> None:
    one = history.append(user("a"))
    two = history.append(answer("b"))
    assert (one.parent_id, two.parent_id) == (None, one.id)
    assert len(one.id) == 8 and one.timestamp.endswith("Z")
    assert history.path() == [one, two]
    assert history.leaf == two.id
    assert history.entry(one.id) == one


def test_a_minted_id_is_used_once(history: History) -> None:
    minted = history.mint()
    assert history.append(user("a"), id=minted).id == minted
    with pytest.raises(SessionError):
        history.append(user("b"), id=minted)


def test_moving_is_stored_and_survives(store: Store, history: History) -> None:
    one = history.append(user("a"))
    history.append(answer("b"))
    assert history.move(one.id)
    assert not history.move(one.id)
    assert history.leaf == one.id
    history.close()
    again = store.open(history.file)
    assert again.leaf == one.id
    assert [e.id for e in again.path()] == [one.id]
    three = again.append(answer("c"))
    assert three.parent_id == one.id
    assert again.entry_count == 3
    again.close()


def test_before_the_first_message(store: Store, history: History) -> None:
    one = history.append(user("a"))
    assert history.move(None)
    assert history.leaf is None and history.path() == []
    two = history.append(user("b"))
    assert two.parent_id is None
    assert history.tree.children(None) == [one.id, two.id]


def test_pi_lands_where_we_stand(history: History) -> None:
    """pi takes the last line as the leaf: its parent is where we stand."""
    one = history.append(user("a"))
    history.append(answer("b"))
    history.move(one.id)
    assert lines(history)[-1]["parentId"] == one.id


def test_a_child_of_a_mark_is_shown_below_its_target(store: Store, history: History) -> None:
    """So pi writes on after we moved: its entry's parent is our mark."""
    one = history.append(user("a"))
    history.append(answer("b"))
    history.move(one.id)
    mark = lines(history)[-1]["id"]
    history.close()
    theirs = {"type": "custom", "id": "0badcafe", "parentId": mark, "timestamp": "t"}
    with history.file.open("a") as file:
        file.write(json.dumps({**theirs, "customType": "x"}) + "\n")
    again = store.open(history.file)
    assert [e.id for e in again.path()] == [one.id, "0badcafe"]
    assert again.entry("0badcafe").parent_id == one.id
    again.close()


def test_labels_and_names_are_the_newest_in_the_file(history: History) -> None:
    one = history.append(user("a"))
    label(history, one.id, "here")
    label(history, one.id, "there")
    rename(history, "first\r\nname ")
    assert (history.labels, history.name) == ({one.id: "there"}, "first name")
    label(history, one.id, None)
    rename(history, "")
    assert (history.labels, history.name) == ({}, None)


def test_bookkeeping_leaves_the_context_as_it_is(history: History) -> None:
    one = history.append(user("a"))
    label(history, one.id, "x")
    rename(history, "n")
    two = history.append(answer("b"))
    said = [e for e in history.path() if isinstance(e, MessageEntry)]
    assert said == [one, two]


def test_a_failed_write_changes_nothing(store: Store, history: History) -> None:
    history.append(user("a"))
    before = (history.leaf, history.entry_count, history.tree_version)
    history.file.unlink()
    with pytest.raises(SessionError):
        history.append(user("b"))
    assert (history.leaf, history.entry_count, history.tree_version) == before


def test_closed_is_read_only(history: History) -> None:
    history.append(user("a"))
    history.close()
    with pytest.raises(SessionReadOnly):
        history.append(user("b"))


def test_pages_of_entries(history: History) -> None:
    ids = [history.append(user(str(n))).id for n in range(10)]

    def page(**given: object) -> list[str]:
        return [e.id for e in history.entries(**given).entries]  # type: ignore[arg-type]  # any mix of parameters

    assert page() == ids
    assert page(limit=3) == ids[7:]
    assert page(limit=3, before=ids[7]) == ids[4:7]
    assert page(limit=3, since=ids[1]) == ids[2:5]
    assert page(ids=[ids[4], ids[2]]) == [ids[4], ids[2]]
    assert history.entries(limit=3).previous == ids[7]
    assert history.entries(since=ids[1], limit=3).next == ids[4]
    history.move(ids[4])
    with pytest.raises(StaleError):
        history.entries(since=ids[6])
    assert page(branch="all") == ids
    assert page() == ids[:5]


def test_settings_before_a_compaction_stay_on_the_path(history: History) -> None:
    history.append(ModelChangeEntry(provider="p", model_id="m"))
    level = history.append(ThinkingLevelChangeEntry(thinking_level="high"))
    history.append(user("a"))
    last = history.append(answer("b"))
    kept = history.append(user("c"))
    compaction = history.append(CompactionEntry(summary="s", first_kept_entry_id=kept.id))
    after = history.append(user("d"))
    assert history.context_path() == [level, last, kept, compaction, after]
