"""stdout belongs to the protocol, whoever prints."""

from __future__ import annotations

import pytest
from tests.rpc.processes import greeted

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


async def test_nothing_but_frames_on_stdout() -> None:
    async with greeted() as client:
        assert await client.call("example/stray") == {"child read": 0}
        assert await client.call("example/echo", {"x": 1}) == {"x": 1}
        assert client.broken is None
