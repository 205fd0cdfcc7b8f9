"""From a path to what the model sees."""

from __future__ import annotations

from hypothesis import given
from tests.context.making import call, path, paths, result, says, user

from singletree.context.projection import (
    BASH_CANCELLED,
    BASH_NO_OUTPUT,
    BRANCH_INTRO,
    COMPACTION_INTRO,
    Projection,
    extend,
    project,
    to_llm,
)
from singletree.history.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    CustomEntry,
    CustomMessageEntry,
    Entry,
    LabelEntry,
    ModelChangeEntry,
    ThinkingLevelChangeEntry,
)
from singletree.messages import BashExecutionMessage, Message, SystemMessage, text_of


def shown(entries: list[Entry]) -> list[str]:
    """`source: text` of all that is projected."""
    seen = project(entries)
    return [
        f"{source}: {text_of(m.content)}"
        for source, m in zip(seen.sources, to_llm(seen.messages), strict=True)
    ]


def compaction(first: str, summary: str = "S") -> CompactionEntry:
    return CompactionEntry(summary=summary, first_kept_entry_id=first, tokens_before=9)


def test_all_of_a_path_in_order() -> None:
    line = path(
        user("a"),
        CustomEntry(custom_type="state"),
        says("b"),
        LabelEntry(target_id="e1", label="x"),
        CustomMessageEntry(custom_type="n", content="c"),
        BranchSummaryEntry(summary="d"),
        BranchSummaryEntry(summary=""),
    )
    assert shown(line) == [
        "e1: a",
        "e3: b",
        "e5: c",
        f"e6: {BRANCH_INTRO}\n\n<summary>\nd</summary>",
    ]


def test_a_compaction_shows_its_summary_what_it_keeps_and_what_follows() -> None:
    line = path(user("a"), says("b"), user("c"), says("d"), compaction("e3"), user("e"))
    head = f"{COMPACTION_INTRO}\n\n<summary>\nS\n</summary>"
    assert shown(line) == [f"e5: {head}", "e3: c", "e4: d", "e6: e"]


def test_only_the_newest_compaction_shows() -> None:
    line = path(user("a"), compaction("e1", "old"), user("b"), compaction("e2", "new"), user("c"))
    texts = shown(line)
    assert "new" in texts[0]
    assert texts[1:] == ["e3: b", "e5: c"]


def test_an_id_that_is_not_on_the_path_keeps_nothing() -> None:
    assert len(shown(path(user("a"), compaction("gone"), user("c")))) == 2
    assert len(shown(path(user("a"), compaction("e2"), user("c")))) == 2


def test_a_context_edit_hides_or_replaces_and_the_last_one_wins() -> None:
    line = path(
        user("a"),
        says("b", call("c1")),
        ContextEditEntry(target_id="e1", replacement={"content": "A"}),
        ContextEditEntry(target_id="e2", replacement={"content": "B"}),
        ContextEditEntry(target_id="e1", replacement=None),
        ContextEditEntry(target_id="e1", replacement={"content": "AA"}),
        user("c"),
        ContextEditEntry(target_id="e7", replacement=None),
    )
    assert shown(line) == ["e1: AA", "e2: B"]


def test_whatever_an_edit_names_can_be_hidden() -> None:
    hidden = (BashExecutionMessage(command="ls"), BranchSummaryEntry(summary="S"), compaction("e1"))
    for entry in hidden:
        line = path(entry, ContextEditEntry(target_id="e1"), user("a"))
        assert shown(line) == ["e3: a"]
        swapped = ContextEditEntry(target_id="e1", replacement={"content": "b"})
        assert shown(path(entry, swapped)) == shown(path(entry))


def test_an_edit_reaches_only_what_is_before_it() -> None:
    line = path(user("a"), ContextEditEntry(target_id="e3", replacement=None), user("b"))
    assert shown(line) == ["e1: a", "e3: b"]


def test_an_edit_that_is_no_content_changes_nothing() -> None:
    line = path(user("a"), ContextEditEntry(target_id="e1", replacement={"content": 5}))
    assert shown(line) == ["e1: a"]


def test_system_messages_of_a_file_are_never_shown() -> None:
    line = path(SystemMessage(content="old prompt"), user("a"))
    assert shown(line) == ["e2: a"]


def test_model_and_level_come_from_the_whole_path() -> None:
    line = path(
        ModelChangeEntry(provider="q", model_id="n"),
        ThinkingLevelChangeEntry(thinking_level="high"),
        user("a"),
        compaction("gone"),
    )
    assert project(line).model == ("q", "n")
    assert project(line).thinking == "high"
    more = path(*line, says("b"), ThinkingLevelChangeEntry(thinking_level="ultra"))
    assert project(more).model == ("p", "m")
    assert project(more).thinking == "high"


def test_a_summary_cannot_close_its_tag() -> None:
    text = shown(path(compaction("e1", "x </summary> y <SUMMARY > z")))[0]
    assert text.count("</summary>") == 1
    assert text.endswith("x &lt;/summary> y &lt;SUMMARY > z\n</summary>")


def told(**fields: object) -> str:
    message = BashExecutionMessage.model_validate({"command": "make", "timestamp": 1, **fields})
    sent: list[Message] = to_llm([message])
    return text_of(sent[0].content) if sent else ""


def test_commands_of_the_user_are_told() -> None:
    assert told(output="ok", exit_code=0) == "The user ran `make`\n```\nok\n```"
    assert told() == f"The user ran `make`\n{BASH_NO_OUTPUT}"
    assert told(output="x", exit_code=2).endswith("```\n\nExit code: 2")
    assert told(output="x", exit_code=2, cancelled=True).endswith(f"\n\n{BASH_CANCELLED}")
    assert told(truncated=True, full_output_path="/t/x").endswith(
        "(output cut; all of it is in /t/x)"
    )
    assert told(exclude_from_context=True) == ""


@given(paths)
def test_carrying_on_gives_what_projecting_anew_gives(line: list[Entry]) -> None:
    carried: Projection | None = Projection()
    for at, entry in enumerate(line):
        carried = extend(carried or project(line[:at]), entry)
        anew = project(line[: at + 1])
        assert carried is None or carried == anew
        assert len(anew.messages) == len(anew.sources)


@given(paths)
def test_projecting_never_changes_an_entry(line: list[Entry]) -> None:
    before = [entry.model_dump_json() for entry in line]
    project(line)
    assert [entry.model_dump_json() for entry in line] == before


def test_results_keep_their_place() -> None:
    line = path(user("q"), says(call("c1")), result("c1", "found"))
    assert shown(line) == ["e1: q", "e2: ", "e3: found"]
