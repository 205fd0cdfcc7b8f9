"""The `format` rule of JSON Schema: the forms of text that tools ask for. Unknown ones fit all.

Pure. Read next: schema.py.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from uuid import UUID


def has_format(text: str, name: str) -> bool:
    """Whether a text has a named form."""
    check = _FORMATS.get(name)
    if check is None:
        return True
    try:
        return check(text)
    except ValueError:
        return False


def _date(text: str) -> bool:
    return date.fromisoformat(text).isoformat() == text


def _time(text: str) -> bool:
    time.fromisoformat(text)
    return True


def _date_time(text: str) -> bool:
    datetime.fromisoformat(text)
    return bool(re.match(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d", text))


def _uuid(text: str) -> bool:
    return str(UUID(text)) == text.lower()


def _address(
    kind: type[ipaddress.IPv4Address] | type[ipaddress.IPv6Address],
) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        kind(text)
        return True

    return check


def _pattern(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "email": _pattern(r"[^@\s]+@[^@\s]+\.[^@\s.]+"),
    "uri": _pattern(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+"),
    "date": _date,
    "time": _time,
    "date-time": _date_time,
    "uuid": _uuid,
    "ipv4": _address(ipaddress.IPv4Address),
    "ipv6": _address(ipaddress.IPv6Address),
}
