"""Whose turn it is to start a shared daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from singletree.rpc.doors.detach import _turn


def test_one_has_the_turn_and_whoever_comes_after_has_the_next(tmp_path: Path) -> None:
    place = tmp_path / "d.sock"
    with _turn(place) as first, _turn(place) as second:
        assert (first, second) == (True, False)
    with _turn(place) as third:
        assert third


def test_a_start_that_fails_tells_its_own_failure(tmp_path: Path) -> None:
    with pytest.raises(BlockingIOError, match="no more processes"), _turn(tmp_path / "d.sock"):
        raise BlockingIOError("no more processes")
