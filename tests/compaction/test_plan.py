"""Where a path is cut."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.context.making import call, long_paths, path, refuse, result, says, user

from singletree.compaction.budget import estimate
from singletree.compaction.plan import Plan, plan
from singletree.context.accept import accepted
from singletree.context.projection import project, to_llm
from singletree.history.entries import (
    LEAF_TYPE,
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    Entry,
    LabelEntry,
)
from singletree.messages import AssistantMessage, ToolResultMessage

LONG = "x" * 400  # 100 tokens


def compaction(first: str, **details: list[JsonValue]) -> CompactionEntry:
    return CompactionEntry(summary="S", first_kept_entry_id=first, details={**details})


def told(found: Plan | None) -> str:
    """`summarised | prefix | first kept`."""
    if found is None:
        return "nothing"
    at = len(found.messages)
    return (
        f"{','.join(found.sources[:at])} | {','.join(found.sources[at:])} | {found.first_kept_id}"
    )


def test_what_is_recent_is_kept() -> None:
    line = path(user(LONG), says(LONG), user(LONG), says(LONG))
    assert told(plan(line, 200)) == "e1,e2 |  | e3"
    assert told(plan(line, 201)) == " | e1 | e2"
    assert told(plan(line, 1000)) == "nothing"
    assert told(plan([], 10)) == "nothing"


def test_a_turn_too_large_is_split() -> None:
    line = path(user("a"), says("b"), user(LONG), says(LONG, call("c1")), result("c1"), says(LONG))
    assert told(plan(line, 90)) == "e1,e2 | e3,e4,e5 | e6"
    assert told(plan(line, 150)) == "e1,e2 | e3 | e4"


def test_a_call_is_never_parted_from_its_result() -> None:
    late = path(user(LONG), says(call("c1")), user("steer"), result("c1", LONG), says("b"))
    assert told(plan(late, 50)) == "e1,e2 | e3,e4 | e5"
    in_place = path(user(LONG), says(call("c1")), result("c1", LONG), user("b"))
    assert told(plan(in_place, 50)) == "e1,e2,e3 |  | e4"


def test_a_second_result_of_a_call_binds_nobody() -> None:
    line = path(says(call("c1")), result("c1"), user("b"), result("c1"), user(LONG))
    assert told(plan(line, 102)) == "e1,e2 |  | e3"


def test_huge_results_at_the_end_stay_with_their_call() -> None:
    line = path(user("a"), says("b", call("c1")), result("c1", LONG))
    assert told(plan(line, 50)) == " | e1 | e2"


def test_entries_nobody_sees_stay_with_what_follows() -> None:
    line = path(user(LONG), says(LONG), LabelEntry(target_id="e1", label="x"), says(LONG))
    assert told(plan(line, 50)) == " | e1,e2 | e3"


def test_a_second_compaction_starts_at_the_kept_tail_and_passes_the_summary_on() -> None:
    line = path(
        user("a"),
        says("b"),
        user("c"),
        says("d", call("c1", "edit", path="new.py")),
        result("c1"),
        compaction("e3", readFiles=["old.py", "new.py"], modifiedFiles=["was.py"]),
        user("e"),
        says(LONG),
    )
    found = plan(line, 50)
    assert told(found) == "e3,e4,e5 | e7 | e8"
    assert found is not None
    assert found.previous == "S"
    assert found.touched.read_files == ("old.py",)
    assert found.touched.modified_files == ("new.py", "was.py")


def test_what_nobody_sees_between_two_compactions_is_kept_with_what_follows() -> None:
    line = path(
        user(LONG),
        compaction("e1"),
        LabelEntry(target_id="e1", label="x"),
        compaction("e1"),
        says(LONG),
        user("b"),
    )
    assert told(plan(line, 90)) == " | e1 | e3"


def test_files_of_a_branch_summary_are_carried_on() -> None:
    line = path(
        user("a"),
        BranchSummaryEntry(summary="B", details={"readFiles": ["r.py"], "modifiedFiles": ["m.py"]}),
        user(LONG),
    )
    found = plan(line, 50)
    assert found is not None
    assert found.files.read_files == ("r.py",)
    assert found.files.modified_files == ("m.py",)


def test_files_of_calls_that_a_tool_made_by_itself_count() -> None:
    nested: JsonValue = {
        "calls": [
            {"name": "read", "arguments": {"path": "a.py"}},
            {"name": "edit", "arguments": {"path": "b.py"}},
            {"name": "edit", "arguments": "c.py"},
            5,
        ]
    }
    script = ToolResultMessage.model_validate({"toolCallId": "c1", "nestedCalls": nested})
    found = plan(path(says(call("c1", "script")), script, user(LONG)), 50)
    assert found is not None
    assert (found.files.read_files, found.files.modified_files) == (("a.py",), ("b.py",))


def test_a_path_that_ends_with_a_compaction_is_left_alone() -> None:
    line = path(user(LONG), says(LONG), compaction("e2"))
    assert plan(line, 1) is None
    assert plan(path(*line, CustomEntry(custom_type=LEAF_TYPE)), 1) is None


def planned(line: list[Entry], keep: int) -> tuple[Plan, list[Entry]]:
    """The plan and the path after it; paths without a plan are not looked at."""
    found = plan(line, keep)
    assume(found is not None)
    assert found is not None
    made = CompactionEntry(summary="S", first_kept_entry_id=found.first_kept_id)
    return found, path(*line, made)


@given(long_paths, st.integers(0, 12))
def test_whatever_is_cut_the_next_request_is_acceptable(line: list[Entry], keep: int) -> None:
    _, after = planned(line, keep)
    refuse(accepted(to_llm(project(after).messages)))


@given(long_paths, st.integers(0, 12))
def test_nothing_is_lost_between_the_summary_and_what_is_kept(line: list[Entry], keep: int) -> None:
    found, after = planned(line, keep)
    summaries = {e.id for e in after if isinstance(e, CompactionEntry)}
    before = project(line)
    rows = [
        (source, message)
        for source, message in zip(before.sources, before.messages, strict=True)
        if source not in summaries
    ]
    kept = project(after)
    assert [source for source, _ in rows] == [*found.sources, *kept.sources[1:]]
    given_up = sum(map(estimate, (*found.messages, *found.prefix)))
    staying = sum(map(estimate, kept.messages[1:]))
    assert given_up + staying == sum(estimate(message) for _, message in rows)


@given(long_paths, st.integers(0, 12))
def test_no_result_is_kept_whose_call_is_given_up(line: list[Entry], keep: int) -> None:
    found, _ = planned(line, keep)
    seen = project(line)
    given_up = set(found.sources)
    asked: dict[str, bool] = {}
    for source, message in zip(seen.sources, seen.messages, strict=True):
        if isinstance(message, AssistantMessage):
            asked.update({c.id: source in given_up for c in message.tool_calls})
        elif isinstance(message, ToolResultMessage) and asked.pop(message.tool_call_id, False):
            assert source in given_up
