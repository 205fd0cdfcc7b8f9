"""Pictures that settings keep from models."""

from __future__ import annotations

from tests.context.making import says, user

from singletree.messages import Block, Image, Text, ToolResultMessage, UserMessage
from singletree.session.pictures import BLOCKED, without_pictures

PICTURE = Image(data="aGk=", mime_type="image/png")
NOTE = Text(text=BLOCKED)


def test_one_note_stands_for_each_row_of_pictures() -> None:
    word = Text(text="a")
    content: list[Block] = [PICTURE, PICTURE, word, PICTURE]
    said = UserMessage(content=content)
    brought = ToolResultMessage(tool_call_id="c1", content=content)
    plain = (user("b"), says("c"))
    found = without_pictures([said, brought, *plain])
    assert [message.content for message in found[:2]] == [[NOTE, word, NOTE]] * 2
    assert found[2:] == list(plain)
    assert said.content == content
