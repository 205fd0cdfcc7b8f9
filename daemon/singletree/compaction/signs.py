"""What an error or a stop reason tells: too long for the window, worth another try, or neither.

Pure functions on texts and figures; the wordings are those servers are known to use. Never decides
what to do. Read next: session/recovery.py, which does.
"""

from __future__ import annotations

import re

from singletree.messages import Usage

_OVERFLOW = re.compile(
    r"""
      context[_ ](length|window|limit)[_ ]?(is\s)?(exceeded|full|overflow)
    | (maximum|max|available)\ context\ (length|size|window)
    | exceed\w*\ (the\ |its\ )?(model'?s?\ )?(maximum\ |max\ |available\ )?
      (context|input\ (token|length))
    | (prompt|input|request|message|messages|conversation)\ (is\ |are\ )?too\ (long|large|big)
    | (prompt|input|request|context)\ (token\ count|tokens?|length)\ (\(\d+\)\ )?(is\ |of\ \d+\ )?
      (exceeds?|is\ (too|greater|larger))
    | too\ many\ (input\ |prompt\ )?tokens(?!\ (per|a)\b)
    | (input|prompt)\ token\ count .{0,40} exceeds
    | reduce\ the\ length\ of\ (the|your)\ (messages|prompt|input)
    | larger\ than\ the\ (context|model)
    | (token|prompt|context)\ limit\ exceeded
    | (greater|more|longer|larger)\ than\ the\ (maximum\ )?(context|allowed\ input|window)
    | context\ shift\ is\ disabled
    | model_context_window_exceeded | context_length_exceeded | request_too_large
    | n_ctx | maximum\ prompt\ length | maximum\ allowed\ input\ length
    | ^\s*413\b | \b413\ (status|request|payload|content) | \b(status|code|http)[\ :=]*413\b
    | (payload|content|request\ entity|request\ body)\ too\ large
    """,
    re.IGNORECASE | re.VERBOSE,
)
_RATE = re.compile(
    r"""
      rate[\ _-]?limit | too\ many\ requests | ^\s*429\b | requests?\ per\ (minute|second|day)
    | tokens?\ per\ (min|minute|second|day|hour) | throttl | \bTPM\b | \bRPM\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FOR_GOOD = re.compile(
    r"""
      insufficient[_\ ](quota|funds|credit|balance) | exceeded\ your\ current\ quota | billing
    | credit\ balance | payment\ required | usage\ limit | quota\ exceeded | monthly\ limit
    | invalid[\ _-]?(x-)?api[\ _-]?key | unauthorized | authentication | permission\ denied
    | ^\s*(400|401|402|403|404|405|422)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PASSING = re.compile(
    r"""
      overloaded | over\ capacity | at\ capacity | server\ (is\ )?busy | high\ demand
    | ^\s*(408|409|425|429|5\d\d)\b | \b(status|code|http)[\ :=]*(408|429|5\d\d)\b
    | internal\ (server\ )?error | server[_\ ]error | bad\ gateway | gateway\ time-?out
    | service\ (is\ )?(temporarily\ )?unavailable | temporarily\ unavailable | try\ again
    | fetch\ failed | network\ (error|failure|is\ unreachable) | connection\ .{0,30}
      (error|lost|reset|refused|closed|aborted|terminated|failed) | connect(ion)?\ error
    | E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND)
    | socket\ hang\ up | other\ side\ closed | broken\ pipe | name\ resolution
    | timed?[\ -]?out | deadline\ exceeded | silent\ for
    | (stream|response|body|message)\ .{0,30}(ended|closed|cut|interrupted|incomplete|terminated)
    | (ended|closed|stopped)\ (early|unexpectedly|without|before) | peer\ closed | incomplete\ read
    """,
    re.IGNORECASE | re.VERBOSE,
)

NEARLY_FULL = 0.99


def is_overflow(message: str | None) -> bool:
    """The error says that the request was too large for the model's window."""
    if not message or is_rate_limit(message):
        return False
    return bool(_OVERFLOW.search(message))


def is_rate_limit(message: str | None) -> bool:
    """The error says that too much was asked in too short a time."""
    return bool(message and _RATE.search(message))


def is_retryable(message: str | None) -> bool:
    """The same request may succeed later: overload, rate limits, 5xx, network. Not quota."""
    if not message or is_overflow(message) or _FOR_GOOD.search(message):
        return False
    return bool(is_rate_limit(message) or _PASSING.search(message))


def overflowed_silently(stop_reason: str, usage: Usage, window: int) -> bool:
    """A server that cuts the input instead of refusing it: figures that can't be."""
    if window <= 0:
        return False
    sent = usage.input + usage.cache_read
    match stop_reason:
        case "stop":
            return sent > window
        case "length":
            return usage.output == 0 and sent >= window * NEARLY_FULL
        case _:
            return False


def length_is_recoverable(stop_reason: str, output: int, max_output: int) -> bool:
    """Cut below the model's own output limit: the window was full, compaction helps."""
    return stop_reason == "length" and output < max_output


def retry_delay_ms(attempt: int, base_ms: int = 2000, cap_ms: int = 60_000) -> int:
    """The wait before attempt 1, 2, …: doubled each time, up to the cap."""
    return min(base_ms << min(max(attempt, 1) - 1, 40), cap_ms)
