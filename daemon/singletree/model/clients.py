"""Pools of connections: one for each way to servers, direct or through a proxy, made when needed.

They are httpx's transports and not its clients, which would keep cookies and follow redirects. They
are imported, and certificates read, in a worker thread. Never knows what is asked over them.
Read next: proxies.py (which way), http.py (who asks).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from singletree.model.proxies import proxy_for

if TYPE_CHECKING:
    import ssl

    import httpx

TIMEOUT = {"timeout": {"connect": 15.0}}
"""Of a request: seconds to connect. How long it may be silent is for http.py to know."""
KEEP_ALIVE_SECONDS = 300.0
BAD_PROXY = (
    "the proxy's address cannot be used; in its user and password, other signs than letters and "
    "digits are written as %XX"
)
BAD_CERTIFICATES = "{file}, which {name} names, cannot be read as certificates ({why})"
TRUSTED = ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE")
"""Variables that name a file of certificates."""
NO_ADDRESS = "{url!r} is no http or https address; correct the provider's baseUrl"
NO_PROXY_KIND = "{kind} proxies are not supported, only http and https ones"


class Clients:
    """Transports by the way they go, their connections kept between requests."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._trust = tuple((name, env[name]) for name in TRUSTED if env.get(name))
        self._made: dict[tuple[str | None, bool], httpx.AsyncHTTPTransport] = {}
        self._lock = anyio.Lock()

    def way(self, url: str, named: str | None = None) -> str | None:
        """The proxy a request goes through; `named` by settings. ValueError if there is no way."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(NO_ADDRESS.format(url=url))
        proxy = proxy_for(url, self._env, named)
        kind = (proxy or "http:").partition(":")[0].lower()
        if kind not in ("http", "https"):
            raise ValueError(NO_PROXY_KIND.format(kind=kind))
        return proxy

    async def get(self, proxy: str | None, *, secure: bool) -> httpx.AsyncHTTPTransport:
        """The connections of a way. ValueError says what cannot be used."""
        key = (proxy, secure or (proxy or "").startswith("https:"))
        if key in self._made:
            return self._made[key]
        async with self._lock:
            if key not in self._made:
                self._made[key] = await anyio.to_thread.run_sync(
                    _make, *key, self._trust, abandon_on_cancel=True
                )
            return self._made[key]

    async def close(self) -> None:
        """Close all connections."""
        made, self._made = list(self._made.values()), {}
        for transport in made:
            await transport.aclose()


Trust = tuple[tuple[str, str], ...]
"""Variables, and the files of certificates that they name."""


def _make(proxy: str | None, secure: bool, trust: Trust) -> httpx.AsyncHTTPTransport:
    """Slow: imports httpx, reads certificates where they are needed. Run in a worker thread."""
    import httpx

    _end_searches()
    try:
        way = httpx.Proxy(proxy) if proxy else None
    except (ValueError, httpx.InvalidURL):
        raise ValueError(BAD_PROXY) from None
    return httpx.AsyncHTTPTransport(
        verify=_certificates(trust) if secure else False,
        proxy=way,
        trust_env=False,
        limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE_SECONDS),
    )


@lru_cache(maxsize=32)
def address(url: str) -> httpx.URL:
    """A server's address, taken apart once: httpx.InvalidURL for what is none."""
    import httpx

    return httpx.URL(url)


def _end_searches() -> None:
    """Where sniffio is not installed, an import of it fails at once.

    httpcore tries to import it several times in a request, and each of them would look through
    all folders of modules: 5 % of the time of a small tool call.
    """
    if "sniffio" not in sys.modules and find_spec("sniffio") is None:
        sys.modules["sniffio"] = None  # type: ignore[assignment]  # what the import system asks for


@cache
def _certificates(trust: Trust) -> ssl.SSLContext:
    """The system's certificates, else those that httpx brings, and some files."""
    import ssl

    context = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    if paths.cafile is None and paths.capath is None:
        import certifi

        context.load_verify_locations(certifi.where())
    for name, file in trust:
        try:
            context.load_verify_locations(file)
        except OSError as error:
            why = error.strerror or type(error).__name__
            said = BAD_CERTIFICATES.format(name=name, file=file, why=why)
            raise ValueError(said) from None
    return context
