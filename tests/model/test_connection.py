"""Connections: TLS, certificates, proxies, being closed meanwhile, and what is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from tests.model.fake_server import TLS, FakeServer, Reply, chat, serving
from tests.model.talk import answer, failure, model_at

from singletree.messages import text_of
from singletree.model.http import Http

TRUST = {"SSL_CERT_FILE": str(TLS / "authority.pem")}
OK = chat({"content": "ok"})


async def test_tls_with_a_certificate_that_is_trusted() -> None:
    async with serving([OK], tls=True) as server, model_at(server, env=TRUST) as model:
        for _ in range(3):
            assert text_of((await answer(model, "hi")).content) == "ok"
    assert server.connections == 1


async def test_a_certificate_nobody_signed_for_us() -> None:
    async with serving([OK], tls=True) as server, model_at(server) as model:
        _, error = await failure(model)
    assert error.message.startswith("fake: its certificate is not trusted here (")
    assert not error.retryable
    assert "SSL_CERT_FILE" in (error.hint or "")


async def test_a_certificate_for_another_name() -> None:
    async with serving([OK], "::1", tls=True) as server, model_at(server, env=TRUST) as model:
        _, error = await failure(model)
    assert "certificate" in error.message


async def test_a_server_that_speaks_no_tls() -> None:
    async def plain(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, plain)
        port = listener.extra(SocketAttribute.local_port)
        async with model_at(FakeServer([b""]), base_url=f"https://127.0.0.1:{port}") as model:
            _, error = await failure(model)
        group.cancel_scope.cancel()
    assert f"cannot connect to 127.0.0.1:{port}: " in error.message


async def test_tls_through_a_proxy() -> None:
    async with serving([OK], tls=True) as server, tunnel(server) as proxy:
        env = {**TRUST, "HTTPS_PROXY": f"http://us%20er:pass@127.0.0.1:{proxy.port}"}
        base = server.url.replace("127.0.0.1", "far.example") + "/v1"
        async with model_at(server, env=env, base_url=base) as model:
            _, error = await failure(model)
    # the certificate is for another name than far.example: so TLS was spoken to its end
    assert "certificate" in error.message
    assert proxy.asked[0].startswith("CONNECT far.example:")
    assert "authorization: basic dxmgzxi6cgfzcw==" in proxy.asked[0].lower()


async def test_a_connection_that_was_closed_meanwhile_is_not_used() -> None:
    async with serving([OK]) as server, model_at(server) as model:
        await answer(model, "hi")
        await server.drop()
        await server.empty.wait()
        assert text_of((await answer(model, "hi")).content) == "ok"
    assert server.connections == 2


async def test_requests_at_the_same_time_have_connections_of_their_own() -> None:
    slow = Reply([0.2, OK])
    async with serving([slow]) as server, model_at(server) as model:
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(answer, model, "hi")
        assert server.connections == 3
        await answer(model, "hi")
    assert server.connections == 3


async def test_closing_ends_what_is_idle() -> None:
    async with serving([OK]) as server:
        async with model_at(server) as model:
            await answer(model, "hi")
        with anyio.fail_after(1):
            await server.empty.wait()


async def test_warming_up_reads_certificates() -> None:
    http = Http(TRUST)
    await http.warm_up()
    await http.close()


@pytest.mark.parametrize("url", ["corp.example/v1", "", "ftp://x", "http://", "file:///etc"])
async def test_a_wrong_address_is_named(url: str) -> None:
    async with model_at(FakeServer([b""]), base_url=url) as model:
        _, error = await failure(model)
    assert "is no http or https address" in error.message
    assert not error.retryable


async def test_a_key_with_a_line_break_is_refused() -> None:
    async with serving([OK]) as server, model_at(server, key="sk-1\r\nx-evil: 1") as model:
        _, error = await failure(model)
    assert server.seen == []
    assert "line break" in error.message
    assert "sk-1" not in error.message


async def test_a_key_that_no_header_can_hold() -> None:
    async with serving([OK]) as server, model_at(server, key="sk-1\u2019") as model:
        _, error = await failure(model)
    assert server.seen == []
    assert not error.retryable
    assert "sk-1" not in f"{error!r} {error}"


@pytest.mark.parametrize("sign", ["\x00", "\x01", "\x1b", "\x7f"])
async def test_a_key_with_a_control_character_is_refused(sign: str) -> None:
    key = f"plainkey{sign}0123456789"
    async with serving([OK]) as server, model_at(server, "anthropic-messages", key=key) as model:
        _, error = await failure(model)
    assert server.seen == []
    assert "control character" in error.message
    assert "0123456789" not in f"{error!r} {error} {error.__cause__!r}"
    assert not error.retryable


async def test_a_user_in_the_address_is_told_to_the_server() -> None:
    async with serving([OK]) as server:
        address = server.url.replace("://", "://me:a%40b@") + "/v1"
        async with model_at(server, base_url=address, key=None) as model:
            assert text_of((await answer(model, "hi")).content) == "ok"
    assert server.seen[0].headers["authorization"] == "Basic bWU6YUBi"


async def test_cookies_are_not_kept() -> None:
    said = {"content-type": "text/event-stream", "set-cookie": "who=me; Path=/"}
    cookie = Reply([OK], headers=said)
    async with serving([cookie, OK]) as server, model_at(server) as model:
        await answer(model, "hi")
        await answer(model, "hi")
    assert "cookie" not in server.seen[1].headers


async def test_a_key_with_blanks_round_it_is_sent_without() -> None:
    async with (
        serving([OK]) as server,
        model_at(server, "anthropic-messages", key=" k1 \t") as model,
    ):
        await failure(model)
    assert server.seen[0].headers["x-api-key"] == "k1"


async def test_a_header_whose_name_is_none() -> None:
    headers = {"x corp": "1"}
    async with serving([OK]) as server, model_at(server, headers=headers) as model:
        _, error = await failure(model)
    assert error.message == "fake: 'x corp' is no name of a header"
    assert not error.retryable


@pytest.mark.parametrize(
    "proxy", ["http://me:secret1#x@host:1", "http://me:secret1@\u0661:1", "http://[::1"]
)
async def test_a_proxy_that_is_no_address_is_told_without_its_password(proxy: str) -> None:
    env = {"HTTP_PROXY": proxy}
    async with model_at(FakeServer([b""]), env=env, base_url="http://far.example") as model:
        _, error = await failure(model)
    assert "the proxy's address cannot be used" in error.message
    assert "secret1" not in f"{error!r} {error} {error.__cause__!r}"


async def test_certificates_that_cannot_be_read_are_named() -> None:
    env = {"SSL_CERT_FILE": "/nowhere/authority.pem"}
    async with model_at(FakeServer([b""]), env=env, base_url="https://far.example") as model:
        _, error = await failure(model)
    said = "/nowhere/authority.pem, which SSL_CERT_FILE names, cannot be read as certificates"
    assert said in error.message


async def test_a_path_with_signs_that_no_address_holds() -> None:
    async with serving([OK]) as server, model_at(server, base_url=f"{server.url}/\x07") as model:
        _, error = await failure(model)
    assert server.seen == []
    assert not error.retryable


@pytest.mark.parametrize(
    "env",
    [
        {"HTTP_PROXY": "socks5://127.0.0.1:9"},
        {"SSL_CERT_FILE": "/nowhere/authority.pem", "HTTP_PROXY": "https://127.0.0.1:9"},
    ],
)
async def test_settings_that_cannot_work_are_told(env: dict[str, str]) -> None:
    base = "http://far.example/v1"
    async with model_at(FakeServer([b""]), env=env, base_url=base) as model:
        _, error = await failure(model)
    assert error.message.startswith("fake: ")
    assert not error.retryable


class Tunnel:
    """A proxy that passes bytes on."""

    def __init__(self, server: FakeServer) -> None:
        self.port = 0
        self.asked: list[str] = []
        self._to = int(server.url.rpartition(":")[2])

    async def serve(self, stream: SocketStream) -> None:
        async with stream, await anyio.connect_tcp("127.0.0.1", self._to) as other:
            self.asked.append((await stream.receive()).decode())
            await stream.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
            async with anyio.create_task_group() as group:
                group.start_soon(self._pass, stream, other)
                group.start_soon(self._pass, other, stream)

    async def _pass(self, one: SocketStream, other: SocketStream) -> None:
        try:
            while True:
                await other.send(await one.receive())
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await other.aclose()


@asynccontextmanager
async def tunnel(server: FakeServer) -> AsyncIterator[Tunnel]:
    """A Tunnel for the time of the block."""
    proxy = Tunnel(server)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as group:
        proxy.port = listener.extra(SocketAttribute.local_port)
        group.start_soon(listener.serve, proxy.serve)
        yield proxy
        group.cancel_scope.cancel()
