"""What no client should send, sent to the real daemon: one answer for each id, and life goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.real import daemon, opened, place, prompt, settled, text
from tests.rpc.client import Message, RawClient, frame
from tests.rpc.contract import wrong

from singletree.rpc.protocol import methods
from singletree.rpc.protocol.errors import CODES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PARSE, INVALID, UNKNOWN, PARAMS, EARLY = -32700, -32600, -32601, -32602, -32002


def request(mid: object, method: object = "agent/prompt", **more: object) -> Message:
    return {"jsonrpc": "2.0", "id": mid, "method": method, **more}


def line(mid: object) -> bytes:
    return json.dumps(request(mid)).encode()


CANCEL: Message = {"jsonrpc": "2.0", "method": "$/cancelRequest"}
FRAMES: tuple[tuple[str, bytes, dict[Any, int]], ...] = (
    ("no params", frame(request("a")), {"a": PARAMS}),
    ("null params", frame(request("b", params=None)), {"b": PARAMS}),
    ("array params", frame(request("c", params=[])), {"c": PARAMS}),
    ("number params", frame(request("d", params=3)), {"d": PARAMS}),
    ("wrong types", frame(request("e", params={"sessionId": 1, "content": 2})), {"e": PARAMS}),
    ("unknown method", frame(request("f", "agent/nothing", params={})), {"f": UNKNOWN}),
    ("unknown LSP method", frame(request("g", "textDocument/nothing")), {"g": UNKNOWN}),
    ("unknown $ request", frame(request("h", "$/nothing")), {"h": UNKNOWN}),
    ("planned method", frame(request("i", "agent/mcp/list", params={})), {"i": UNKNOWN}),
    ("a method of ours to ask", frame(request("j", "agent/event", params={})), {"j": UNKNOWN}),
    ("second initialize", frame(request("k", "initialize", params={})), {"k": INVALID}),
    ("method is a number", frame(request("l", 7)), {"l": INVALID}),
    ("no method", frame({"jsonrpc": "2.0", "id": "m"}), {"m": INVALID}),
    ("no jsonrpc", frame({"id": "n", "method": "agent/prompt"}), {"n": INVALID}),
    ("jsonrpc 1.0", frame({"jsonrpc": "1.0", "id": "o", "method": "x"}), {"o": INVALID}),
    ("id null", frame(request(None)), {None: INVALID}),
    ("id a fraction", frame(request(1.5)), {None: INVALID}),
    ("id a list", frame(request([1])), {None: INVALID}),
    ("id true", frame(request(True)), {None: INVALID}),
    ("half a body", b'Content-Length: 11\r\n\r\n{"jsonrpc":', {None: PARSE}),
    ("no UTF-8", b'Content-Length: 5\r\n\r\n"\xff\xfe"\n', {None: PARSE}),
    ("empty body", b"Content-Length: 0\r\n\r\n", {None: PARSE}),
    ("a text", frame("hello"), {None: INVALID}),
    ("a number", frame(1), {None: INVALID}),
    ("null", frame(None), {None: INVALID}),
    ("empty batch", frame([]), {None: INVALID}),
    ("batch", frame([request("p"), request("q")]), {"p": INVALID, "q": INVALID}),
    ("too deep", b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000, {None: PARSE}),
    ("length abc", b"Content-Length: abc\r\n\r\n" + frame(0)[22:], {None: INVALID}),
    ("absurd length", b"Content-Length: 99999999999999999999\r\n\r\n", {None: INVALID}),
    ("a length beyond any sense", b"Content-Length: 99999999999\r\n\r\n", {None: INVALID}),
    ("no length", b"X-Other: 1\r\n\r\n" + line("r") + b"\r\n", {"r": INVALID}),
    ("a line of JSON", line("s") + b"\n", {"s": INVALID}),
    ("lower case, another header, bare LF",
     b"content-type: x\ncontent-length: %d\n\n%b" % (len(line("t")), line("t")), {"t": PARAMS}),
    ("a notification of ours", frame({"jsonrpc": "2.0", "method": "agent/prompt"}), {}),
    ("unknown notification", frame({"jsonrpc": "2.0", "method": "x/y", "params": 1}), {}),
    ("cancel of nothing", frame(CANCEL | {"params": {"id": "?"}}), {}),
    ("cancel without id", frame(CANCEL), {}),
    ("answer to nothing", frame({"jsonrpc": "2.0", "id": "nobody", "result": 1}), {}),
    ("error to nothing", frame({"jsonrpc": "2.0", "id": "nobody", "error": "x"}), {}),
)  # fmt: skip


async def test_each_malformed_frame_has_its_answers(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "Still here."}) as client:
        session_id = await opened(client, where)
        wrong: list[str] = []
        for name, data, expected in FRAMES:
            start = len(client.frames)
            client.raw(data)
            good = client.request("agent/session/state", {"sessionId": session_id})
            assert "result" in await client.answer(good, 30), name
            for mid in expected:
                await client.answer(mid, 30)
            got = _codes(client, start)
            if got != sorted(expected.items(), key=str):
                wrong.append(f"{name}: {got}")
        assert wrong == []
        await prompt(client, session_id, "Are you there?")
        assert (await settled(client, session_id))["lastTurn"]["reason"] == "end_turn"
        _one_answer_each(client)


async def test_before_initialize_and_after_shutdown(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "x", "delay": 1}, hello=False) as client:
        early = client.request("agent/session/list", {})
        client.notify("agent/prompt", {})
        assert (await client.answer(early, 30))["error"]["code"] == EARLY
        await client.initialize({"protocolVersions": [1]})
        session_id = await opened(client, where)
        await prompt(client, session_id, "wait")
        twice = [client.request("agent/session/wait", {}, mid="twice") for _ in range(2)]
        assert twice == ["twice", "twice"]
        await client.until(lambda f: f.get("id") is None and "error" in f)
        await client.answer("twice")
        assert await client.call("shutdown", seconds=30) is None
        late = client.request("agent/session/state", {"sessionId": session_id})
        assert (await client.answer(late))["error"]["code"] == INVALID
        _one_answer_each(client)
        client.notify("exit")
        assert await client.exit_code() == 0


async def test_a_message_over_the_limit_is_refused_and_the_next_is_served(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "x"}) as client:
        session_id = await opened(client, where)
        big = request("big", params={"sessionId": session_id, "content": text("x" * (32 << 20))})
        client.send(big)
        refused = (await client.answer("big", 60))["error"]
        assert (refused["code"], refused["data"]["code"]) == (INVALID, "message_too_large")
        (listed,) = (await client.call("agent/session/list", {}, 30))["sessions"]
        assert (listed["sessionId"], listed["preview"]) == (session_id, "")


VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1 << 70, 1.5, "", "x", "\ud800", "a\x00b", "../../etc", "x" * 70_000,
    "file:///nowhere", "http://example.invalid/x", [], ["x"], {}, {"x": {"jsonrpc": "2.0"}},
    [{"type": "text", "text": "\ud83d"}], [{"type": "image", "data": "!", "mimeType": "x"}],
    [{"type": "resource", "resource": {"uri": "file://%zz", "blob": "%"}}],
    [{"type": "selection", "uri": "::", "range": {"start": {"line": -1, "character": 0}}}],
    [{"type": "nothing"}],
)  # fmt: skip
EXPECTED = {-32602, -32803, -32801, -32800}


async def test_no_value_of_any_param_is_a_fault_of_the_daemon(tmp_path: Path) -> None:
    """Every served method, every one of its params, every odd value: an answer, never -32603."""
    where = place(tmp_path)
    async with daemon(where, {"text": "x", "repeat": True}) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, "hello")
        await settled(client, session_id)
        odd: list[str] = []
        asked = 0
        for name, params in _odd_requests(session_id):
            mid = client.request(name, params)
            answer = await client.answer(mid, 30)
            asked += 1
            if "error" in answer and not _clear(answer["error"]):
                odd.append(f"{name} {str(params)[:200]}: {answer['error']}")
            if name == "agent/session/close" and "result" in answer:
                session_id = await opened(client, where, sessionId=session_id)
        assert odd == []
        assert asked > 1000
        _one_answer_each(client)


def _odd_requests(session_id: str) -> list[tuple[str, Message]]:
    made: list[tuple[str, Message]] = []
    for method in methods().values():
        if not method.served or method.direction != "clientToServer":
            continue
        fields = [field.alias or name for name, field in method.params.model_fields.items()]
        base: Message = {"sessionId": session_id} if "sessionId" in fields else {}
        if "content" in fields:
            base["content"] = text("x")
        made += [(method.name, base | {field: value}) for field in fields for value in VALUES]
    return made


def _clear(error: Any) -> bool:
    """One plain line, a number and a code of the contract."""
    one_line = error["message"] and error["message"].isprintable()
    known = error["code"] == PARAMS or error["data"].get("code") in CODES
    published = wrong("ErrorData", error["data"]) == []
    return bool(error["code"] in EXPECTED and one_line and known and published)


def _codes(client: RawClient, start: int) -> list[tuple[Any, int]]:
    errors = [f for f in client.frames[start:] if "error" in f and "method" not in f]
    return sorted(((f["id"], f["error"]["code"]) for f in errors), key=str)


def _one_answer_each(client: RawClient) -> None:
    ids = [f["id"] for f in client.frames if "method" not in f and f["id"] is not None]
    assert len(ids) == len(set(ids))
    assert client.broken is None
