"""Whatever tree a file holds: read at any of its entries, it gives what a strict provider takes.

What a session tells of itself without reading the whole path is what the whole path gives.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.context.making import entries, refuse
from tests.history.made import encoded, header

from singletree.compaction.budget import context_tokens
from singletree.compaction.plan import plan
from singletree.context.accept import accepted
from singletree.context.projection import project, to_llm
from singletree.history.entries import CompactionEntry, Entry, dump
from singletree.history.store import History, Store
from singletree.session.tree.conversation import Conversation

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

PARENTS = st.one_of(
    st.just(-1), st.just(-1), st.just(-1), st.integers(-9, 12), st.sampled_from([None, "gone"])
)
"""How far away the parent stands in the file, mostly one line up; None: nowhere."""
trees = st.lists(st.tuples(entries, PARENTS), min_size=1, max_size=18)


def written(folder: Path, tree: Sequence[tuple[Entry, int | str | None]]) -> History:
    """The session whose file holds these entries, `e1`, `e2` … in their order."""
    lines = [encoded(header())]
    for number, (entry, parent) in enumerate(tree, 1):
        above = f"e{number + parent}" if isinstance(parent, int) else parent
        if above in ("e0", None):
            above = None
        place = {"id": f"e{number}", "parent_id": above, "timestamp": "2026-01-05T08:00:00.000Z"}
        lines.append(dump(entry.model_copy(update=place)))
    path = folder / "sessions" / "any.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(lines))
    return Store(folder, path.parent).open(path)


def every_place(history: History) -> list[str]:
    return [history.tree.index.ids[row] for row in history.tree.rows()]


@settings(max_examples=300)
@given(trees)
def test_any_place_of_any_tree_gives_what_a_strict_provider_takes(
    tree: Sequence[tuple[Entry, int | str | None]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = written(Path(folder), tree)
        for place in every_place(history):
            seen = project(history.path(place))
            assert project(history.context_path(place)) == seen
            refuse(accepted(to_llm(seen.messages)))
        history.close()


@settings(max_examples=200)
@given(trees, st.integers(0, 12), st.integers(0, 400))
def test_compacted_at_any_place_the_request_is_one_a_strict_provider_takes(
    tree: Sequence[tuple[Entry, int | str | None]], at: int, keep: int
) -> None:
    """Twice, so that the second cut may fall before the first one."""
    with tempfile.TemporaryDirectory() as folder:
        history = written(Path(folder), tree)
        places = every_place(history)
        history.move(places[at % len(places)])
        for recent in (keep, keep // 2):
            made = plan(history.context_path(), recent)
            if made is not None:
                history.append(
                    CompactionEntry(summary="so far", first_kept_entry_id=made.first_kept_id)
                )
            refuse(accepted(to_llm(project(history.context_path()).messages)))
            for entry, _ in tree[:3]:
                history.append(entry.model_copy(update={"timestamp": ""}))
            refuse(accepted(to_llm(project(history.context_path()).messages)))
        history.close()


@settings(max_examples=300)
@given(trees)
def test_what_is_told_without_reading_the_path_is_what_the_path_gives(
    tree: Sequence[tuple[Entry, int | str | None]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = written(Path(folder), tree)
        for place in every_place(history):
            history.move(place)
            talk = Conversation(history, lambda event: None, lambda code, text: None)
            seen = project(history.path())
            assert talk.size().tokens == context_tokens(seen).tokens
            assert history.speaking_count() == len(seen.messages)
            model, thinking = talk.settings()
            assert (model, thinking or "off") == (seen.model, seen.thinking)
        history.close()
