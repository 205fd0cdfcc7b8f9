"""How long a provider asks to wait; nothing is repeated below the session."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from tests.model.fake_server import Reply, refusal, serving
from tests.model.talk import failure, model_at


@pytest.mark.parametrize(
    ("reply", "seconds"),
    [
        (refusal(429, "", retry_after="2"), 2),
        (refusal(429, "", retry_after="1209600"), 1209600),
        (refusal(429, "retry in 0.05s"), 0.05),
    ],
)
async def test_the_wait_is_told_and_the_request_made_once(reply: Reply, seconds: float) -> None:
    async with serving([reply]) as server, model_at(server) as model:
        _, error = await failure(model)
    assert error.retry_after == seconds
    assert (error.code, error.retryable, len(server.seen)) == ("rate_limited", True, 1)


async def test_a_date_three_seconds_ahead() -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=3), usegmt=True)
    async with serving([refusal(429, "", retry_after=then)]) as server, model_at(server) as model:
        _, error = await failure(model)
    assert error.retry_after is not None
    assert 1 < error.retry_after <= 3
