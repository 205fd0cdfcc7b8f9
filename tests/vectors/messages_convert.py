"""Checks of the `convert` groups of the family `messages`: our second stage, `to_llm`.

System messages of a pi file are history for us and never sent: our prompt is made anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.vectors.runner import Case, Check
from tests.vectors.wording import marked_in

from singletree.context.projection import to_llm
from singletree.messages import AGENT_MESSAGE
from singletree.session.pictures import BLOCKED, without_pictures

NOTE = {"type": "text", "text": "‹P:image-blocked›"}
NOTES = re.compile(r"‹P:[^›]*›|" + re.escape(BLOCKED))


def convert(case: Case) -> None:
    """Stored messages come out as they were; all others in the form of the vector."""
    given = [AGENT_MESSAGE.validate_python(raw) for raw in case.input["messages"]]
    sent = [raw for raw in case.expected if raw["role"] != "system"]
    stored = [AGENT_MESSAGE.validate_python(raw).dump() for raw in sent]
    assert [marked_in(message.dump()) for message in to_llm(given)] == stored


def blocked(case: Case) -> None:
    """The same where settings keep pictures from models: a note stands for each row of them."""
    given = [AGENT_MESSAGE.validate_python(raw) for raw in case.input["messages"]]
    found = [message.dump() for message in without_pictures(to_llm(given))]
    stored = [AGENT_MESSAGE.validate_python(raw).dump() for raw in case.expected]
    assert [noted(marked_in(message)) for message in found] == [noted(raw) for raw in stored]


def noted(message: dict[str, Any]) -> dict[str, Any]:
    """A text block that is nothing but a note, as one mark for whichever wording."""
    content = message["content"]
    if isinstance(content, list):
        message["content"] = [NOTE if NOTES.fullmatch(b.get("text", "")) else b for b in content]
    return message


CHECKS: Mapping[str, Check] = {"convert": convert, "convert_images_blocked": blocked}
