"""What a strict provider accepts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.context.making import agent_messages, call, paths, refuse, result, says, user

from singletree.context.accept import (
    EMPTY_RESULT,
    NO_RESULT,
    OPENING,
    accepted,
)
from singletree.context.feed import Feed
from singletree.context.projection import project, to_llm
from singletree.history.entries import Entry
from singletree.messages import AgentMessage, Message, ToolResultMessage, text_of


def sent(*messages: Message) -> list[str]:
    """`role: text [calls]` of what goes out."""
    rows = []
    for m in accepted(messages):
        key = f" {m.tool_call_id}" if isinstance(m, ToolResultMessage) else ""
        calls = [c.id for c in m.tool_calls] if m.role == "assistant" else []
        rows.append(f"{m.role}{key}: {text_of(m.content)}{' ' + ','.join(calls) if calls else ''}")
    return rows


def test_clean_messages_are_the_same_objects() -> None:
    given_: list[Message] = [user(), says("x", call("c1")), result("c1"), says("done")]
    assert all(a is b for a, b in zip(given_, accepted(given_), strict=True))


def test_a_missing_result_is_made_up() -> None:
    assert sent(user("q"), says(call("c1"), call("c2")), result("c2"), user("r")) == [
        "user: q",
        "assistant:  c1,c2",
        f"toolResult c1: {NO_RESULT}",
        "toolResult c2: out",
        "user: r",
    ]


def test_a_late_result_goes_to_its_call() -> None:
    assert sent(user("q"), says(call("c1")), user("r"), result("c1", "late")) == [
        "user: q",
        "assistant:  c1",
        "toolResult c1: late",
        "user: r",
    ]


def test_orphans_and_second_results_are_dropped() -> None:
    assert sent(
        user("q"), result("c0"), says(call("c1")), result("c1", "1"), result("c1", "2")
    ) == [
        "user: q",
        "assistant:  c1",
        "toolResult c1: 1",
    ]


def test_a_failed_answer_is_left_out_with_its_results() -> None:
    assert sent(user("q"), says("ha", call("c1"), stop="aborted"), result("c1"), user("again")) == [
        "user: q",
        "user: again",
    ]


def test_a_result_of_a_failed_answer_is_not_given_to_an_older_call_of_the_same_id() -> None:
    assert sent(
        user("q"), says(call("c1")), says(call("c1"), stop="error"), result("c1", "wrong")
    ) == ["user: q", "assistant:  c1", f"toolResult c1: {NO_RESULT}"]


def test_ids_used_again_are_told_apart() -> None:
    assert sent(
        user("q"),
        says(call("c1"), call("c1")),
        result("c1", "1"),
        result("c1", "2"),
        says(call("c1")),
        result("c1", "3"),
    ) == [
        "user: q",
        "assistant:  c1,c1-2",
        "toolResult c1: 1",
        "toolResult c1-2: 2",
        "assistant:  c1-3",
        "toolResult c1-3: 3",
    ]


def test_blank_text_goes_and_a_result_says_so() -> None:
    assert sent(says("hello"), user(" "), says("", call("")), result("", "\n")) == [
        f"user: {OPENING}",
        "assistant: hello",
        "assistant:  call",
        f"toolResult call: {EMPTY_RESULT}",
    ]


def test_results_without_a_call_are_named_but_not_those_of_failed_answers() -> None:
    feed = Feed()
    feed.messages(
        [
            result("c0"),
            says(call("c1")),
            result("c1", "1"),
            result("c1", "2"),
            says(call("c2"), stop="error"),
            result("c2"),
        ]
    )
    assert [text_of(m.content) for m in feed.orphans] == ["out", "2"]


@given(paths)
def test_whatever_the_path_a_strict_provider_accepts_it(line: list[Entry]) -> None:
    refuse(accepted(to_llm(project(line).messages)))


@given(st.lists(agent_messages, max_size=14))
def test_repairing_twice_changes_nothing_more(messages: list[AgentMessage]) -> None:
    once = accepted(to_llm(messages))
    assert accepted(once) == once


@given(st.lists(agent_messages, max_size=14), st.integers(0, 14))
def test_feeding_bit_by_bit_gives_the_same(messages: list[AgentMessage], at: int) -> None:
    feed = Feed()
    for length in range(len(messages) + 1):
        assert feed.messages(messages[:length]) == accepted(to_llm(messages[:length]))
    shorter = messages[:at]
    assert feed.messages(shorter) == accepted(to_llm(shorter))
