"""Checks of the `convert` groups of the family `messages`: our second stage, `to_llm`.

System messages of a pi file are history for us and never sent: our prompt is made anew.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.vectors.runner import Case, Check
from tests.vectors.wording import marked_in

from singletree.context.projection import to_llm
from singletree.messages import AGENT_MESSAGE


def convert(case: Case) -> None:
    """Stored messages come out as they were; all others in the form of the vector."""
    given = [AGENT_MESSAGE.validate_python(raw) for raw in case.input["messages"]]
    sent = [raw for raw in case.expected if raw["role"] != "system"]
    stored = [AGENT_MESSAGE.validate_python(raw).dump() for raw in sent]
    assert [marked_in(message.dump()) for message in to_llm(given)] == stored


CHECKS: Mapping[str, Check] = {"convert": convert, "convert_images_blocked": convert}
