"""Whether it is known how a word of a command line begins: an unseen option may run things.

What the line makes by itself (`$(…)`, `${x:-…}`, `$_`, what it may set without a doubt) and what
the disk makes (a glob) may begin with a dash; what a person's environment holds is theirs. Pure.
Read next: shell_words.py.
"""

from __future__ import annotations

import re

HARMLESS_SETTINGS = re.compile(
    r"(LANG|LC_\w+|TZ|CI|NO_COLOR|FORCE_COLOR|COLUMNS|LINES|TERM|NODE_ENV|RUST_BACKTRACE|RUST_LOG"
    r"|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE)"
)
"""What a line may set without making its commands others."""
_BEGUN = re.compile(
    r"""(?:(?:[\w./,:=+@%][\w./,:=+@%-]*|-[\w-]+=)"|"(?:[\w./,:=+@%][\w./,:=+@%-]*|-[\w-]+=))[^"]*\"""",
    re.ASCII,
)
"""A text, or an option with its `=`, and then anything in quotes."""
_OPTION = re.compile(r"-[\w-]+=", re.ASCII)
_BRACE = re.compile(r"(?<!\$)\{")
_MADE = re.compile(
    r"""`|\$\(|\$\{(?!\w+\})|\$\{?(?:[@*\d]|(?:_|REPLY|MAPFILE|OPTARG|DIRSTACK|BASH\w*)\b)"""
    rf"""|\$\{{?{HARMLESS_SETTINGS.pattern}\b""",
    re.ASCII,
)
"""An expansion whose value the line itself can make, without a doubt that says so."""


def begins_known(raw: str, text: str, *, fixed: bool, pattern: bool) -> bool:
    """Whether it is known how a word begins; `raw`: as it is written."""
    if pattern and (_BRACE.search(raw) or (text[:1] in "*?[-" and not _OPTION.match(text))):
        return False
    return fixed or not _MADE.search(raw) or _BEGUN.fullmatch(raw) is not None
