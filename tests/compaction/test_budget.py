"""How full the window is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.context.making import agent_messages, call, long_paths, path, says, user

from singletree.compaction.budget import (
    Gauge,
    Limits,
    Size,
    context_tokens,
    estimate,
    over,
)
from singletree.compaction.js import number, stringify
from singletree.context.projection import Projection, project
from singletree.history.entries import CompactionEntry, ContextEditEntry, Entry
from singletree.messages import (
    AgentMessage,
    AssistantMessage,
    Image,
    Text,
    UnknownMessage,
    Usage,
    UserMessage,
)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (1.5, "1.5"),
        (1e16, "10000000000000000"),
        (1e21, "1e+21"),
        (1.25e22, "1.25e+22"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (-1.5e-9, "-1.5e-9"),
        (123456.789, "123456.789"),
        (10**22, "1e+22"),
    ],
)
def test_numbers_are_written_as_javascript_does(value: float, written: str) -> None:
    assert number(value) == written


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text() | st.floats(-1e15, 1e15),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(_json)
def test_what_is_written_reads_back_as_the_same_value(value: JsonValue) -> None:
    assert json.loads(stringify(value)) == value


def test_lone_surrogates_are_escaped() -> None:
    assert stringify({"a": "\ud83d", "b": "🙂"}) == '{"a":"\\ud83d","b":"🙂"}'


def test_sizes_are_utf16_units() -> None:
    assert estimate(user("🙂🙂🙂")) == 2
    assert estimate(user("数据测试")) == 1
    assert estimate(UserMessage(content=[Image(data="AAAA", mime_type="image/png")])) == 1200
    assert estimate(says(call("c1", "read", path="a"))) == 4
    assert estimate(UnknownMessage(role="later")) == 0


def test_the_last_good_answer_is_the_measure() -> None:
    messages: list[AgentMessage] = [
        user("a" * 40),
        says("b", used=500),
        user("c" * 8),
        says("d" * 4, used=0),
        says("e" * 8, used=9, stop="error"),
        says("f" * 4, used=9, stop="aborted"),
    ]
    assert context_tokens(Projection(tuple(messages))) == Size(500, 2 + 1 + 2 + 1, 1)
    assert context_tokens(Projection(tuple(messages[2:]))) == Size(0, 6, None)


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (Usage(output=50), False),
        (Usage(output=50, total_tokens=50), False),
        (Usage(output=50, reasoning=20, total_tokens=50), False),
        (Usage(input=1, output=50), True),
        (Usage(cache_read=1, output=50), True),
        (Usage(cache_write=1, output=50), True),
        (Usage(output=50, total_tokens=51), True),
    ],
)
def test_a_figure_for_the_answer_alone_is_no_measure(usage: Usage, counts: bool) -> None:
    """Some servers leave out what they had in their cache."""
    answer = AssistantMessage(content=[Text(text="x" * 40)], usage=usage)
    found = context_tokens(Projection((user("a" * 4000), answer)))
    assert found == (Size(usage.used, 0, 1) if counts else Size(0, 1010, None))


def test_figures_from_before_a_compaction_or_an_edit_are_not_trusted() -> None:
    measured = says("b" * 40, used=5000)
    compacted = path(
        user("a" * 40), measured, CompactionEntry(summary="s" * 4, first_kept_entry_id="e1")
    )
    assert context_tokens(project(compacted)) == Size(0, 21, None)
    edited = path(user("a" * 40), measured, ContextEditEntry(target_id="e1", replacement=None))
    assert context_tokens(project(edited)) == Size(0, 10, None)
    after = path(*edited, user("c" * 4), says("d", used=700), user("e" * 8))
    assert context_tokens(project(after)).tokens == 702


def test_the_threshold_is_strict() -> None:
    assert not over(183_616, 200_000, 16_384)
    assert over(183_617, 200_000, 16_384)


def test_a_small_window_gets_quarters() -> None:
    assert Limits().fit(8000) == Limits(2000, 2000)
    assert Limits().fit(16_384) == Limits(4096, 4096)
    assert Limits().fit(16_385) == Limits()
    assert Limits(enabled=False).fit(4000) == Limits(1000, 1000, False)
    assert Limits().fit(0) == Limits()


@given(st.lists(agent_messages, max_size=12))
def test_the_measure_splits_what_is_there(messages: list[AgentMessage]) -> None:
    found = context_tokens(Projection(tuple(messages)))
    if found.at is None:
        assert found.tokens == sum(map(estimate, messages))
    else:
        assert found.measured > 0
        assert found.estimated == sum(map(estimate, messages[found.at + 1 :]))


def test_what_is_sent_beside_the_messages_counts_until_it_is_measured() -> None:
    line = path(user("a" * 40))
    assert context_tokens(project(line), fixed=300).tokens == 310
    assert context_tokens(project(path(*line, says("b", used=500))), fixed=300).tokens == 500


@given(st.lists(long_paths, min_size=1, max_size=3), st.integers(0, 9))
def test_a_gauge_that_is_kept_tells_the_same(lines: list[list[Entry]], fixed: int) -> None:
    gauge = Gauge()
    for line in lines:
        much = path(*(user("x" * n) for n in range(70)), *line)
        for at in (70, len(much) - 1, len(much)):
            seen = project(much[:at])
            assert gauge.context_tokens(seen, fixed) == context_tokens(seen, fixed)
