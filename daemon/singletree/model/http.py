"""One streamed POST: events of a server, or a ModelError that says what went wrong.

It never repeats a request (whoever asks decides that) and never knows a provider's format. Read
next: arrivals.py (how a body is read), clients.py (the connections), failure.py, sse.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import anyio

from singletree.errors import ModelError
from singletree.model.arrivals import Arrivals
from singletree.model.base import Terms
from singletree.model.clients import TIMEOUT, Clients, address
from singletree.model.failure import broken, moved, refused, scrub
from singletree.model.sse import ServerEvent, SSEDecoder

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
Take = Callable[[list[ServerEvent]], None]
ERROR_SECONDS = 10.0
ERROR_BYTES = 65_536
DRAIN_SECONDS = 0.1
"""How long the end of a stream may take after the last event, so that the connection lives on."""
EVENT_BYTES = 64 * 1024 * 1024

SILENT = "nothing came for {seconds:g} seconds"
SILENT_FIRST = "it did not begin to answer within {seconds:g} seconds"
WEB_PAGE = "it answered with a web page; is its address right?"
WHOLE = "its answer took more than {seconds:g} seconds"
CUT = "the connection was cut"
BREAK = "the header {name!r} holds a line break or another control character"
NO_NAME = "{name!r} is no name of a header"
FOREIGN = "the header {name!r} holds a character that is no ASCII; is the key copied whole?"
ENDLESS = "one event was larger than 64 MiB"
NO_CERTIFICATE = "its certificate is not trusted here"
_PING = '{"type":"ping"}'
_NAME = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
CERTIFICATE_HINT = "If this is a company's own certificate, set SSL_CERT_FILE to its file."


@dataclass(frozen=True, slots=True)
class Call:
    """A request. `secrets` never appear in an error; `done`: nothing more is wanted."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    provider: str
    secrets: tuple[str, ...] = field(default=(), repr=False)
    terms: Terms = field(default_factory=Terms)
    done: Callable[[], bool] = lambda: False


class Http:
    """Requests to providers, over connections that are kept between them."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._clients = Clients(env)

    async def warm_up(self) -> None:
        """Do the slow imports and read the certificates before the first request needs them."""
        await self._clients.get(None, secure=True)

    async def close(self) -> None:
        """Close all connections."""
        await self._clients.close()

    async def send(self, call: Call, take: Take) -> str:
        """Ask, and give the events of the answer to `take`: those that came together in a list.

        What is returned is the body of an answer that had no events, else nothing.
        """
        with anyio.CancelScope(deadline=_deadline(call.terms.whole)):
            return await self._send(call, take)
        raise broken(WHOLE.format(seconds=call.terms.whole), provider=call.provider)

    async def _send(self, call: Call, take: Take) -> str:
        clock = _Clock(call)
        try:
            headers = _headers(call)
            proxy = self._clients.way(call.url, call.terms.proxy)
            transport = await self._clients.get(proxy, secure=call.url.startswith("https:"))
        except ValueError as error:
            raise ModelError(f"{call.provider}: {error}", provider=call.provider) from None
        import httpx

        try:
            request = httpx.Request(
                "POST", address(call.url), headers=headers, content=call.body, extensions=TIMEOUT
            )
            if request.url.userinfo:
                sign = httpx.BasicAuth(request.url.username, request.url.password).auth_flow
                request = next(sign(request))
            response = await clock.within(transport.handle_async_request(request))
            response.request = request
            try:
                return await _hear(response, call, clock, take)
            finally:
                with anyio.CancelScope(shield=True):
                    await response.aclose()
        except _Silence:
            raise clock.error() from None
        except httpx.InvalidURL as error:
            raise ModelError(f"{call.provider}: {error}", provider=call.provider) from None
        except httpx.HTTPError as error:
            raise _lost(error, call, proxy) from None  # its own words may hold a key


def _headers(call: Call) -> dict[str, str]:
    headers = {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "user-agent": "singletree",
        **{name.lower(): value.strip(" \t") for name, value in call.headers.items()},
    }
    for name, value in headers.items():
        if _NAME.fullmatch(name) is None:
            raise ValueError(NO_NAME.format(name=name))
        if _CONTROL.search(value):
            raise ValueError(BREAK.format(name=name))
        if not value.isascii():
            raise ValueError(FOREIGN.format(name=name))
    return headers


class _Silence(Exception):
    """Nothing came for too long."""


class _Drained(_Silence):
    """Nothing came any more, and nothing was missing."""


class _Clock:
    """How long the silence may last. Only events count as life, not comments or pings."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._begun = False
        self._since = anyio.current_time()

    async def within(self, wait: Coroutine[object, object, T]) -> T:
        """Wait for something; _Silence when there was too much of it."""
        deadline = _deadline(self._seconds, self._since)
        if self._call.done():
            deadline = min(deadline, anyio.current_time() + DRAIN_SECONDS)
        with anyio.CancelScope(deadline=deadline):
            return await wait
        raise _Drained if self._call.done() else _Silence

    @property
    def _seconds(self) -> float:
        return self._call.terms.between if self._begun else self._call.terms.first

    def alive(self) -> None:
        """Something was said."""
        self._begun = True
        self._since = anyio.current_time()

    def error(self) -> ModelError:
        """What to say when the time is over."""
        text = SILENT if self._begun else SILENT_FIRST
        return broken(text.format(seconds=self._seconds), provider=self._call.provider)


