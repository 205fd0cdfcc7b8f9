"""Pieces of calls without an id or an index, in all the ways servers have."""

from __future__ import annotations

from typing import Any

import pytest
from tests.model.fake_server import chat, serving
from tests.model.talk import READ, answer, asked, model_at, play

from singletree.messages import AssistantMessage, Message, ToolResultMessage
from singletree.model.base import ToolCallDelta


def piece(
    index: int | None = None, id: str | None = None, name: str | None = None, args: Any = None
) -> dict[str, Any]:
    function = {k: v for k, v in (("name", name), ("arguments", args)) if v is not None}
    placed = {k: v for k, v in (("index", index), ("id", id)) if v is not None}
    return {"function": function, **placed}


def each(*pieces: dict[str, Any]) -> bytes:
    return chat(*({"tool_calls": [p]} for p in pieces), finish="tool_calls")


A, B = '{"path":"a"}', '{"path":"b"}'
STREAMS = {
    "index but no id": each(
        piece(0, name="read", args='{"pa'),
        piece(0, args='th":'),
        piece(0, args='"a"}'),
        piece(1, name="read", args='{"pa'),
        piece(1, args='th":'),
        piece(1, args='"b"}'),
    ),
    "ids but no index": each(
        piece(id="c1", name="read", args='{"path":'),
        piece(args='"a"}'),
        piece(id="c2", name="read", args=B),
    ),
    "both at index 0": each(
        piece(0, "c1", "read", A), piece(0, "c2", "read", '{"path":'), piece(0, args='"b"}')
    ),
    "indexes 1 and 2": each(piece(1, "c1", "read", A), piece(2, "c2", "read", B)),
    "arguments as an object": each(
        piece(0, "c1", "read", {"path": "a"}), piece(1, "c2", "read", {"path": "b"})
    ),
    "id in every piece": each(
        piece(0, "c1", "read", '{"path":'),
        piece(0, "c1", args='"a"}'),
        piece(1, "c2", "read", '{"path":'),
        piece(1, "c2", "read", '"b"}'),
    ),
    "all in one chunk": chat(
        {"tool_calls": [piece(0, "c1", "read", A), piece(1, "c2", "read", B)]}
    ),
    "no id and no index": each(piece(name="read", args=A), piece(name="read", args=B)),
    "one index, no id": each(piece(0, name="read", args=A), piece(0, name="read", args=B)),
    "empty ids": each(piece(0, "", "read", A), piece(1, "", "read", B)),
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS.keys())
async def test_both_calls_arrive_whole(stream: bytes) -> None:
    async with serving([stream, chat({"content": "ok"})]) as server, model_at(server) as model:
        message = await answer(model, "hi")
        calls = message.tool_calls
        assert [(c.name, c.arguments) for c in calls] == [
            ("read", {"path": "a"}),
            ("read", {"path": "b"}),
        ]
        assert [c.arguments_error for c in calls] == [None, None]
        assert len({c.id for c in calls}) == 2
        assert all(c.id for c in calls)
        await answer(model, "hi", *with_results(message), tools=(READ,))
    sent = server.bodies[1]["messages"]
    assert [m["tool_call_id"] for m in sent if m["role"] == "tool"] == [c.id for c in calls]


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS.keys())
async def test_what_streams_is_what_is_kept(stream: bytes) -> None:
    async with serving([stream]) as server, model_at(server) as model:
        told = await play(model, asked("hi"))
    ids: dict[int, set[str]] = {}
    for event in told:
        if isinstance(event, ToolCallDelta):
            ids.setdefault(event.part, set()).add(event.call_id)
    assert [len(names) for names in ids.values()] == [1, 1]


async def test_ids_that_a_server_counts_anew_are_made_unique() -> None:
    again = each(piece(0, "call_0", "read", A), piece(1, "call_0", "read", B))
    async with serving([again]) as server, model_at(server) as model:
        first = await answer(model, "hi")
        second = await answer(model, "hi", *with_results(first), tools=(READ,))
    calls = [*first.tool_calls, *second.tool_calls]
    assert len({c.id for c in calls}) == 4
    assert [c.arguments["path"] for c in calls] == ["a", "b", "a", "b"]


async def test_made_up_ids_differ_from_answer_to_answer() -> None:
    async with serving([STREAMS["index but no id"]]) as server, model_at(server) as model:
        one, two = await answer(model, "hi"), await answer(model, "hi")
    assert not {c.id for c in one.tool_calls} & {c.id for c in two.tool_calls}


def with_results(message: AssistantMessage) -> list[Message]:
    results = [
        ToolResultMessage(tool_call_id=c.id, tool_name=c.name, content="done")
        for c in message.tool_calls
    ]
    return [message, *results]
