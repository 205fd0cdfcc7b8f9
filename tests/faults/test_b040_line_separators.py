"""Unicode's own line ends inside the JSON of an event."""

from __future__ import annotations

from tests.model.fake_server import Reply, events, serving
from tests.model.talk import answer, model_at

from singletree.messages import text_of


async def test_only_lf_crlf_and_cr_end_a_line() -> None:
    data = 'data: {"choices":[{"delta":{"content":"a\u2028b\u0085c\\fd"}}]}\n\n'.encode()
    end = events({"choices": [{"delta": {}, "finish_reason": "stop"}]}, "[DONE]")
    async with serving([Reply([data, end])]) as server, model_at(server) as model:
        assert text_of((await answer(model, "hi")).content) == "a\u2028b\u0085c\x0cd"
