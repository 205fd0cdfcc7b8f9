"""Answers of servers that are no servers of models, or broken ones: a plain error, never a hang."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from tests.model.fake_server import FakeServer, chat
from tests.model.talk import answer, failure, model_at

from singletree.errors import ModelError
from singletree.messages import text_of
from singletree.model.apis import APIS
from singletree.model.remote import RemoteModel

KEY = "sk-proj-verysecretkey12345"
OK = chat({"content": "fine"})
SSE = "content-type: text/event-stream"
ZIPPED = "content-encoding: gzip"
ELSEWHERE = "location: https://elsewhere.example/v1"


def http(status: int, body: bytes | str, *headers: str, version: str = "1.1") -> bytes:
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/{version} {status} X", *headers, f"content-length: {len(body)}"]
    return "\r\n".join([*lines, "connection: close", "", ""]).encode() + body


def said(value: Any) -> str:
    return json.dumps(value)


@asynccontextmanager
async def speaking(raw: bytes, api: str) -> AsyncIterator[RemoteModel]:
    """A model at a server that says these bytes, whatever it is asked."""

    async def speak(stream: SocketStream) -> None:
        async with stream:
            request = b""
            while b"\r\n\r\n" not in request:
                request += await stream.receive()
            with anyio.CancelScope(shield=True):
                await stream.send(raw)
                await anyio.sleep(0.05)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, speak)
        port = listener.extra(SocketAttribute.local_port)
        base = f"http://127.0.0.1:{port}/v1"
        async with model_at(FakeServer([b""]), api, base_url=base, key=KEY) as model:
            yield model
        group.cancel_scope.cancel()


GOOD = {
    "gzip, though it was not asked for": http(200, gzip.compress(OK), SSE, ZIPPED),
    "an encoding nobody knows": http(200, OK, SSE, "content-encoding: zz"),
    "HTTP/1.0": http(200, OK, SSE, version="1.0"),
    "HTTP/1.0 without a length": b"HTTP/1.0 200 OK\r\n\r\n" + OK,
    "no content type": http(200, OK),
    "the type of a download": http(200, OK, "content-type: application/octet-stream"),
    "a byte order mark": http(200, b"\xef\xbb\xbf" + OK, SSE),
    "more was promised": http(200, OK, SSE).replace(b"content-length: ", b"content-length: 9"),
    "continue": b"HTTP/1.1 100 Continue\r\n\r\n" + http(200, OK, SSE),
    "usage that is no number": http(
        200, b'data: {"choices":[],"usage":{"prompt_tokens":NaN,"cost":1e999}}\n\n' + OK
    ),
    "odd types": http(
        200,
        b'data: {"choices":{"0":1},"usage":[],"id":3,"model":{}}\n\ndata: {"choices":[null]}\n\n'
        b'data: {"choices":[{"delta":"x"}],"error":null}\n\n' + OK,
    ),
}


@pytest.mark.parametrize("name", GOOD)
async def test_what_can_be_read_is_read(name: str) -> None:
    async with speaking(GOOD[name], "openai-completions") as model:
        message = await answer(model, "hi")
    assert text_of(message.content) == "fine"
    json.dumps(message.dump(), allow_nan=False)


BAD: dict[str, tuple[bytes, str, bool]] = {
    "moved": (http(301, "", ELSEWHERE), "is elsewhere (HTTP 301): https://elsewhere", False),
    "broken gzip": (http(200, "no gzip", SSE, ZIPPED), "fake: Error -3", True),
    "zipped error": (
        http(429, gzip.compress(said({"error": "slower"}).encode()), ZIPPED),
        "asks to slow down (HTTP 429): slower",
        True,
    ),
    "huge error": (http(500, b"x" * 5_000_000), "failed (HTTP 500): xxxx", True),
    "a page as error": (
        http(502, "<html><head><style>b{}</style></head><body><h1>Bad Gateway</h1></body></html>"),
        "failed (HTTP 502): Bad Gateway",
        True,
    ),
    "an error that says 200": (
        http(200, said({"error": {"message": "not loaded"}})),
        "not loaded",
        True,
    ),
    "the same as a stream": (http(200, said({"error": {"message": "no"}}), SSE), "no", True),
    "a detail": (http(200, said({"detail": "Not here"})), "gave no answer: Not here", True),
    "words": (http(200, "Warming up", SSE), "gave no answer: Warming up", True),
    "a list": (http(200, "[1]"), "gave no answer: [1]", True),
    "an error by its name": (
        http(200, 'event: error\ndata: {"message":"upstream died"}\n\n', SSE),
        "upstream died",
        True,
    ),
    "nothing": (b"", "the connection was cut", True),
    "an empty answer": (http(200, "", SSE), "fake: the ", True),
    "no HTTP": (b"SSH-2.0-OpenSSH_9\r\n", "the connection was cut", True),
    "bad chunks": (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nabc",
        "the connection was cut",
        True,
    ),
    "endless depth": (
        http(200, b"data: " + b'{"a":' * 100_000 + b"\n\n", SSE),
        "an event of the answer could not be read",
        True,
    ),
    "an error without end": (http(500, b'{"error":' * 100_000), "failed (HTTP 500)", True),
    "bytes as error": (http(418, bytes(range(256)) * 10), "failed (HTTP 418).", False),
    "signs that move a cursor": (
        http(400, said({"error": {"message": "\x1b[31mred\x07\u202e words"}})),
        "failed (HTTP 400): [31mred words",
        False,
    ),
    "a key": (http(401, said({"error": f"Wrong: {KEY}."})), "(HTTP 401): Wrong: [key].", False),
    "a key in words": (http(400, f"Authorization: Bearer {KEY}"), "Bearer [key]", False),
    "nobody there": (http(404, "<html>nginx</html>"), "failed (HTTP 404): nginx", False),
    "a wait of ages": (http(429, "slow", "retry-after: 99999999999999999999"), "slow", True),
}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("name", BAD)
async def test_what_cannot_is_a_plain_error(name: str, api: str) -> None:
    raw, why, retryable = BAD[name]
    async with speaking(raw, api) as model:
        with anyio.fail_after(10):
            seen, error = await failure(model)
    assert why in error.message
    assert (seen, error.retryable) == ([], retryable)
    assert KEY not in error.message
    assert error.message.isprintable()
    assert len(error.message) < 700
    assert (error.retry_after or 0) < 367 * 86400


async def test_where_to_correct_an_address() -> None:
    for raw in (BAD["moved"][0], BAD["nobody there"][0]):
        async with speaking(raw, "openai-completions") as model:
            _, error = await failure(model)
        assert "baseUrl" in (error.hint or "")


async def test_a_key_that_no_header_takes() -> None:
    async with model_at(FakeServer([b""]), key="sk-\u00fc\u4e2d") as model:
        with pytest.raises(ModelError, match="holds a character that is no ASCII") as caught:
            await answer(model, "hi")
    assert "\u00fc" not in caught.value.message
