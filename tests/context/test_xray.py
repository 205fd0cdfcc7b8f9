"""What the model would see and why, told by the functions that make the request."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.context.making import call, long_paths, path, result, says, user

from singletree.compaction.budget import context_tokens, estimate
from singletree.context.accept import accepted
from singletree.context.left_out import Part, compacted
from singletree.context.projection import project, to_llm
from singletree.context.prompt import PromptParts, ToolNote, sections
from singletree.context.xray import BY_EXTENSION, CORRECTION, MADE_UP, UNSENT, Seen, XRay, xray
from singletree.history.entries import (
    LEAF_TYPE,
    CompactionEntry,
    ContextEditEntry,
    CustomEntry,
    Entry,
    LabelEntry,
)
from singletree.messages import BashExecutionMessage, SystemMessage, ToolResultMessage


def rows(parts: tuple[Part, ...]) -> list[str]:
    return [f"{p.left_out or p.kind} {p.entry_id}: {p.preview}" for p in parts]


def seen(line: list[Entry]) -> XRay:
    return xray(line, estimate)


def test_every_part_has_its_source_and_its_tokens() -> None:
    found = seen(path(user("a" * 40), says("b" * 8, call("c1", path="x")), result("c1", "found")))
    assert rows(found.parts) == [
        "user e1: " + "a" * 40,
        'assistant e2: bbbbbbbb read(path="x")',
        "toolResult e3: found",
    ]
    assert [p.tokens for p in found.parts] == [10, 6, 2]
    assert found.tokens == 18
    assert found.left_out == ()


def test_a_call_shows_what_it_was_given_also_behind_a_long_text() -> None:
    found = seen(path(user("a"), says("b" * 200, call("c1", path="x" * 9**6, y="z"))))
    shown = found.parts[1].preview
    assert shown.startswith("b" * 39 + '… read(path="xxx')
    assert len(shown) == 80


def test_each_rule_is_named() -> None:
    hidden = BashExecutionMessage(command="secret", exclude_from_context=True)
    cut = ToolResultMessage(
        tool_call_id="c1",
        tool_name="read",
        content="head",
        details={"truncation": {"truncated": True, "totalBytes": 900, "outputBytes": 100}},
    )
    line = path(
        user("old"),
        SystemMessage(content="a prompt of pi"),
        CompactionEntry(summary="S", first_kept_entry_id="e4"),
        user("typo"),
        CompactionEntry(summary="T", first_kept_entry_id="e4"),
        ContextEditEntry(target_id="e4", replacement=None),
        says(call("c1")),
        cut,
        result("c9", "orphan"),
        hidden,
        says("half", stop="aborted"),
        says("", stop="error", error="boom"),
        user(" "),
        LabelEntry(target_id="e1", label="x"),
        CustomEntry(custom_type=LEAF_TYPE),
    )
    found = seen(line)
    assert Counter(p.left_out for p in found.left_out) == {
        "compacted": 2,
        "history": 1,
        "edited_away": 1,
        "no_call": 1,
        "not_for_model": 2,
        "aborted": 1,
        "failed": 1,
        "empty": 1,
        "truncated": 1,
    }
    by_rule = {p.left_out: p for p in found.left_out}
    assert by_rule["truncated"].tokens == 200
    assert by_rule["edited_away"].preview == "typo"
    assert rows(found.parts)[:2] == ["compactionSummary e5: T", "assistant e7: read()"]


def test_other_branches_are_one_row() -> None:
    found = xray(path(user("a")), estimate, Seen(others=(2, 80)))
    assert rows(found.left_out) == ["off_path None: 2 entries on other branches"]
    assert found.left_out[0].tokens == 20


def test_what_is_made_up_has_no_source() -> None:
    found = seen(path(user("a"), says(call("c1"))))
    assert rows(found.parts)[2] == f"toolResult None: {MADE_UP}"


def test_the_prompt_and_the_tools_are_parts_and_the_correction_makes_the_figure() -> None:
    line = path(user("a" * 40), says("b", used=5000), user("c" * 8))
    prompt = sections(PromptParts(cwd="/w"), [ToolNote("read", "Read a file")])
    figure = context_tokens(project(line)).tokens
    found = xray(line, estimate, Seen(prompt, {"read": "{}" * 50}, tokens=figure))
    kinds = [p.kind for p in found.parts]
    assert kinds[:5] == [
        "section:preamble",
        "section:tools",
        "section:rules",
        "section:cwd",
        "tool:read",
    ]
    assert found.parts[-1].preview == CORRECTION
    assert found.tokens == figure == sum(p.tokens for p in found.parts)


def test_a_figure_that_nobody_measured_is_told_as_what_it_is() -> None:
    line = path(user("a" * 40), says("half", stop="aborted"))
    size = context_tokens(project(line))
    found = xray(line, estimate, Seen(tokens=size.tokens, measured=size.at is not None))
    assert [(p.kind, p.tokens, p.preview) for p in found.parts[1:]] == [("correction", 1, UNSENT)]
    assert found.tokens == size.tokens == 11


def test_what_was_compacted_away_is_told_by_entry() -> None:
    line = path(user("old"), LabelEntry(target_id="e1"), ContextEditEntry(target_id="e1"))
    told = [compacted(entry, estimate) for entry in line]
    assert [part and (part.kind, part.left_out) for part in told] == [
        ("user", "compacted"),
        ("label", "not_for_model"),
        None,
    ]


def test_extensions_take_away_and_add() -> None:
    line = path(user("a"), says("b"), user("c"))
    first, _, last = project(line).messages
    after = [first.model_copy(deep=True), user("new"), last]
    found = xray(line, estimate, Seen(transformed=after))
    assert rows(found.parts) == ["user e1: a", f"user None: {BY_EXTENSION}: new", "user e3: c"]
    assert rows(found.left_out) == ["extension e2: b"]


def test_extensions_say_the_same_again() -> None:
    line = path(user("a"), user("b"), user("c"), user("b"))
    a, b, c, _ = project(line).messages
    found = xray(line, estimate, Seen(transformed=[b, a, c, b, b]))
    assert [p.entry_id for p in found.parts] == ["e2", None, "e3", "e4", None]
    assert rows(found.left_out) == ["extension e1: a"]


@pytest.mark.timeout(20)
def test_extensions_that_change_all_of_a_long_conversation_are_soon_told() -> None:
    line = path(*(user(f"u{n}") for n in range(10_000)))
    after = [m.model_copy(update={"timestamp": 2}) for m in project(line).messages]
    found = xray(line, estimate, Seen(transformed=after))
    assert len(found.parts) == len(found.left_out) == len(line)


@given(long_paths)
def test_what_is_told_is_what_is_sent(line: list[Entry]) -> None:
    found = seen(line)
    sent = accepted(to_llm(project(line).messages))
    made_up = [p for p in found.parts if p.entry_id is None]
    assert len(found.parts) == len(sent)
    assert all(p.preview == MADE_UP for p in made_up)


@given(long_paths, st.integers(0, 9000))
def test_every_entry_is_accounted_for_once_and_the_sum_is_the_figure(
    line: list[Entry], figure: int
) -> None:
    found = xray(line, estimate, Seen(tokens=figure))
    assert sum(p.tokens for p in found.parts) == found.tokens == figure
    told = Counter(p.entry_id for p in (*found.parts, *found.left_out) if p.entry_id)
    assert told == Counter(e.id for e in line if not isinstance(e, ContextEditEntry))
