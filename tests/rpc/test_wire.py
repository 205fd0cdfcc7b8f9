"""Each thing that happens in a session becomes the event the contract promises; errors too."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

import pytest
from pydantic import TypeAdapter
from tests.rpc.contract import fits

from singletree import errors
from singletree.agent.tool import ToolOutput
from singletree.history.entries import ENTRY, CustomEntry, MessageEntry
from singletree.messages import Image, Text, ToolCall, Usage, UserMessage
from singletree.rpc.protocol.base import JsonObject, check
from singletree.rpc.protocol.errors import CODES, ErrorData
from singletree.rpc.protocol.errors import ErrorInfo as WireErrorInfo
from singletree.rpc.protocol.events import SessionEvent, ToolResult
from singletree.rpc.telling.failures import WireError, error_info, one_line, to_error
from singletree.rpc.telling.toolcalls import tool_call, tool_result
from singletree.rpc.telling.wire import Told, record, tell
from singletree.session.events import (
    CommandsChanged,
    CompactionEnded,
    CompactionResult,
    CompactionStarted,
    ConfigChanged,
    EditsChanged,
    EntryAppended,
    ErrorInfo,
    ExtensionFailed,
    LeafMoved,
    PermissionChanged,
    PhaseChanged,
    QueueChanged,
    QueueItem,
    RetryChanged,
    Settled,
    TurnEnded,
    TurnStarted,
    UsageChanged,
    Warned,
)

EVENT: TypeAdapter[object] = TypeAdapter(SessionEvent)
FAILED = ErrorInfo(
    "rate_limited",
    "Too many\nrequests",
    retryable=True,
    retry_after=1.5,
    hint="Wait.",
    detail={"limit": 3},
    status=429,
    provider="anthropic",
)
FAILED_WIRE: JsonObject = {
    "code": "rate_limited",
    "message": "Too many requests",
    "retryable": True,
    "retryAfterMs": 1500,
    "hint": "Wait.",
    "detail": {"limit": 3},
    "provider": {"name": "anthropic", "status": 429},
}
USAGE = Usage(input=5, output=2, total_tokens=7)
USAGE_WIRE = USAGE.dump()
ENTRY_1 = MessageEntry(
    id="e1",
    timestamp="2026-01-01T00:00:00.000Z",
    message=UserMessage(content="hi", timestamp=1),
)
ITEM = QueueItem("q1", "steer", ({"type": "text", "text": "left"},), "m1", paused=True)
DONE = CompactionResult("e9", "# Goal", "e5", 900, 100, USAGE, ("a",), ("b",))

CASES: list[tuple[Told, JsonObject]] = [
    (PhaseChanged("running", "t1"), {"type": "state", "phase": "running", "turnId": "t1"}),
    (PhaseChanged("idle", None), {"type": "state", "phase": "idle", "turnId": None}),
    (
        TurnStarted("t1", "followUp"),
        {"type": "turn_started", "turnId": "t1", "cause": "followUp"},
    ),
    (
        TurnEnded("t1", "error", FAILED, USAGE),
        {
            "type": "turn_ended",
            "turnId": "t1",
            "reason": "error",
            "error": FAILED_WIRE,
            "usage": USAGE_WIRE,
        },
    ),
    (
        TurnEnded("t1", "end_turn", None, USAGE),
        {"type": "turn_ended", "turnId": "t1", "reason": "end_turn", "usage": USAGE_WIRE},
    ),
    (Settled(), {"type": "settled"}),
    (
        LeafMoved(None, 4, "navigate"),
        {"type": "leaf", "leafId": None, "treeVersion": 4, "cause": "navigate"},
    ),
    (
        QueueChanged((ITEM,), 2),
        {
            "type": "queue",
            "version": 2,
            "items": [
                {
                    "queueId": "q1",
                    "kind": "steer",
                    "content": [{"type": "text", "text": "left"}],
                    "paused": True,
                    "clientMessageId": "m1",
                }
            ],
        },
    ),
    (
        CompactionStarted("c1", "threshold"),
        {"type": "compaction", "id": "c1", "status": "started", "reason": "threshold"},
    ),
    (
        CompactionEnded("c1", "manual", "completed", DONE),
        {
            "type": "compaction",
            "id": "c1",
            "status": "completed",
            "reason": "manual",
            "result": {
                "entryId": "e9",
                "summary": "# Goal",
                "firstKeptEntryId": "e5",
                "tokensBefore": 900,
                "tokensAfterEstimate": 100,
                "usage": USAGE_WIRE,
                "details": {"readFiles": ["a"], "modifiedFiles": ["b"]},
            },
        },
    ),
    (
        CompactionEnded("c1", "overflow", "failed", error=FAILED),
        {
            "type": "compaction",
            "id": "c1",
            "status": "failed",
            "reason": "overflow",
            "error": FAILED_WIRE,
        },
    ),
    (
        RetryChanged(1, 3, 2000, "waiting", FAILED),
        {
            "type": "retry",
            "attempt": 1,
            "max": 3,
            "delayMs": 2000,
            "status": "waiting",
            "error": FAILED_WIRE,
        },
    ),
    (
        UsageChanged(500, 1000, USAGE),
        {
            "type": "usage",
            "contextUsage": {"tokens": 500, "window": 1000, "percent": 50.0},
            "last": USAGE_WIRE,
        },
    ),
    (
        UsageChanged(None, 1000, None),
        {"type": "usage", "contextUsage": {"tokens": None, "window": 1000, "percent": None}},
    ),
    (
        ConfigChanged("a/b", True, "high", None, ("read",), "ask"),
        {
            "type": "config",
            "model": "a/b",
            "images": True,
            "thinking": "high",
            "name": None,
            "tools": ["read"],
            "mode": "ask",
            "trusted": True,
            "skipped": [],
        },
    ),
    (CommandsChanged(), {"type": "commands"}),
    (
        PermissionChanged("p1", "open"),
        {"type": "permission", "requestId": "p1", "status": "open"},
    ),
    (
        PermissionChanged("p1", "denied", "timeout"),
        {"type": "permission", "requestId": "p1", "status": "denied", "by": "timeout"},
    ),
    (EditsChanged("t1", ("d1",)), {"type": "edits", "turnId": "t1", "editIds": ["d1"]}),
    (Warned("lagging", "Slow."), {"type": "warning", "code": "lagging", "message": "Slow."}),
    (
        ExtensionFailed("x", "context", "broke"),
        {"type": "extension_error", "extension": "x", "event": "context", "message": "broke"},
    ),
    (
        EntryAppended(ENTRY_1),
        {
            "type": "entry",
            "entry": {
                "type": "message",
                "id": "e1",
                "parentId": None,
                "timestamp": "2026-01-01T00:00:00.000Z",
                "message": {"role": "user", "content": "hi", "timestamp": 1},
            },
        },
    ),
]


@pytest.mark.parametrize(("event", "wanted"), CASES, ids=lambda x: type(x).__name__)
def test_an_event_is_told_as_promised(event: Told, wanted: JsonObject) -> None:
    made = tell(event, "s1")
    assert made == wanted
    EVENT.validate_python(made, extra="forbid", by_alias=True, by_name=False)
    fits("SessionEvent", made)


def test_an_entry_travels_as_its_record_in_the_file() -> None:
    made, cut = record(ENTRY_1, "s1")
    assert cut is None
    assert ENTRY.validate_python(made) == ENTRY_1


def test_a_large_entry_is_cut_and_says_where_the_whole_is() -> None:
    entry = MessageEntry(id="e1", message=UserMessage(content="x" * 3_000_000))
    made = tell(EntryAppended(entry), "s1")
    assert made["cut"] == "agent://s1/entry/e1.json"
    assert len(json.dumps(made)) < 1_000_000
    EVENT.validate_python(made, extra="forbid")


def test_an_entry_of_many_small_things_is_cut_too() -> None:
    entry = CustomEntry(id="e1", custom_type="x", data=[{"k": i} for i in range(200_000)])
    made = tell(EntryAppended(entry), "s1")
    assert len(json.dumps(made)) < 1_000_000
    assert made["cut"] == "agent://s1/entry/e1.json"


def test_long_texts_in_the_queue_are_cut_and_the_items_stay() -> None:
    items = tuple(
        QueueItem(f"q{n}", "followUp", ({"type": "text", "text": "x" * 900_000},)) for n in range(9)
    )
    made = tell(QueueChanged(items, 1), "s1")
    assert len(json.dumps(made)) < 1_048_576
    rows = made["items"]
    assert isinstance(rows, list)
    assert len(rows) == 9


CALLS: list[tuple[ToolCall, JsonObject]] = [
    (
        ToolCall(id="c", name="read", arguments={"path": "src/a b.py"}),
        {
            "name": "read",
            "kind": "read",
            "title": "read src/a b.py",
            "locations": [{"uri": "file:///w/src/a%20b.py"}],
        },
    ),
    (
        ToolCall(id="c", name="bash", arguments={"command": "ls\n-la \x1b[2J"}),
        {"name": "bash", "kind": "execute", "title": "bash ls -la [2J"},
    ),
    (
        ToolCall(id="c", name="grep", arguments={"pattern": "x", "path": "../b"}),
        {
            "name": "grep",
            "kind": "search",
            "title": "grep x",
            "locations": [{"uri": "file:///b"}],
        },
    ),
    (
        ToolCall(id="c", name="lookup", arguments={"path": 3}),
        {"name": "lookup", "kind": "other", "title": "lookup"},
    ),
    (
        ToolCall(id="c", name="read", arguments={"path": "~/x"}),
        {"name": "read", "kind": "read", "title": "read ~/x"},
    ),
]


@pytest.mark.parametrize(("call", "wanted"), CALLS, ids=lambda x: str(getattr(x, "name", "")))
def test_a_call_tells_what_it_is_about(call: ToolCall, wanted: JsonObject) -> None:
    assert tool_call(call, PurePosixPath("/w")) == {**wanted, "input": call.arguments}


def test_a_title_is_one_short_line() -> None:
    call = ToolCall(id="c", name="bash", arguments={"command": "x" * 900})
    title = str(tool_call(call, PurePosixPath("/"))["title"])
    assert len(title) == 200
    assert title.endswith("…")


def test_a_result_brings_diff_and_truncation_to_the_top() -> None:
    details: JsonObject = {
        "diff": "+ 1 x",
        "truncation": {"totalLines": 9, "totalBytes": 90, "outputLines": 3, "by": "lines"},
        "fullOutputPath": "/tmp/o.txt",
    }
    output = ToolOutput((Text(text="ok"), Image(data="A", mime_type="image/png")), details)
    made = tool_result(output)
    assert made["diff"] == "+ 1 x"
    assert made["truncation"] == {
        "lines": 9,
        "bytes": 90,
        "shown": 3,
        "fullOutputUri": "file:///tmp/o.txt",
    }
    result = check(ToolResult, made["result"] if isinstance(made["result"], dict) else None)
    assert [block["type"] for block in result.content] == ["text", "image"]


def test_a_plain_result_has_nothing_but_itself() -> None:
    made = tool_result(ToolOutput.text("no", is_error=True))
    assert made == {"result": {"content": [{"type": "text", "text": "no"}], "isError": True}}


def kinds_of_errors(base: type[errors.SingletreeError]) -> list[type[errors.SingletreeError]]:
    return [base, *(k for sub in base.__subclasses__() for k in kinds_of_errors(sub))]


@pytest.mark.parametrize(
    "kind", kinds_of_errors(errors.SingletreeError)[1:], ids=lambda k: k.__name__
)
def test_every_kind_of_error_has_a_published_code(kind: type[errors.SingletreeError]) -> None:
    number, _, data = told(kind("it broke"))
    assert data["code"] in CODES
    assert number in (-32801, -32803)
    check(ErrorData, data, forbid_unknown=True)


def told(error: errors.SingletreeError) -> WireError:
    made = to_error(error)
    assert made is not None
    return made


def test_a_provider_error_tells_all_it_knows() -> None:
    exc = errors.ModelError(
        "Slow\ndown",
        code="rate_limited",
        hint="Wait.",
        retryable=True,
        retry_after=0.25,
        status=429,
        provider="openai",
        detail={"at": PurePosixPath("/x")},
    )
    assert to_error(exc) == (
        -32803,
        "Slow down",
        {
            "code": "rate_limited",
            "retryable": True,
            "retryAfterMs": 250,
            "hint": "Wait.",
            "detail": {"at": "/x"},
            "provider": {"name": "openai", "status": 429},
        },
    )


def test_a_lost_race_is_content_modified() -> None:
    exc = errors.StaleError("Another turn runs.", code="turn_mismatch", detail={"turnId": "t2"})
    number, _, data = told(exc)
    assert (number, data["code"], data["detail"]) == (-32801, "turn_mismatch", {"turnId": "t2"})


def test_a_busy_session_may_be_asked_again() -> None:
    number, _, data = told(errors.SessionBusy("A turn runs."))
    assert (number, data) == (-32803, {"code": "session_busy", "retryable": True})


def test_a_message_too_large_is_an_invalid_request() -> None:
    exc = errors.SingletreeError("Too large.", code="message_too_large")
    assert told(exc)[0] == -32600


@pytest.mark.parametrize("error", [KeyError("/secret/path"), errors.SingletreeError("no code")])
def test_a_fault_of_ours_is_none_of_its_errors(error: Exception) -> None:
    assert to_error(error) is None


def test_an_error_inside_an_event_says_the_same() -> None:
    made = error_info(FAILED)
    assert made == FAILED_WIRE
    check(WireErrorInfo, made, forbid_unknown=True)
    assert error_info(ErrorInfo("internal", "x")) == {
        "code": "internal",
        "message": "x",
        "retryable": False,
    }


def test_no_line_of_ours_moves_a_cursor() -> None:
    assert one_line("a\r\n\x1b[31mb\x07") == "a [31mb"
