"""Comments, empty data, missing spaces, CRLF, null and odd chunks in one stream."""

from __future__ import annotations

import pytest
from tests.model.fake_server import Reply, serving
from tests.model.talk import answer, model_at

from singletree.messages import text_of

PARTS = [
    b": warming\n\n",
    b'data:{"choices":[{"delta":{"role":"assistant"}}]}\n\n',
    b"event: ping\ndata: {}\n\n",
    b"data:\n\n",
    b":\n",
    b'data: {"choices":[{"delta":{"content":"A"}}]}\r\n\r\n',
    b'data: {"choices":[]}\n\n',
    b'data: {"choices":[{"delta":{}}]}\n\n',
    b'data: {"choices":[{"delta":{"content":null}}]}\n\n',
    b'data: {"choices":[{"delta":{"content":"B"},"finish_reason":"stop"}],"usage":null}\n\n',
    b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}\n\n',
    b"data: [DONE]\n\n",
]
WHOLE = b"".join(PARTS)


@pytest.mark.parametrize(
    "pieces",
    [PARTS, [WHOLE], [WHOLE[i : i + 1] for i in range(len(WHOLE))]],
    ids=["event by event", "one write", "byte by byte"],
)
async def test_all_dialects_at_once(pieces: list[bytes]) -> None:
    async with serving([Reply(pieces)]) as server, model_at(server) as model:
        message = await answer(model, "hi")
    assert text_of(message.content) == "AB"
    assert message.stop_reason == "stop"
    assert (message.usage.input, message.usage.output, message.usage.total_tokens) == (9, 2, 11)


async def test_a_comment_inside_an_event_does_not_end_it() -> None:
    reply = Reply(
        [
            b'data: {"choices":[{"delta":\n: still here\ndata: {"content":"A"}}]}\n\n',
            b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
        ]
    )
    async with serving([reply]) as server, model_at(server) as model:
        assert text_of((await answer(model, "hi")).content) == "A"
