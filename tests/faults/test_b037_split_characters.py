"""A character cut by the network, at any byte."""

from __future__ import annotations

import pytest
from tests.model.fake_server import Reply, events, serving
from tests.model.talk import answer, model_at

from singletree.messages import text_of

EVENT = 'data: {"choices":[{"delta":{"content":"價格🙂"}}]}\n\n'.encode()
END = events({"choices": [{"delta": {}, "finish_reason": "stop"}]}, "[DONE]")


async def test_one_byte_a_write() -> None:
    reply = Reply([EVENT[i : i + 1] for i in range(len(EVENT))] + [END])
    async with serving([reply]) as server, model_at(server) as model:
        assert text_of((await answer(model, "hi")).content) == "價格🙂"


@pytest.mark.parametrize("pause", [0.0, 0.001])
async def test_a_cut_at_every_position(pause: float) -> None:
    replies = [Reply([EVENT[:at], pause, EVENT[at:], END]) for at in range(1, len(EVENT))]
    async with serving(replies) as server, model_at(server) as model:
        said = {text_of((await answer(model, "hi")).content) for _ in replies}
    assert said == {"價格🙂"}
