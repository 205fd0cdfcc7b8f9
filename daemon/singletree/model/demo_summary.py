"""How the demo model sums up a conversation: the asked sections, filled by rules.

It only lifts the user's words and the names of files, and says that it did no more. Never knows who
asks. Read next: demo.py.
"""

from __future__ import annotations

import re

from singletree.messages import UserMessage, text_of
from singletree.model.base import ModelRequest

SECTIONS = (
    "Goal",
    "Constraints & Preferences",
    "Progress",
    "Key Decisions",
    "Next Steps",
    "Critical Context",
)
NOTHING = "- (none noted)"
BY_RULES = "- This summary was made by the demo model, by rules: it only keeps the user's words."
KEPT_WORDS = 12
_TAG = re.compile(r"<conversation>(.*?)</conversation>", re.DOTALL)
_USER = re.compile(r"^[\[#*\s]*user[\]*]*\s*:\s*(.+)$", re.IGNORECASE | re.MULTILINE)


def is_summary_request(request: ModelRequest) -> bool:
    """A request for a summary: no tools, and a conversation in its tag."""
    return not request.tools and bool(_TAG.search(_asked(request)))


def summarize(request: ModelRequest) -> str:
    """The sections of the request's own form, or the usual six."""
    asked = _asked(request)
    talk = "\n".join(_TAG.findall(asked))
    form = _TAG.sub("", asked)
    heads = list(dict.fromkeys(re.findall(r"^(#{2,3} .+)$", form, re.MULTILINE)))
    said = [words.strip()[:200] for words in _USER.findall(talk) if words.strip()]
    return "\n\n".join(_section(head, said) for head in heads or [f"## {s}" for s in SECTIONS])


def _section(head: str, said: list[str]) -> str:
    name = head.lstrip("# ").casefold()
    if name.startswith(("goal", "original request")) and said:
        return f"{head}\n{said[0]}"
    if name.startswith(("done", "progress so far")) and said:
        return head + "\n" + "\n".join(f"- [x] {words}" for words in said[-KEPT_WORDS:])
    if name.startswith(("critical context", "context needed")):
        return f"{head}\n{BY_RULES}"
    return head if name == "progress" else f"{head}\n{NOTHING}"


def _asked(request: ModelRequest) -> str:
    users = (m for m in request.messages if isinstance(m, UserMessage))
    return "\n".join(text_of(m.content) for m in users)
