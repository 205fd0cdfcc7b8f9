"""What is an answer to a dialog."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from singletree.extensions.dialog import Choosable, Dialog, Reply, show_nobody

SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"port": {"type": "integer", "minimum": 1}},
    "required": ["port"],
}
SELECT = Dialog("select", "?", options=(Choosable("a", "A"), Choosable("b", "B")))
FORM = Dialog("form", "?", schema=SCHEMA)


@pytest.mark.parametrize(
    ("dialog", "value", "taken"),
    [
        (SELECT, "a", True),
        (SELECT, "A", False),
        (SELECT, None, False),
        (Dialog("confirm", "?"), False, True),
        (Dialog("confirm", "?"), "yes", False),
        (Dialog("input", "?"), "", True),
        (Dialog("input", "?"), 1, False),
        (Dialog("editor", "?"), "two\nlines", True),
        (FORM, {"port": 80}, True),
        (FORM, {"port": 0}, False),
        (FORM, {}, False),
        (FORM, "80", False),
        (Dialog("form", "?"), {"anything": None}, True),
    ],
)
def test_answers(dialog: Dialog, value: JsonValue, taken: bool) -> None:
    assert dialog.takes(value) == taken


async def test_nobody_dismisses_it() -> None:
    assert await show_nobody(SELECT) == Reply(cancelled=True, by="policy")