def _deadline(seconds: float, since: float | None = None) -> float:
    """When so many seconds are over; 0: never."""
    begin = anyio.current_time() if since is None else since
    return begin + seconds if seconds > 0 else float("inf")


async def _hear(response: httpx.Response, call: Call, clock: _Clock, take: Take) -> str:
    """One task reads, this one looks at what came."""
    if response.status_code != 200:
        raise await _refusal(response, call)
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/html":
        raise ModelError(f"{call.provider}: {WEB_PAGE}", provider=call.provider)
    arrivals = Arrivals(response, call.done)
    failure: Exception | None = None
    said = ""
    async with anyio.create_task_group() as group:
        group.start_soon(arrivals.read)
        try:
            said = await _take_events(arrivals, call, clock, take)
        except Exception as error:  # kept, because a task group would wrap it
            failure = error
        if not arrivals.over:
            group.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return said


async def _take_events(arrivals: Arrivals, call: Call, clock: _Clock, take: Take) -> str:
    decoder, odd, heard = SSEDecoder(), bytearray(), False
    with suppress(_Drained):
        while data := await clock.within(arrivals.take()):
            events = decoder.feed(data)
            if any(map(_is_life, events)):
                clock.alive()
            if events:
                heard = True
                take(events)
            elif not heard:
                odd += data
            if max(len(odd), decoder.waiting) > EVENT_BYTES:
                raise broken(ENDLESS, provider=call.provider)
    rest = decoder.close()
    take(rest)
    return "" if heard or rest else _text(bytes(odd))


def _is_life(event: ServerEvent) -> bool:
    """Whether an event says anything: a ping may also come without its name."""
    short = event.data.replace(" ", "") if len(event.data) < 20 else "…"
    return event.name != "ping" and short not in ("", "{}", _PING)


def _text(body: bytes) -> str:
    """A body without the comments of a stream."""
    lines = body.decode("utf-8", "replace").splitlines()
    return "\n".join(line for line in lines if not line.startswith(":")).strip()


async def _refusal(response: httpx.Response, call: Call) -> ModelError:
    import httpx

    body = b""
    with anyio.move_on_after(ERROR_SECONDS), suppress(httpx.HTTPError):
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > ERROR_BYTES:
                break
    if response.is_redirect:
        where = response.headers.get("location", "nowhere")
        return moved(response.status_code, where, provider=call.provider, secrets=call.secrets)
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
