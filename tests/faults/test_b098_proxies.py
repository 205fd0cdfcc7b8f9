"""Proxy variables: local servers are reached directly, others through the proxy unless excluded."""

from __future__ import annotations

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from tests.model.fake_server import FakeServer, chat, refusal, serving
from tests.model.talk import answer, failure, model_at

from singletree.messages import text_of
from singletree.model.base import Terms
from singletree.model.proxies import proxy_for

DEAD = "http://127.0.0.1:9"
PROXIED = {"HTTP_PROXY": DEAD, "HTTPS_PROXY": DEAD}
CORP = "http://api.corp.example/v1"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
async def test_this_machine_is_reached_directly(host: str) -> None:
    async with (
        serving([chat({"content": "ok"})], host=host) as server,
        model_at(server, env=PROXIED) as model,
    ):
        assert text_of((await answer(model, "hi")).content) == "ok"


@pytest.mark.parametrize(
    ("no_proxy", "url", "direct"),
    [
        ("", "https://api.corp.example/v1", False),
        (" api.corp.example ", "https://api.corp.example/v1", True),
        ("corp.example", "https://api.corp.example/v1", True),
        (".corp.example", "https://api.corp.example/v1", True),
        (".corp.example", "https://corp.example/v1", True),
        ("*.corp.example", "https://api.corp.example/v1", True),
        ("orp.example", "https://api.corp.example/v1", False),
        ("a.b, api.corp.example", "https://API.corp.example/v1", True),
        ("a.b api.corp.example", "https://api.corp.example/v1", True),
        ("*", "https://api.corp.example/v1", True),
        ("api.corp.example:443", "https://api.corp.example/v1", True),
        ("api.corp.example:8443", "https://api.corp.example/v1", False),
        ("api.corp.example:8443", "https://api.corp.example:8443/v1", True),
        ("10.0.0.0/8", "http://10.1.2.3/v1", True),
        ("10.0.0.0/8", "http://11.1.2.3/v1", False),
        ("10.1.2.3", "http://10.1.2.3:8000/v1", True),
        ("[fd00::1]:80", "http://[fd00::1]/v1", True),
    ],
)
@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_exceptions_in_all_their_forms(name: str, no_proxy: str, url: str, direct: bool) -> None:
    proxy = proxy_for(url, {**PROXIED, name: no_proxy})
    assert proxy == (None if direct else DEAD)


def test_which_variable_counts() -> None:
    url = "https://api.corp.example"
    assert proxy_for(url, {"HTTP_PROXY": DEAD}) is None
    assert proxy_for(url, {"https_proxy": "box:3128"}) == "http://box:3128"
    assert proxy_for(url, {"ALL_PROXY": DEAD}) == DEAD
    assert proxy_for(url, {"https_proxy": "http://low:1", "HTTPS_PROXY": DEAD}) == "http://low:1"


async def test_another_host_goes_through_the_proxy() -> None:
    async with serving([chat({"content": "ok"})]) as proxy:
        env = {"HTTP_PROXY": proxy.url}
        async with model_at(proxy, env=env, base_url=CORP) as model:
            assert text_of((await answer(model, "hi")).content) == "ok"
    assert proxy.seen[0].path == f"{CORP}/chat/completions"


async def test_the_proxy_of_the_settings_counts_before_the_variables() -> None:
    assert proxy_for(CORP, PROXIED, "box:3128") == "http://box:3128"
    assert proxy_for(CORP, {**PROXIED, "NO_PROXY": "corp.example"}, "box:3128") is None
    assert proxy_for("http://localhost:1/v1", {}, "box:3128") is None
    async with serving([chat({"content": "ok"})]) as proxy:
        terms = Terms(proxy=proxy.url)
        async with model_at(proxy, env=PROXIED, base_url=CORP, terms=terms) as model:
            assert text_of((await answer(model, "hi")).content) == "ok"


async def test_a_proxy_that_wants_a_login() -> None:
    async with serving([refusal(407, "who are you?")]) as proxy:
        env = {"HTTP_PROXY": proxy.url}
        async with model_at(proxy, env=env, base_url=CORP) as model:
            _, error = await failure(model)
    assert error.message.startswith("The proxy wants a login (HTTP 407)")
    assert not error.retryable


async def test_the_same_for_tls() -> None:
    async def refuse(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, refuse)
        port = listener.extra(SocketAttribute.local_port)
        env = {"HTTPS_PROXY": f"http://user:secret@127.0.0.1:{port}"}
        base = CORP.replace("http:", "https:")
        async with model_at(FakeServer([b""]), env=env, base_url=base) as model:
            _, error = await failure(model)
        group.cancel_scope.cancel()
    assert error.message.startswith("The proxy wants a login (HTTP 407)")
    assert "secret" not in error.message


async def test_a_dead_proxy_is_named_without_its_password() -> None:
    env = {"HTTP_PROXY": "http://user:secret@127.0.0.1:9"}
    async with model_at(FakeServer([b""]), env=env, base_url=CORP) as model:
        _, error = await failure(model)
    assert "through the proxy" in error.message
    assert "secret" not in error.message
    assert error.retryable
