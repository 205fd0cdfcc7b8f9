"""Every stream of the family sse, cut once at every position: the same events each time."""

from __future__ import annotations

import pytest
from tests.vectors.runner import cases

from singletree.model.sse import ServerEvent, SSEDecoder


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_every_stream_at_every_cut() -> None:
    count = 0
    for case in cases("sse"):
        data = case.input.get("stream", "").encode("utf-8", "surrogatepass")
        whole = _events(data)
        for at in range(1, len(data)):
            assert _events(data[:at], data[at:]) == whole, (case.name, at)
            count += 1
    assert count > 100_000


def _events(*pieces: bytes) -> list[ServerEvent]:
    decoder = SSEDecoder()
    return [e for piece in pieces for e in decoder.feed(piece)] + decoder.close()
