"""One streamed POST: events of a server, or a ModelError that says what went wrong.

The only module that opens connections to providers. httpx is imported and certificates are read in
a worker thread, when first needed. It never repeats a request (whoever asks decides that) and never
knows a provider's format. Read next: failure.py (failures as values), sse.py, proxies.py.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from singletree.errors import ModelError
from singletree.model.failure import broken, refused, scrub
from singletree.model.proxies import proxy_for
from singletree.model.sse import ServerEvent, SSEDecoder

if TYPE_CHECKING:
    import ssl

    import httpx

T = TypeVar("T")
CONNECT_SECONDS = 15.0
ERROR_SECONDS = 10.0
ERROR_BYTES = 65_536
DRAIN_SECONDS = 0.1
"""How long the end of a stream may take after the last event, so that the connection lives on."""
EVENT_BYTES = 64 * 1024 * 1024
KEEP_ALIVE_SECONDS = 300.0

SILENT = "nothing came for {seconds:g} seconds"
SILENT_FIRST = "it did not begin to answer within {seconds:g} seconds"
WEB_PAGE = "it answered with a web page; is its address right?"
CUT = "the connection was cut"
ENDLESS = "one event was larger than 64 MiB"
NO_CERTIFICATE = "its certificate is not trusted here"
CERTIFICATE_HINT = "If this is a company's own certificate, set SSL_CERT_FILE to its file."


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds of silence that are endured: before the first event, and between two. 0: for ever."""

    first: float = 300.0
    between: float = 300.0


@dataclass(frozen=True, slots=True)
class Call:
    """A request. `secrets` never appear in an error; `done`: nothing more is wanted."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    provider: str
    secrets: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    done: Callable[[], bool] = lambda: False


class Http:
    """Connections to providers: one client for each way (direct, or a proxy), made when needed."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._clients: dict[tuple[str | None, bool], httpx.AsyncClient] = {}
        self._lock = anyio.Lock()

    async def warm_up(self) -> None:
        """Do the slow imports and read the certificates before the first request needs them."""
        await self._client(None, secure=True)

    async def close(self) -> None:
        """Close all connections."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.aclose()

    async def stream(self, call: Call) -> AsyncGenerator[list[ServerEvent], None]:
        """The events of the answer, in lists as they arrive together."""
        proxy = proxy_for(call.url, self._env)
        client = await self._client(proxy, secure=call.url.startswith("https:"))
        import httpx

        clock = _Clock(call)
        try:
            request = client.build_request(
                "POST", call.url, headers=_headers(call), content=call.body
            )
            response = await clock.within(client.send(request, stream=True))
            try:
                async with aclosing(_events(response, call, clock)) as arrivals:
                    async for events in arrivals:
                        yield events
            finally:
                with anyio.CancelScope(shield=True):
                    await response.aclose()
        except httpx.HTTPError as error:
            raise _lost(error, call, proxy) from error
        except (httpx.InvalidURL, ValueError) as error:
            raise ModelError(f"{call.provider}: {error}", provider=call.provider) from error
        except TimeoutError:
            raise clock.error() from None

    async def _client(self, proxy: str | None, *, secure: bool) -> httpx.AsyncClient:
        way = (proxy, secure or (proxy or "").startswith("https:"))
        async with self._lock:
            if way not in self._clients:
                self._clients[way] = await anyio.to_thread.run_sync(_make_client, *way)
            return self._clients[way]


def _headers(call: Call) -> dict[str, str]:
    return {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "user-agent": "singletree",
        **call.headers,
    }


def _make_client(proxy: str | None, secure: bool) -> httpx.AsyncClient:
    """Slow: imports httpx, reads certificates where they are needed. Run in a worker thread."""
    import httpx

    return httpx.AsyncClient(
        verify=_certificates() if secure else False,
        proxy=proxy,
        trust_env=False,
        timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
        limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE_SECONDS),
    )


@cache
def _certificates() -> ssl.SSLContext:
    """The system's certificates, else those that httpx brings."""
    import ssl

    context = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    if paths.cafile is None and paths.capath is None:
        import certifi

        context.load_verify_locations(certifi.where())
    return context


