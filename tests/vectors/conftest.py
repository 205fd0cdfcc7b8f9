"""At the end of a run: a line for each family of vectors."""

from __future__ import annotations

import pytest
from tests.vectors import runner


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in sorted(runner.LINES):
        terminalreporter.write_line(line)
