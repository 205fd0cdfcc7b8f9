"""A small sign beside the conversation, as a value that every face can show. Nobody answers it.

Read next: dialog.py (what is answered), api.py (who may put one up).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pydantic import JsonValue

SignKind = Literal["status", "widget", "title", "editorText", "notice"]

LASTING: Final[frozenset[SignKind]] = frozenset({"status", "widget", "title"})
"""Kinds that stay until they are taken away; the others happen once."""


@dataclass(frozen=True, slots=True)
class Sign:
    """`payload` is a text, for a widget a list of lines; None takes away what stands under `key`.

    `status`: a few words. `title`: what the conversation is called. `editorText`: put into the
    input. `notice`: said once.
    """

    kind: SignKind
    key: str
    payload: JsonValue
