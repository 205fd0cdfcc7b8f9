"""What went wrong with a provider, in our codes: from a status, a body, a text or a broken line.

Pure. The provider's own words are kept, shortened, and never with a key in them. Never knows httpx.
Read next: http.py (who sees failures), ../errors.py (the codes).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pydantic import JsonValue

from singletree.errors import ContextOverflow, ModelError
from singletree.excerpt import cut
from singletree.jsontext import decoded

WORDS = 300
"""Characters of a provider's text that are kept."""
LOOKED_AT = 8000
"""Characters of it that are searched for what they mean."""
HIDDEN = "[key]"
HINTS = {
    "auth_failed": "Check the key of this provider (auth.json, models.json or the environment).",
    "quota_exceeded": "The account's credit or quota is used up; see the provider's billing page.",
}

UNKNOWN = "Check the model's id, and the provider's baseUrl in models.json."
LONGEST = 366 * 86400.0
"""Seconds; nobody waits longer, whatever a provider says."""

_OVERFLOW = re.compile(
    r"context.{0,3}length.{0,3}exceeded|prompt is too long|prompt too long|input is too long"
    r"|maximum context length|context window (?:exceed|limit)|exceeds? the context window"
    r"|exceeds? (?:the )?(?:model'?s? )?(?:available |maximum )?context (?:size|length|limit)"
    r"|(?:input|prompt) token count.{0,40}exceeds|exceeded (?:the )?(?:max|maximum) context"
    r"|reduce the length of the (?:messages|prompt|input)|context shift is disabled"
    r"|maximum prompt length|exceeds the limit of \d+|token limit exceeded|too large for model"
    r"|greater than the context length|range of input length|request_too_large"
    r"|input length .{0,60}exceed"
    r"|(?:input|prompt|messages?)(?: \([^)]{1,40}\))? (?:is|are) longer than"
    r"|(?:input|prompt) exceeds (?:the )?max(?:imum)? length|configured context size"
    r"|exceed(?:s|ed) (?:the )?(?:model'?s? )?token limit"
    r"|context_window_exceeded|model_context_window|too many tokens(?! per)",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"rate.?limit|too many requests|tokens per (?:min|minute|day|hour)|requests per"
    r"|throttl|\bTPM\b|\bRPM\b",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient.?(?:quota|credit|balance|funds)|exceeded your current quota|billing"
    r"|credit balance|out of (?:credits?|budget)|payment required|usage.?limit|quota exceeded"
    r"|monthly (?:limit|quota)|spending limit|\"code\"\s*:\s*\"?1308\b",
    re.IGNORECASE,
)
_OVERLOADED = re.compile(
    r"overload|service.?unavailable|server(?:s? (?:is|are)(?: currently)? |_)busy|at capacity"
    r"|temporarily unavailable|usage_unavailable|high demand|resource.?exhausted"
    r"|try again later|currently loading|model is loading|\b(?:503|529)\b",
    re.IGNORECASE,
)
_AUTH = re.compile(
    r"invalid.{0,12}(?:api.?key|x-api-key|token|credential)|unauthorized|authentication"
    r"|incorrect api key|\b401\b|permission_error|forbidden",
    re.IGNORECASE,
)
_BAD_KEY = re.compile(r"API_KEY_INVALID|api key (?:not valid|expired|not found)", re.IGNORECASE)
"""What Google says with status 400."""
_COMES_BACK = re.compile(r'"retryDelay"', re.IGNORECASE)
_DAILY = re.compile(r"per.?day", re.IGNORECASE)
"""Google words every limit as a quota: what tells them apart is a delay, and which limit it was."""
_LASTING = re.compile(r"(?:is|are) not supported|failed to parse tool call", re.IGNORECASE)
"""What llama.cpp says with status 500 of requests that never can succeed."""
_PASSING = re.compile(
    r"\b(?:408|429|500|502|503|504|52\d|529)\b|internal.?(?:server.?)?error|server.?error|api_error"
    r"|bad gateway|gateway time|upstream|provider returned (?:an )?error"
    r"|timed? ?out|fetch failed|\beconn|\bepipe|enotfound|eai_again|getaddrinfo|socket hang up"
    r"|connection (?:was )?(?:reset|refused|closed|error|lost)|other side closed|terminated|network"
    r"|reset before headers|request to \S{1,200} failed|websocket|http/?2|pending stream|premature"
    r"|stream (?:ended|was|disconnected)|ended without|cut short|retry delay"
    r"|(?:retry|try) your request",
    re.IGNORECASE,
)
_IN_TEXT = re.compile(
    r"(?:retry|try again|available|reset)\w{0,4}\s*(?:after|in)\s*:?\s*"
    r"((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)"
    r"(?![a-z])[\s,]*(?:and\s+)?)+)",
    re.IGNORECASE,
)
_IN_FIELD = re.compile(
    r'"retry_?(?:delay|after)"\s*:\s*"?(\d+(?:\.\d+)?)\s*(ms|s|m)?', re.IGNORECASE
)
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|milli|s|m|h|d)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_HEAD = re.compile(r"<head\b", re.IGNORECASE)
_HEAD_END = re.compile(r"</head\s*>", re.IGNORECASE)
_MARKUP = re.compile(
    r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^>]{0,500}>", re.IGNORECASE | re.DOTALL
)
_KEYLIKE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|AIza|ghp|hf|key)[-_][A-Za-z0-9*._-]{6,}|\bAIza[\w-]{20,}"
    r"|(?<=[Bb]earer )[\w.~+/=*-]{6,}|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """What sort of failure it is."""

    code: str
    retryable: bool


def classify(text: str, status: int | None = None) -> Kind:
    """The sort of a failure by its words and its status."""
    by_status = _by_status(text, status) if status is not None else None
    if by_status is not None:
        return by_status
    if _OVERFLOW.search(text) and not _RATE.search(text):
        return Kind("context_overflow", False)
    if re.search(r"\b413\b", text):
        return Kind("context_overflow", False)
    if _QUOTA.search(text):
        return Kind("quota_exceeded", False)
    if _RATE.search(text) or re.search(r"\b429\b", text):
        return Kind("rate_limited", True)
    if _AUTH.search(text):
        return Kind("auth_failed", False)
    if _OVERLOADED.search(text):
        return Kind("overloaded", True)
    return Kind("provider_error", bool(_PASSING.search(text)))


def _by_status(text: str, status: int) -> Kind | None:
    if status == 429:
        return Kind("quota_exceeded", False) if _spent(text) else Kind("rate_limited", True)
    refused_key = status in (401, 403) and not _QUOTA.search(text)
    if refused_key or (status == 400 and _BAD_KEY.search(text)):
        return Kind("auth_failed", False)
    if status == 402:
        return Kind("quota_exceeded", False)
    if _OVERFLOW.search(text) and not _RATE.search(text):
        return Kind("context_overflow", False)
    if status == 413:
        return Kind("context_overflow", False)
    if status in (503, 529):
        return Kind("overloaded", True)
    if status >= 500 or status in (408, 409, 425):
        code = "overloaded" if _OVERLOADED.search(text) else "provider_error"
        return Kind(code, not _LASTING.search(text))
    if status == 407:
        return Kind("provider_error", False)
    return Kind("quota_exceeded", False) if _QUOTA.search(text) else Kind("provider_error", False)


def _spent(text: str) -> bool:
    """Whether a quota is used up for long, rather than reached for a moment."""
    if not _QUOTA.search(text):
        return False
    return bool(_DAILY.search(text)) or not _COMES_BACK.search(text)


def refused(
    status: int,
    body: str,
    headers: Mapping[str, str],
    *,
    provider: str,
    secrets: Sequence[str] = (),
    now: datetime | None = None,
) -> ModelError:
    """The error of an answer that is no 2xx; names of headers are lower case."""
    words = provider_words(body)
    kind = classify(f"{words}\n{body[:LOOKED_AT]}", status)
    told = headers.get("x-should-retry")
    if told in ("true", "false") and kind.code != "context_overflow":
        kind = Kind(kind.code, told == "true")
    said = scrub(words, secrets)
    if status == 407:
        return _error(
            kind,
            f"The proxy wants a login (HTTP 407){_colon(said)}",
            provider=provider,
            status=status,
            hint="Put user and password into the proxy variable: http://user:password@host:port",
        )
    return _error(
        kind,
        f"{provider} {_VERBS[kind.code]} (HTTP {status}){_colon(said)}",
        provider=provider,
        status=status,
        hint=UNKNOWN if status == 404 else None,
        retry_after=retry_after(headers, body, now=now),
    )


def moved(status: int, where: str, *, provider: str, secrets: Sequence[str] = ()) -> ModelError:
    """The error of a redirect, which is not followed: a key goes only where a person sent it."""
    return ModelError(
        f"{provider} is elsewhere (HTTP {status}): {scrub(_plain(where), secrets)}",
        hint=f"Correct providers.{provider}.baseUrl in models.json.",
        status=status,
        provider=provider,
    )


def no_answer(text: str, *, provider: str) -> ModelError:
    """The error of an answer that said 200 and was none: what it said instead."""
    words = provider_words(text)
    kind = classify(words)
    if kind.code == "provider_error":
        kind = Kind("provider_error", True)
    said = scrub(words, ())
    return _error(kind, f"{provider} gave no answer{_colon(said)}", provider=provider, status=None)


def in_stream(error: JsonValue, *, provider: str, secrets: Sequence[str] = ()) -> ModelError:
    """The error that a provider sent as an event after its headers had said 200."""
    body = json.dumps(error, ensure_ascii=False)
    words = _plain(_message_in(error, 0))
    status = _status_in(error)
    if status is not None and not 400 <= status < 600:
        status = None
    kind = classify(f"{words}\n{body[:LOOKED_AT]}", status)
    known = error.get("type") if isinstance(error, dict) else None
    if kind.code == "provider_error" and not (
        status or (isinstance(known, str) and known.startswith("invalid_request"))
    ):
        kind = Kind("provider_error", True)
    said = scrub(words, secrets)
    return _error(
        kind,
        f"{provider} {_VERBS[kind.code]} while it answered{_colon(said)}",
        provider=provider,
        status=status,
        retry_after=retry_after({}, body),
    )


def broken(what: str, *, provider: str, secrets: Sequence[str] = ()) -> ModelError:
    """The way to the provider broke: the same request may succeed later."""
    return ModelError(scrub(f"{provider}: {what}", secrets), retryable=True, provider=provider)


_VERBS = {
    "context_overflow": "says the request is larger than the model's context",
    "quota_exceeded": "says the quota is used up",
    "rate_limited": "asks to slow down",
    "auth_failed": "refused the key",
    "overloaded": "is overloaded",
    "provider_error": "failed",
}


def _error(
    kind: Kind,
    message: str,
    *,
    provider: str,
    status: int | None,
    hint: str | None = None,
    retry_after: float | None = None,
) -> ModelError:
    make = ContextOverflow if kind.code == "context_overflow" else ModelError
    return make(
        message,
        code=kind.code,
        hint=hint or HINTS.get(kind.code),
        retryable=kind.retryable,
        retry_after=retry_after,
        status=status,
        provider=provider,
    )


def _colon(said: str) -> str:
    return f": {said}" if said else "."


def provider_words(body: str) -> str:
    """What a body says to a person: the message in its JSON, or its text without tags."""
    try:
        value = decoded(body)
    except ValueError:
        return _plain(_without_markup(body))
    return _plain(_message_in(value, 0) or (body if value else ""))


def _without_markup(page: str) -> str:
    start = _HEAD.search(page)
    end = _HEAD_END.search(page, start.end()) if start else None
    if start and end:
        page = f"{page[: start.start()]} {page[end.end() :]}"
    return _MARKUP.sub(" ", page)


def _plain(text: str) -> str:
    """One line of signs that can be printed, not endless; nothing of what is no text at all."""
    text = text[:LOOKED_AT]
    if text.count("\ufffd") * 10 > len(text):
        return ""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _message_in(value: JsonValue, depth: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and depth < 4:
        return _message_in(value[0], depth + 1)
    if not isinstance(value, dict) or depth > 4:
        return ""
    for key in ("message", "error", "detail", "msg", "error_description", "title"):
        found = _message_in(value.get(key), depth + 1)
        if found:
            raw = value.get("metadata")
            inner = raw.get("raw") if isinstance(raw, dict) else None  # how OpenRouter quotes
            return f"{found} ({inner})" if isinstance(inner, str) and inner else found
    word = value.get("type") or value.get("code")
    return str(word) if isinstance(word, str | int) else ""


def _status_in(error: JsonValue) -> int | None:
    if not isinstance(error, dict):
        return None
    for key in ("status", "code", "status_code", "http_code"):
        value = error.get(key)
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def scrub(text: str, secrets: Sequence[str], *, limit: int = WORDS) -> str:
    """The text, shortened, without the keys given and without anything that looks like one."""
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, HIDDEN)
    text = _KEYLIKE.sub(HIDDEN, text)
    return cut(text, limit)


def hide(error: ModelError, secrets: Sequence[str]) -> None:
    """Take keys out of an error that was made without knowing them."""
    error.args = (scrub(error.message, secrets, limit=len(error.message)),)


def retry_after(
    headers: Mapping[str, str], body: str, *, now: datetime | None = None
) -> float | None:
    """Seconds the provider asks to wait: by header, else by its words."""
    asked = _asked(headers, body, now)
    return None if asked is None else min(asked, LONGEST)


def _asked(headers: Mapping[str, str], body: str, now: datetime | None) -> float | None:
    low = {key.lower(): value.strip() for key, value in headers.items()}
    milliseconds = _number(low.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    given = low.get("retry-after", "")
    seconds = _number(given)
    if seconds is not None:
        return seconds
    if given:
        try:
            moment = parsedate_to_datetime(given)
        except (ValueError, OverflowError):
            return _in_words(body)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
    return _in_words(body)


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d+(?:\.\d+)?", text) else None


def _in_words(body: str) -> float | None:
    body = body[:LOOKED_AT]
    match = _IN_TEXT.search(body)
    if match is None:
        match = _IN_FIELD.search(body)
        if match is None:
            return None
        return float(match[1]) * _SECONDS[(match[2] or "s").lower()]
    return sum(float(n) * _SECONDS[unit.lower()] for n, unit in _SPAN.findall(match[1]))
