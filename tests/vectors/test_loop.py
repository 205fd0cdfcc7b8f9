"""The loop's behaviour as measured on pi 1.6.0."""

from __future__ import annotations

from tests.vectors import flow_loop, runner


def test_loop() -> None:
    failed = runner.run("loop", flow_loop.CHECKS)
    assert failed == [], "\n".join(failed[:5])
