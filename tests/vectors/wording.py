"""Our own wording, brought to the markers that stand for wording in the vectors."""

from __future__ import annotations

import re
from typing import Any

from singletree.compaction import prompts
from singletree.context import projection as p

_WORDS = {
    p.COMPACTION_INTRO: "‹P:compaction-intro›",
    p.BRANCH_INTRO: "‹P:branch-intro›",
    p.BASH_RAN: "‹P:ran›",
    p.BASH_NO_OUTPUT: "‹P:no-output›",
    p.BASH_CANCELLED: "‹P:cancelled›",
    prompts.TURN_HEADING: "‹P:turn-context-heading›",
    prompts.BRANCH_PREAMBLE: "‹P:branch-preamble›",
    prompts.NOTHING: "‹P:nothing-to-summarize›",
}
_EXIT = re.compile(re.escape(p.BASH_EXIT).replace(r"\{code\}", r"(-?\d+)"))
_CUT = re.compile(re.escape(p.BASH_CUT).replace(r"\{path\}", r"(.+?)"))


def marked(text: str) -> str:
    """The text with our phrases as markers."""
    for words, mark in _WORDS.items():
        text = text.replace(words, mark)
    text = _EXIT.sub(r"‹P:exit-code \1›", text)
    return _CUT.sub(r"‹P:output-truncated \1›", text)


def marked_in(value: Any) -> Any:
    """The same in every string of a JSON value."""
    if isinstance(value, str):
        return marked(value)
    if isinstance(value, list):
        return [marked_in(item) for item in value]
    if isinstance(value, dict):
        return {key: marked_in(item) for key, item in value.items()}
    return value
