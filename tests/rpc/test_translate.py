"""A run, as a client hears it: parts begin and end once, calls are told as they come to stand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from tests.rpc.contract import fits

from singletree.agent.tool import ToolOutput
from singletree.messages import (
    AssistantMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from singletree.model.base import TextDelta, ThinkingDelta, ToolCallDelta
from singletree.rpc.protocol.base import check
from singletree.rpc.protocol.events import SessionEvent as WireEvent
from singletree.rpc.protocol.state import InFlight
from singletree.rpc.telling.parts import TAIL, Delta, Key
from singletree.rpc.telling.translate import Translator, Wire
from singletree.session.events import (
    BashOutput,
    CompactionDelta,
    CompactionEnded,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    RunEnded,
    RunStarted,
    SessionEvent,
    Settled,
    StepEnded,
    StepStarted,
    ToolEnded,
    ToolPending,
    ToolStarted,
    ToolUpdated,
    TurnEnded,
)

EVENT: TypeAdapter[object] = TypeAdapter(WireEvent)
CALL = ToolCall(id="c1", name="read", arguments={"path": "a.txt"})
ENDED = TurnEnded("t1", "aborted", None, Usage())


def hear(translator: Translator, *events: SessionEvent) -> list[Wire]:
    """What is heard, each event held against the contract."""
    heard = [wire for event in events for wire in translator.feed(event)]
    for wire in heard:
        if isinstance(wire, dict):
            EVENT.validate_python(wire, extra="forbid", by_alias=True, by_name=False)
            fits("SessionEvent", wire)
    return heard


def said(heard: list[Wire]) -> list[str]:
    """One line for each thing heard."""
    lines = []
    for wire in heard:
        match wire:
            case Delta(key, chunk, text):
                lines.append(f"{key.kind} {key.item_id}/{key.part} #{chunk} {text}")
            case {"type": "tool"}:
                lines.append(f"tool {wire['toolCallId']} {wire['status']}")
            case {"type": "item_started"}:
                lines.append(f"start {wire['kind']} {wire['itemId']}/{wire['part']}")
            case {"type": "item_ended"}:
                there = "whole" if wire["content"] else "nothing"
                lines.append(f"end {wire['kind']} {wire['itemId']}/{wire['part']} {there}")
            case _:
                lines.append(str(wire["type"]))
    return lines


def more(event: TextDelta | ThinkingDelta | ToolCallDelta) -> MessageDelta:
    return MessageDelta("e2", event)


def test_a_turn_with_thinking_text_and_a_call() -> None:
    answer = AssistantMessage(content=[Thinking(thinking="hm"), Text(text="Look."), CALL])
    heard = hear(
        Translator("s1", "/w"),
        RunStarted(),
        MessageStarted("e1", UserMessage(content="hi")),
        MessageEnded("e1", UserMessage(content="hi")),
        StepStarted(0),
        MessageStarted("e2", AssistantMessage()),
        more(ThinkingDelta(0, "h")),
        more(ThinkingDelta(0, "m")),
        more(TextDelta(1, "Look.")),
        more(ToolCallDelta(2, "c1", "read", "")),
        more(ToolCallDelta(2, "c1", "read", '{"path"')),
        more(ToolCallDelta(2, "c1", "read", ':"a.txt"}')),
        MessageEnded("e2", answer),
        ToolPending(CALL),
        ToolStarted(CALL),
        ToolUpdated("c1", "line\n"),
        ToolEnded(CALL, ToolOutput.text("line"), "completed", 12),
        MessageEnded("e3", ToolResultMessage(tool_call_id="c1")),
        StepEnded(answer, ()),
        RunEnded(()),
        ENDED,
        Settled(),
    )
    assert said(heard) == [
        "start thinking e2/0",
        "thinking e2/0 #0 h",
        "thinking e2/0 #1 m",
        "start text e2/1",
        "text e2/1 #0 Look.",
        "start tool e2/2",
        "tool c1 streaming",
        'toolArgs e2/2 #0 {"path"',
        'toolArgs e2/2 #1 :"a.txt"}',
        "end thinking e2/0 whole",
        "end text e2/1 whole",
        "end tool e2/2 whole",
        "tool c1 pending",
        "tool c1 running",
        "toolOutput c1/0 #0 line\n",
        "tool c1 completed",
        "turn_ended",
        "settled",
    ]


def test_what_was_not_streamed_begins_and_ends_at_once() -> None:
    answer = AssistantMessage(content=[Text(text="Hello")])
    heard = hear(Translator("s1"), MessageEnded("e2", answer))
    assert said(heard) == ["start text e2/0", "end text e2/0 whole"]
    assert isinstance(heard[1], dict)
    assert heard[1]["content"] == {"type": "text", "text": "Hello"}


def test_a_part_that_is_not_in_the_answer_ends_with_nothing_and_so_does_its_call() -> None:
    translator = Translator("s1")
    hear(translator, more(TextDelta(0, "half")), more(ToolCallDelta(1, "c9", "bash", "{")))
    heard = hear(translator, MessageEnded("e2", AssistantMessage(content=[Text(text="half")])))
    assert said(heard) == ["end text e2/0 whole", "end tool e2/1 nothing", "tool c9 cancelled"]
    assert translator.in_flight() == []
    assert translator.tools() == []


def test_a_turn_leaves_nothing_open() -> None:
    translator = Translator("s1")
    hear(translator, more(TextDelta(0, "half")), ToolStarted(CALL), ToolUpdated("c1", "x"))
    assert said(hear(translator, ENDED)) == [
        "end text e2/0 nothing",
        "tool c1 cancelled",
        "turn_ended",
    ]
    assert translator.in_flight() == []
    assert translator.tools() == []


def test_name_and_input_are_told_once() -> None:
    heard = hear(
        Translator("s1", "/w"),
        ToolPending(CALL, "p1"),
        ToolStarted(CALL),
        ToolEnded(CALL, ToolOutput.text("x"), "completed", 3),
    )
    assert heard == [
        {
            "type": "tool",
            "toolCallId": "c1",
            "status": "pending",
            "requestId": "p1",
            "name": "read",
            "kind": "read",
            "title": "read a.txt",
            "input": {"path": "a.txt"},
            "locations": [{"uri": "file:///w/a.txt"}],
        },
        {"type": "tool", "toolCallId": "c1", "status": "running", "requestId": None},
        {
            "type": "tool",
            "toolCallId": "c1",
            "status": "completed",
            "result": {"content": [{"type": "text", "text": "x"}], "isError": False},
            "durationMs": 3,
        },
    ]


def test_a_call_that_was_changed_before_it_ran_is_told_as_it_ran() -> None:
    other = CALL.model_copy(update={"arguments": {"path": "b.txt"}})
    heard = hear(
        Translator("s1", "/w"),
        ToolPending(CALL),
        ToolStarted(other),
        ToolEnded(other, ToolOutput.text("x"), "completed", 3),
    )
    assert heard[1] == {
        "type": "tool",
        "toolCallId": "c1",
        "status": "running",
        "title": "read b.txt",
        "input": {"path": "b.txt"},
        "locations": [{"uri": "file:///w/b.txt"}],
    }
    assert isinstance(heard[2], dict)
    assert "input" not in heard[2]


def test_a_call_that_was_refused_is_told_whole() -> None:
    heard = hear(
        Translator("s1"), ToolEnded(CALL, ToolOutput.text("No.", is_error=True), "rejected", 0)
    )
    assert said(heard) == ["tool c1 rejected"]
    assert isinstance(heard[0], dict)
    assert heard[0]["input"] == {"path": "a.txt"}


def test_one_who_comes_late_is_told_what_streams() -> None:
    translator = Translator("s1")
    hear(
        translator,
        more(TextDelta(0, "Hel")),
        more(TextDelta(0, "lo")),
        more(ToolCallDelta(1, "c1", "read", "{")),
        ToolStarted(ToolCall(id="c0", name="bash", arguments={"command": "make"})),
        ToolUpdated("c0", "cc a.c\n"),
    )
    parts = [check(InFlight, part, forbid_unknown=True) for part in translator.in_flight()]
    assert [(p.item_id, p.kind, p.part, p.to, p.text) for p in parts] == [
        ("e2", "text", 0, 2, "Hello"),
        ("e2", "toolArgs", 1, 1, "{"),
        ("c0", "toolOutput", 0, 1, "cc a.c\n"),
    ]
    assert [p.tool_call_id for p in parts] == [None, "c1", "c0"]
    calls = translator.tools()
    for call in calls:
        EVENT.validate_python(call, extra="forbid")
    assert [(c["toolCallId"], c["status"]) for c in calls] == [
        ("c1", "streaming"),
        ("c0", "running"),
    ]


def test_of_endless_output_the_end_is_kept() -> None:
    translator = Translator("s1")
    for n in range(30):
        hear(translator, ToolUpdated("c1", chr(65 + n) * (TAIL // 10)))
    (part,) = translator.in_flight()
    text = str(part["text"])
    assert len(text) <= 2 * TAIL
    assert text.endswith(chr(65 + 29))
    skipped = part["skipped"]
    assert isinstance(skipped, int)
    assert skipped + len(text) == 30 * (TAIL // 10)
    assert part["to"] == 30


def test_a_summary_streams_until_the_compaction_ends() -> None:
    translator = Translator("s1")
    heard = hear(translator, CompactionDelta("k1", "# Go"), CompactionDelta("k1", "al"))
    assert said(heard) == ["summary k1/0 #0 # Go", "summary k1/0 #1 al"]
    assert len(translator.in_flight()) == 1
    hear(translator, CompactionEnded("k1", "manual", "cancelled"))
    assert translator.in_flight() == []


def test_output_of_the_persons_own_command_streams() -> None:
    assert said(hear(Translator("s1"), BashOutput("b1", "x"))) == ["bashOutput b1/0 #0 x"]


def test_a_huge_result_fits_a_message_and_says_where_the_whole_is() -> None:
    output = ToolOutput.text("x" * 4_000_000, details={"diff": "y" * 4_000_000})
    (heard,) = hear(Translator("s1"), ToolEnded(CALL, output, "completed", 1))
    assert isinstance(heard, dict)
    assert len(str(heard)) < 900_000
    assert heard["cut"] == "agent://s1/tool/c1/output.txt"


def test_a_huge_answer_fits_a_message() -> None:
    answer = AssistantMessage(content=[Text(text="x" * 4_000_000)])
    heard = hear(Translator("s1"), MessageEnded("e2", answer))
    assert isinstance(heard[-1], dict)
    assert heard[-1]["cut"] == "agent://s1/entry/e2.json"


pieces = st.lists(
    st.one_of(
        st.builds(TextDelta, st.integers(0, 2), st.text(max_size=4)),
        st.builds(ThinkingDelta, st.integers(0, 2), st.text(max_size=4)),
        st.builds(
            lambda part, text: ToolCallDelta(part, f"c{part}", "read", text),
            st.integers(3, 5),
            st.text(max_size=4),
        ),
    )
)


@given(pieces)
def test_every_part_begins_once_ends_once_and_its_pieces_are_counted(
    events: list[TextDelta | ThinkingDelta | ToolCallDelta],
) -> None:
    translator = Translator("s1")
    heard = hear(translator, *(more(e) for e in events), ENDED)
    counts: dict[Key, int] = {}
    for wire in heard:
        if isinstance(wire, Delta):
            assert wire.chunk == counts.get(wire.key, 0)
            counts[wire.key] = wire.chunk + 1
    begun = items(heard, "item_started")
    assert items(heard, "item_ended") == begun
    assert len(begun) == len(set(begun))
    assert translator.in_flight() == []


def items(heard: list[Wire], kind: str) -> list[str]:
    return sorted(
        f"{wire['itemId']} {wire['kind']} {wire['part']}"
        for wire in heard
        if isinstance(wire, dict) and wire["type"] == kind
    )
