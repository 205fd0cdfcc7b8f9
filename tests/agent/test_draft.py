"""What deltas amount to when an answer never comes to its end."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.scenario import show

from singletree.agent.draft import Draft
from singletree.messages import AssistantMessage, ToolCall, text_of
from singletree.model.base import Delta, ModelInfo, TextDelta, ThinkingDelta, ToolCallDelta

INFO = ModelInfo("p", "m", api="x", reasoning=True)


def drafted(deltas: Sequence[Delta]) -> AssistantMessage:
    draft = Draft(INFO, "high")
    for delta in deltas:
        draft.feed(delta)
    return draft.message("aborted")


def test_parts_stand_in_their_order_and_empty_ones_are_left_out() -> None:
    message = drafted(
        [
            TextDelta(1, "he"),
            ThinkingDelta(0, "h"),
            TextDelta(1, "llo"),
            ThinkingDelta(0, "m"),
            TextDelta(2, ""),
            ToolCallDelta(3, "c1", "read", '{"path": '),
            ToolCallDelta(3, "c1", "read", '"a"}'),
        ]
    )
    assert (
        show([message])
        == 'assistant [aborted]:\nthinking: hm\nassistant: hello\ncall read {"path": "a"}'
    )
    assert (message.provider, message.model, message.api) == ("p", "m", "x")
    assert message.thinking_level == "high"


def test_a_part_keeps_the_kind_it_began_with() -> None:
    assert show([drafted([TextDelta(0, "a"), ThinkingDelta(0, "b")])]).endswith(": a")


def test_half_a_call_shows_what_can_be_read_and_says_that_it_is_cut() -> None:
    call = drafted([ToolCallDelta(0, "c1", "write", '{"path": "a.txt", "content": "li')]).content[0]
    assert isinstance(call, ToolCall)
    assert call.arguments == {"path": "a.txt", "content": "li"}
    assert call.arguments_error is not None


def test_a_call_without_arguments_is_whole() -> None:
    call = drafted([ToolCallDelta(0, "c1", "ls", "")]).content[0]
    assert isinstance(call, ToolCall)
    assert (call.arguments, call.arguments_error) == ({}, None)


def test_an_empty_draft_is_an_empty_answer() -> None:
    assert drafted([]).content == []


@given(st.lists(st.text(st.characters(codec=None), max_size=3), max_size=5))
def test_any_pieces_of_text_make_one_that_can_be_stored(pieces: list[str]) -> None:
    message = drafted([TextDelta(0, piece) for piece in pieces])
    message.model_dump_json()
    text = text_of(message.content)
    assert text == "".join(pieces) or "\ufffd" in text
