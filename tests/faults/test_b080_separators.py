"""Only the framing ends a message; a text may hold any separator."""

from __future__ import annotations

import pytest
from tests.rpc.processes import greeted

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


async def test_separators_inside_texts() -> None:
    async with greeted() as client:
        text = "a\u2028b\u2029c\u0085d\x0ce"
        assert await client.call("example/echo", {"x": text}) == {"x": text}
