"""The `format` rule of JSON Schema: the forms of text that tools ask for. Unknown ones fit all.

As the standards have them: a time has a zone, a name of a machine no underscore. Pure. Read next:
schema.py.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date


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
    found = re.fullmatch(r"(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-](\d\d):(\d\d))", text)
    if found is None:
        return False
    hour, minute, second, zone_hour, zone_minute = (int(part or 0) for part in found.groups())
    return max(hour, zone_hour) < 24 and max(minute, zone_minute) < 60 and second <= 60


def _date_time(text: str) -> bool:
    return text[10:11] in ("T", "t") and _date(text[:10]) and _time(text[11:])


def _ipv4(text: str) -> bool:
    return str(ipaddress.IPv4Address(text)) == text


def _ipv6(text: str) -> bool:
    return ipaddress.IPv6Address(text).scope_id is None


def _regex(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def _pattern(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII)
    return lambda text: compiled.fullmatch(text) is not None


_HEX = "[0-9A-Fa-f]"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*"
_ATOM = r"[\w!#$%&'*+/=?^`{|}~-]+"
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*:"
_IN_URI = rf"(?:[^\s<>\"{{}}|\\^`%\x00-\x1f\x7f-\U0010ffff]|%{_HEX}{{2}})*"
_CLOCK = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
_DAYS = r"(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)"

_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "email": _pattern(rf"{_ATOM}(?:\.{_ATOM})*@{_HOST}"),
    "hostname": _pattern(_HOST),
    "uri": _pattern(_SCHEME + _IN_URI),
    "uri-reference": _pattern(_IN_URI),
    "date": _date,
    "time": _time,
    "date-time": _date_time,
    "duration": _pattern(rf"P(?:{_DAYS}(?:{_CLOCK})?|{_CLOCK}|\d+W)"),
    "uuid": _pattern(rf"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}"),
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "json-pointer": _pattern(r"(?:/(?:[^~/]|~[01])*)*"),
    "regex": _regex,
}
