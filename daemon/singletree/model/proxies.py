"""Which proxy a request goes through, by the usual environment variables.

Pure: the environment is handed in. Servers on this machine are always reached directly. Read next:
clients.py (who keeps one client for each proxy).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}


def proxy_for(url: str, env: Mapping[str, str], named: str | None = None) -> str | None:
    """The proxy's address, None for a direct connection. `named` counts before the variables."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".").lower()
    if is_loopback(host) or _excluded(host, parts.port or _PORTS.get(parts.scheme), env):
        return None
    proxy = (
        (named or "").strip()
        or _variable(env, f"{parts.scheme}_proxy")
        or _variable(env, "all_proxy")
    )
    if not proxy:
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def is_loopback(host: str) -> bool:
    """This machine, by name or address."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and (address.is_loopback or address.is_unspecified)


def host_of(url: str) -> str:
    """The host of an address, "" where it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _variable(env: Mapping[str, str], name: str) -> str:
    """Lower case wins, as with curl."""
    return (env.get(name) or env.get(name.upper()) or "").strip()


def _excluded(host: str, port: int | None, env: Mapping[str, str]) -> bool:
    return any(
        _matches(rule, host, port)
        for rule in re.split(r"[\s,]+", _variable(env, "no_proxy"))
        if rule
    )


def _matches(rule: str, host: str, port: int | None) -> bool:
    if rule == "*":
        return True
    rule = rule.lower()
    if "/" in rule:
        return _in_network(rule, host)
    name, wanted = _split_port(rule)
    if wanted is not None and wanted != port:
        return False
    name = name.removeprefix("*").strip("[]").rstrip(".")
    mine, theirs = _address(host), _address(name)
    if mine is not None or theirs is not None:
        return mine == theirs
    bare = name.removeprefix(".")
    return bool(bare) and (host == bare or host.endswith("." + bare))


def _split_port(rule: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(\[[^\]]*\]|[^:]*):(\d+)", rule)
    return (match[1], int(match[2])) if match else (rule, None)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _in_network(rule: str, host: str) -> bool:
    address = _address(host)
    try:
        return address is not None and address in ipaddress.ip_network(rule, strict=False)
    except ValueError:
        return False
