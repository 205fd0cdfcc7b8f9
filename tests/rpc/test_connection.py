"""One client against the example door, in this process, over real pipes."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.rpc import example
from tests.rpc.client import Failed, Message, RawClient, connected, frame

from singletree.rpc.asking import ClientError
from singletree.rpc.connection import LANGUAGE_SECONDS, Connection, Door
from singletree.rpc.limits import MAX_OPEN
from singletree.rpc.peer import Language, Peer
from singletree.rpc.pipes.outbox import Outbox

Pair = tuple[RawClient, Connection]


@pytest_asyncio.fixture
async def pair() -> AsyncIterator[Pair]:
    async with connected(example.open_door) as pair:
        await pair[0].initialize()
        yield pair


def prompt(text: str) -> Message:
    return {"sessionId": "s", "content": [{"type": "text", "text": text}]}


async def test_a_prompt_is_answered_before_what_it_starts_is_told(pair: Pair) -> None:
    client, _ = pair
    assert await client.call("agent/prompt", prompt("hello")) == {"turnId": "t1"}
    await client.until(lambda f: f.get("method") == "example/started")
    assert [f.get("method", "reply") for f in client.frames[-2:]] == ["reply", "example/started"]


@pytest.mark.parametrize(
    ("params", "pointer"),
    [
        ({"sessionId": 1, "content": [{"type": "text", "text": "x"}]}, "/sessionId"),
        ({"sessionId": "s"}, "/content"),
        ({"sessionId": "s", "content": []}, "/content"),
        ({"sessionId": "s", "content": [{"type": "text", "text": 1}]}, "/content/0/text"),
        ({"sessionId": "s", "content": [{"type": "text", "text": "x"}, {}]}, "/content/1/type"),
        ({"session_id": "s", "content": [{"type": "text", "text": "x"}]}, "/sessionId"),
        ([], ""),
        ("x", ""),
        (None, "/sessionId"),
        (..., "/sessionId"),
    ],
)
async def test_wrong_params_are_told_by_a_pointer(pair: Pair, params: Any, pointer: str) -> None:
    with pytest.raises(Failed) as failed:
        await pair[0].call("agent/prompt", params)
    assert failed.value.code == -32602
    assert failed.value.data["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize("params", [..., None, {}, {"_meta": {"traceparent": "x"}, "extra": 1}])
async def test_no_params_are_an_empty_object_and_unknown_ones_are_ignored(
    pair: Pair, params: Any
) -> None:
    assert await pair[0].call("example/snapshot", params)


@pytest.mark.parametrize(
    ("method", "code", "data"),
    [
        ("example/busy", -32803, {"code": "session_busy", "retryable": True}),
        ("example/group", -32803, {"code": "session_busy", "retryable": True}),
        ("agent/nobody", -32601, None),
        ("$/nobody", -32601, None),
        ("textDocument/nobody", -32601, None),
        ("textDocument/rename", -32601, None),
        ("textDocument/definition", -32803, {"code": "unsupported"}),
    ],
)
async def test_errors_of_handlers(pair: Pair, method: str, code: int, data: object) -> None:
    params = {"textDocument": {"uri": "file:///x"}, "position": {"line": 1, "character": 1}}
    with pytest.raises(Failed) as failed:
        await pair[0].call(method, params | {"newName": "n"})
    assert (failed.value.code, failed.value.data) == (code, data)


@pytest.mark.parametrize(
    "method", ["example/boom", "example/leave", "example/leaveAsync", "example/unspeakable"]
)
async def test_a_fault_of_ours_has_a_reference_and_no_traceback(
    pair: Pair, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    client, _ = pair
    answer = await client.answer(client.request(method))
    error = answer["error"]
    assert error["code"] == -32603
    ref = error["data"]["ref"]
    assert error["data"] == {"code": "internal", "retryable": False, "ref": ref}
    assert error["message"] == f"The daemon failed here; its log has the details under [{ref}]."
    assert ref in caplog.text
    assert "Traceback" in caplog.text
    assert ".py" not in json.dumps(answer)


async def test_ids_may_be_strings_and_one_in_use_is_refused_without_an_id(pair: Pair) -> None:
    client, _ = pair
    client.request("example/sleep", {"s": 0.05}, mid="a")
    client.request("example/sleep", {"s": 0}, mid="a")
    assert (await client.answer("a"))["result"] == {"slept": 0.05}
    assert len(client.answers("a")) == 1
    (refused,) = client.answers(None)
    assert refused["error"]["code"] == -32600
    client.request("example/sleep", {"s": 0}, mid="a")
    await client.until(lambda f: f.get("result") == {"slept": 0})


@pytest.mark.parametrize(
    ("message", "mid", "code"),
    [
        (b'{"jsonrpc":', None, -32700),
        (b"\xff\xfe", None, -32700),
        (b'"\xed\xa0\x80"', None, -32700),
        (b"[" * 100_000, None, -32700),
        (b"", None, -32700),
        (b"7", None, -32600),
        (b"[]", None, -32600),
        (b'[{"jsonrpc":"2.0","id":5,"method":"example/busy"}]', 5, -32600),
        (b'{"id":5,"method":"example/busy"}', 5, -32600),
        (b'{"jsonrpc":"2.0","id":5}', 5, -32600),
        (b'{"jsonrpc":"2.0","id":5,"method":3}', 5, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"example/busy"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"example/busy"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"example/busy"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}', 5, -32600),
        (b'{"jsonrpc":"2.0","id":5,"method":"agent/prompt"}', 5, -32602),
    ],
)
async def test_each_malformed_message_gets_one_answer(
    pair: Pair, message: bytes, mid: int | None, code: int
) -> None:
    client, _ = pair
    client.raw(b"Content-Length: %d\r\n\r\n%b" % (len(message), message))
    assert (await client.answer(mid))["error"]["code"] == code
    assert await client.call("example/echo", {"still": "here"}) == {"still": "here"}
    assert len(client.frames) == 3


async def test_a_batch_is_refused_member_by_member(pair: Pair) -> None:
    client, _ = pair
    requests = [{"jsonrpc": "2.0", "id": n, "method": "example/busy"} for n in (5, "x")]
    client.send([*requests, {"jsonrpc": "2.0", "method": "example/busy"}, 7])
    for mid in (5, "x"):
        assert (await client.answer(mid))["error"]["code"] == -32600
    assert client.answers(None) == []


async def test_text_that_is_no_unicode_comes_in_and_goes_out_marked(pair: Pair) -> None:
    client, _ = pair
    for text in ("a\u2028b\u2029c\u0085d", "\0\x1f😀"):
        assert await client.call("example/echo", {"x": text}) == {"x": text}
    assert await client.call("example/echo", {"x": "a\ud83db"}) == {"x": "a\ufffdb"}
    client.raw(frame({"jsonrpc": "2.0", "id": "n", "method": "example/echo"})[:-1])
    client.raw(b"}")
    assert (await client.answer("n"))["result"] is None


async def test_a_key_named_jsonrpc_inside_params_is_only_a_key(pair: Pair) -> None:
    params = {"tool": {"jsonrpc": "2.0", "id": 3, "method": "x"}, "type_name": "T", "class": 1}
    assert await pair[0].call("example/echo", params) == params


async def test_what_is_no_number_becomes_null(pair: Pair) -> None:
    client, _ = pair
    body = b'{"jsonrpc":"2.0","id":1000,"method":"example/echo","params":{"x":NaN,"y":[1e999]}}'
    client.raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    assert (await client.answer(1000))["result"] == {"x": None, "y": [None]}


async def test_before_initialize() -> None:
    async with connected(example.open_door) as (client, _):
        client.notify("example/change", {"text": "early"})
        for method in ("agent/prompt", "shutdown", "nobody"):
            with pytest.raises(Failed) as failed:
                await client.call(method)
            assert failed.value.code == -32002
        wrong: tuple[Any, ...] = ([], "x", None)
        for params in wrong:
            with pytest.raises(Failed) as failed:
                await client.call("initialize", params)
            assert failed.value.code == -32602
        await client.initialize()
        assert (await client.call("example/snapshot"))["now"] != "early"


async def test_after_shutdown(pair: Pair) -> None:
    client, _ = pair
    waiting = client.request("example/sleep")
    await client.until(lambda f: f.get("method") == "example/ran")
    assert await client.call("shutdown") is None
    assert (await client.answer(waiting))["error"]["code"] == -32802
    for method in ("agent/prompt", "initialize", "shutdown", "nobody"):
        with pytest.raises(Failed) as failed:
            await client.call(method)
        assert failed.value.code == -32600


async def test_a_cancelled_request_that_waits_is_never_run(pair: Pair) -> None:
    client, _ = pair
    frames = b""
    for mid in range(100, 130):
        frames += frame({"jsonrpc": "2.0", "id": mid, "method": "example/sleep"})
    for mid in range(100, 130):
        cancel: Message = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": mid}}
        frames += frame(cancel)
    client.raw(frames)
    for mid in range(100, 130):
        assert (await client.answer(mid))["error"]["code"] == -32800
    assert client.notes("example/ran") == []
    assert [len(client.answers(mid)) for mid in range(100, 130)] == [1] * 30


async def test_a_running_request_is_answered_when_it_has_cleaned_up(pair: Pair) -> None:
    client, _ = pair
    mid = client.request("example/cleanUp")
    await client.call("example/echo", {})
    client.notify("$/cancelRequest", {"id": mid})
    assert (await client.answer(mid))["error"]["code"] == -32800
    assert [f.get("method", "reply") for f in client.frames[-2:]] == ["example/cleaned", "reply"]


async def test_what_a_handler_shields_is_done_to_its_end(pair: Pair) -> None:
    client, _ = pair
    for pause in (0, 0.03, 0.07):
        mid = client.request("example/shielded")
        await client.call("example/echo", {})
        await asyncio.sleep(pause)
        client.notify("$/cancelRequest", {"id": mid})
        assert (await client.answer(mid))["result"] == {"written": True}
    assert len(client.notes("example/written")) == 3


async def test_a_handler_may_turn_its_cancel_into_a_result(pair: Pair) -> None:
    client, _ = pair
    mid = client.request("example/stubborn")
    await client.call("example/echo", {})
    client.notify("$/cancelRequest", {"id": mid})
    assert (await client.answer(mid))["result"] == {"stopReason": "cancelled"}


@pytest.mark.parametrize("params", [{"id": 77}, {"id": "x"}, {"id": None}, {}, [], None, ...])
async def test_a_cancel_of_nothing_is_ignored(pair: Pair, params: Any) -> None:
    client, _ = pair
    client.notify("$/cancelRequest", params)
    await client.call("example/echo", {})
    assert len(client.frames) == 2


async def test_more_than_the_limit_of_open_requests(pair: Pair) -> None:
    client, _ = pair
    open_ids = [client.request("example/sleep") for _ in range(MAX_OPEN)]
    with pytest.raises(Failed) as failed:
        await client.call("example/echo", {})
    assert failed.value.code == -32803
    assert failed.value.data == {"code": "too_many_requests", "retryable": True}
    client.notify("$/cancelRequest", {"id": open_ids[0]})
    await client.answer(open_ids[0])
    assert await client.call("example/echo", {}) == {}


async def test_what_a_prompt_captured_is_older_than_what_follows_it(pair: Pair) -> None:
    client, _ = pair
    for text in ("first", "second"):
        await client.call("example/change", {"text": "old"})
        snapshot = {"jsonrpc": "2.0", "id": text, "method": "example/snapshot"}
        change = {"jsonrpc": "2.0", "method": "example/change", "params": {"text": text}}
        client.raw(frame(snapshot) + frame(change))
        assert (await client.answer(text))["result"] == {"captured": "old", "now": text}


async def test_handlers_reach_their_first_wait_in_order(pair: Pair) -> None:
    client, _ = pair
    sleeps = [{"jsonrpc": "2.0", "id": n, "method": "example/sleep"} for n in range(20, 30)]
    client.raw(b"".join(frame(s | {"params": {"s": 0}}) for s in sleeps))
    await client.answer(29)
    assert [p["id"] for p in client.notes("example/ran")] == list(range(20, 30))


async def test_a_failing_notification_is_only_logged(
    pair: Pair, caplog: pytest.LogCaptureFixture
) -> None:
    client, _ = pair
    client.notify("example/failingNote")
    client.notify("agent/prompt", {"sessionId": 1})
    client.notify("nobody/knows", {})
    await client.call("example/echo", {})
    assert len(client.frames) == 2
    assert "example/failingNote" in caplog.text


async def test_asking_the_client(pair: Pair) -> None:
    client, _ = pair
    client.reactions["example/permission"] = lambda params: {"result": {"outcome": "deny"}}
    assert await client.call("example/ask") == {"got": "deny"}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"error": {"code": -32601, "message": "?"}}, -32601),
        ({"result": None}, 0),
        ({"result": {"outcome": "perhaps"}}, 0),
        ({"error": "bad"}, 0),
        ({"error": {"code": "x"}}, 0),
    ],
)
async def test_a_client_that_answers_badly(pair: Pair, answer: Message, code: int) -> None:
    client, connection = pair
    client.reactions["example/permission"] = lambda params: answer
    with pytest.raises(ClientError) as refused:
        await connection.call("example/permission", None, example.Permission)
    assert refused.value.code == code
    with pytest.raises(Failed) as failed:
        await client.call("example/ask")
    assert failed.value.code == -32603


async def test_a_question_whose_asker_is_cancelled_is_withdrawn(pair: Pair) -> None:
    client, _ = pair
    mid = client.request("example/ask")
    asked = await client.until(lambda f: f.get("method") == "example/permission")
    client.notify("$/cancelRequest", {"id": mid})
    assert (await client.answer(mid))["error"]["code"] == -32800
    assert client.notes("$/cancelRequest") == [{"id": asked["id"]}]
    client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": "deny"}})
    client.send({"jsonrpc": "2.0", "id": "never asked", "result": None})
    client.send({"jsonrpc": "2.0", "id": None, "result": None})
    assert await client.call("example/echo", {"x": 1}) == {"x": 1}


async def test_a_client_that_goes_away_while_asked() -> None:
    async with connected(example.open_door) as (client, connection):
        await client.initialize()
        client.request("example/ask")
        await client.until(lambda f: f.get("method") == "example/permission")
        asking = asyncio.ensure_future(connection.call("example/other", {}, object))
        await asyncio.sleep(0)
        await client.eof()
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(asking, 5)
        with pytest.raises(ConnectionError):
            await connection.call("example/other", {}, object)


async def test_answers_to_requests_of_the_last_moment() -> None:
    async with connected(example.open_door) as (client, _):
        client.raw(frame({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}))
        client.request("example/sleep", {"s": 0.05}, mid=2)
        await client.eof()
        assert (await client.answer(2))["result"] == {"slept": 0.05}


async def test_an_unknown_agent_version_leaves_lsp_alive() -> None:
    async with connected(example.open_door) as (client, _):
        result = await client.initialize({"protocolVersions": [99]})
        agent = result["capabilities"]["experimental"]["agent"]
        assert (agent["protocolVersion"], agent["supported"]) == (None, [1])
        with pytest.raises(Failed) as failed:
            await client.call("agent/prompt", prompt("x"))
        assert failed.value.data["code"] == "unsupported_protocol_version"
        assert await client.call("example/echo", {}) == {}


async def test_a_plain_host_speaks_agent_once_it_does(pair: Pair) -> None:
    client, connection = pair
    assert not connection.speaks_agent
    await client.call("agent/prompt", prompt("x"))
    assert connection.speaks_agent


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_comes_in_whatever_order_each_id_has_one_answer(seed: int) -> None:
    """Requests of all sorts, cancels of past and future ids, noise; then the end of the stream."""
    chance = random.Random(seed)
    async with connected(example.open_door) as (client, _):
        await client.initialize()
        ids: list[int | str] = []
        for n in range(100, 220):
            match chance.randrange(5):
                case 0:
                    mid = chance.choice([*ids, n, f"{n}", "later"])
                    client.notify("$/cancelRequest", {"id": mid})
                case 1:
                    client.raw(frame(chance.choice([[], 7, {"jsonrpc": "2.0"}, {"id": []}])))
                case _:
                    method = chance.choice(METHODS)
                    mid = n if chance.random() < 0.5 else f"{n}"
                    ids.append(client.request(method, chance.choice(PARAMS), mid))
            if chance.random() < 0.1:
                await asyncio.sleep(0.001)
        for mid in ids:
            client.notify("$/cancelRequest", {"id": mid})
        for mid in ids:
            await client.answer(mid)
        assert await client.call("example/echo", {"x": 1}) == {"x": 1}
        assert {mid: len(client.answers(mid)) for mid in ids} == dict.fromkeys(ids, 1)
        room = [client.request("example/echo", {"x": n}, f"room {n}") for n in range(MAX_OPEN)]
        assert ["result" in await client.answer(mid) for mid in room] == [True] * MAX_OPEN


PARAMS: tuple[Any, ...] = (..., None, {}, [], {"s": 0}, {"s": 0.001}, {"s": "x"})
METHODS = (
    "example/echo",
    "example/sleep",
    "example/cleanUp",
    "example/stubborn",
    "example/busy",
    "example/boom",
    "example/unspeakable",
    "example/ask",
    "agent/prompt",
    "agent/nobody",
    "textDocument/hover",
    "textDocument/nobody",
)


async def test_nothing_is_loaded_for_a_plain_host_that_was_given_up() -> None:
    opened: list[Peer] = []

    async def language(peer: Peer) -> Language:
        opened.append(peer)
        raise AssertionError

    nowhere = os.open(os.devnull, os.O_WRONLY)
    outbox = Outbox(nowhere, lambda error: None)
    connection = Connection(Door(language=language), outbox, lambda code: None)
    running = asyncio.ensure_future(connection.run())
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    ready = {"jsonrpc": "2.0", "method": "initialized", "params": {}}
    handled = asyncio.Event()
    connection.take([json.dumps(one).encode() for one in (hello, ready)], handled.set)
    await asyncio.wait_for(handled.wait(), 10)
    running.cancel()
    await asyncio.wait({running})
    await asyncio.sleep(LANGUAGE_SECONDS + 0.1)
    assert opened == []
    outbox.close()
    await asyncio.to_thread(outbox.join)
    os.close(nowhere)
