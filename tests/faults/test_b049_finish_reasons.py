"""Finish reasons that do not fit what was said."""

from __future__ import annotations

from typing import Any

import pytest
from tests.model.fake_server import chat, serving
from tests.model.talk import answer, model_at

from singletree.messages import text_of

CALL = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "ls", "arguments": "{}"}}]}
TEXT = {"content": "hi"}


@pytest.mark.parametrize(
    ("delta", "finish", "stop", "calls"),
    [
        (CALL, "stop", "stop", 1),
        (CALL, "end_turn", "stop", 1),
        (TEXT, "tool_calls", "toolUse", 0),
        (TEXT, "eos", "stop", 0),
        (TEXT, "MAX_TOKENS", "length", 0),
        ({}, "stop", "stop", 0),
    ],
)
async def test_what_was_said_decides(
    delta: dict[str, Any], finish: str, stop: str, calls: int
) -> None:
    async with serving([chat(delta, finish=finish)]) as server, model_at(server) as model:
        message = await answer(model, "hi")
    assert (message.stop_reason, len(message.tool_calls)) == (stop, calls)
    assert message.raw_stop_reason == finish


async def test_a_filter_is_told() -> None:
    async with serving([chat(TEXT, finish="content_filter")]) as server, model_at(server) as model:
        message = await answer(model, "hi")
    assert (message.stop_reason, text_of(message.content)) == ("error", "hi")
    assert message.error_message == "The provider's content filter ended the answer."