class _Clock:
    """How long the silence may last. Only events count as life, not comments or pings."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._begun = False
        self._since = anyio.current_time()

    async def within(self, wait: Coroutine[object, object, T]) -> T:
        """Wait for something; TimeoutError when the silence was too long."""
        seconds = self._seconds
        deadline = self._since + seconds if seconds > 0 else float("inf")
        if self._call.done():
            deadline = min(deadline, anyio.current_time() + DRAIN_SECONDS)
        with anyio.CancelScope(deadline=deadline):
            return await wait
        raise TimeoutError

    @property
    def _seconds(self) -> float:
        return self._call.limits.between if self._begun else self._call.limits.first

    def alive(self) -> None:
        """Something was said."""
        self._begun = True
        self._since = anyio.current_time()

    def error(self) -> ModelError:
        text = SILENT if self._begun else SILENT_FIRST
        return broken(text.format(seconds=self._seconds), provider=self._call.provider)


async def _events(
    response: httpx.Response, call: Call, clock: _Clock
) -> AsyncGenerator[list[ServerEvent], None]:
    if response.status_code != 200:
        raise await _refusal(response, call)
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/html":
        raise ModelError(f"{call.provider}: {WEB_PAGE}", provider=call.provider)
    chunks = _chunks(response, call, clock)
    if kind == "application/json":  # a server that does not stream
        whole = b"".join([chunk async for chunk in chunks])
        yield [ServerEvent("", whole.decode("utf-8", "replace"))]
        return
    decoder = SSEDecoder()
    async for chunk in chunks:
        events = decoder.feed(chunk)
        if any(event.data and event.name != "ping" for event in events):
            clock.alive()
        if events:
            yield events
        elif decoder.waiting > EVENT_BYTES:
            raise broken(ENDLESS, provider=call.provider)
    yield decoder.close()


async def _chunks(
    response: httpx.Response, call: Call, clock: _Clock
) -> AsyncGenerator[bytes, None]:
    stream = response.aiter_bytes()
    while True:
        try:
            chunk = await clock.within(_next(stream))
        except TimeoutError:
            if call.done():
                return
            raise
        if chunk is None:
            return
        yield chunk


async def _next(stream: AsyncIterator[bytes]) -> bytes | None:
    return await anext(stream, None)


async def _refusal(response: httpx.Response, call: Call) -> ModelError:
    body = b""
    with anyio.move_on_after(ERROR_SECONDS):
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > ERROR_BYTES:
                break
    return refused(
        response.status_code,
        body[:ERROR_BYTES].decode("utf-8", "replace"),
        dict(response.headers),
        provider=call.provider,
        secrets=call.secrets,
    )


def _lost(error: httpx.HTTPError, call: Call, proxy: str | None) -> ModelError:
    """A failure on the way, in our words."""
    import httpx

    words = scrub(str(error) or type(error).__name__, call.secrets)
    by = " through the proxy" if proxy else ""
    match error:
        case httpx.ProxyError() if "407" in words:
            return refused(407, "", {}, provider=call.provider)
        case httpx.UnsupportedProtocol():
            return ModelError(f"{call.provider}: {words}", provider=call.provider)
        case httpx.ConnectError() if "CERTIFICATE_VERIFY_FAILED" in words:
            return ModelError(
                f"{call.provider}: {NO_CERTIFICATE} ({words})",
                hint=CERTIFICATE_HINT,
                provider=call.provider,
            )
        case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.ProxyError():
            where = httpx.URL(call.url).netloc.decode("ascii", "replace").rpartition("@")[2]
            what = f"cannot connect to {where}{by}: {words}"
        case httpx.RemoteProtocolError() | httpx.ReadError() | httpx.WriteError():
            what = f"{CUT}{by}: {words}"
        case _:
            what = words
    return broken(what, provider=call.provider, secrets=call.secrets)
