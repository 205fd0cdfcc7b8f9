"""A stream that stays open and says nothing, or only pings."""

from __future__ import annotations

import anyio
import pytest
from tests.model.fake_server import Reply, events, serving
from tests.model.talk import asked, failure, model_at, play

from singletree.model.base import Terms, TextDelta

DELTA = events({"choices": [{"delta": {"content": "par"}}]})
LIMIT = Terms(first=5, between=0.4)


async def test_silence_after_a_delta_is_a_retryable_error() -> None:
    async with (
        serving([Reply([DELTA], hold=True)]) as server,
        model_at(server, terms=LIMIT) as model,
    ):
        with anyio.fail_after(1.5):
            seen, error = await failure(model)
    assert seen == [TextDelta(0, "par")]
    assert error.retryable
    assert error.message == "fake: nothing came for 0.4 seconds"


@pytest.mark.parametrize(
    "said",
    [
        b": ping\n\n",
        b"event: ping\ndata: {}\n\n",
        b'event: ping\ndata: {"type": "ping", "n": 1234}\n\n',
        b"data: {}\n\n",
        b"data:\n\n",
        b'data: {"type": "ping"}\n\n',
    ],
)
async def test_pings_are_no_life(said: bytes) -> None:
    ping: list[bytes | float] = [0.2, said]
    pings = [DELTA, *ping * 50]
    async with serving([Reply(pings)]) as server, model_at(server, terms=LIMIT) as model:
        with anyio.fail_after(1.5):
            _, error = await failure(model)
    assert error.retryable


async def test_the_first_token_has_its_own_limit() -> None:
    slow: list[bytes | float] = [0.8, DELTA]
    async with (
        serving([Reply(slow, hold=True)]) as server,
        model_at(server, terms=LIMIT) as model,
    ):
        seen, _ = await failure(model)
    assert seen == [TextDelta(0, "par")]


async def test_without_a_limit_an_abort_ends_at_once() -> None:
    async with (
        serving([Reply([DELTA], hold=True)]) as server,
        model_at(server, terms=Terms(first=0, between=0)) as model,
    ):
        with anyio.move_on_after(0.5):
            await play(model, asked("hi"))
        with anyio.fail_after(1):
            await server.empty.wait()
