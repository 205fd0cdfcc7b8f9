"""A project that was moved: its session is found by id, and offered where the project is now."""

from __future__ import annotations

from pathlib import Path

from tests.history.made import answer, user

from singletree.history.store import Store


def test_b010_a_moved_project_keeps_its_session(tmp_path: Path) -> None:
    store = Store(tmp_path / "agent")
    old, new, other = tmp_path / "w1", tmp_path / "w2", tmp_path / "w3"
    old.mkdir()
    other.mkdir()
    history = store.create(str(old))
    made = [history.append(user("here")), history.append(answer("yes"))]
    history.close()
    elsewhere = store.create(str(other))
    elsewhere.append(user("not this one"))
    elsewhere.close()
    assert [one.id for one in store.list(str(new)).sessions] == []
    old.rename(new)
    (offered,) = store.list(str(new)).sessions
    assert offered.id == history.id and offered.moved
    again = store.open_id(history.id)
    assert again.path() == made
    again.append(user("and here"))
    again.close()
    own = store.create(str(new))
    own.append(user("new"))
    own.close()
    assert [one.id for one in store.list(str(new)).sessions] == [own.id, history.id]
    assert store.latest(str(new)) == own.file
