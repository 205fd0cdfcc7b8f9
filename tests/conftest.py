"""What every test has: a shut network, a detector for a blocked loop, a private home."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from blockbuster import BlockBuster, blockbuster_ctx
from hypothesis import settings
from pydantic import TypeAdapter

settings.register_profile("house", deadline=None)  # the clock of a busy machine proves nothing
settings.load_profile("house")

TypeAdapter(int)  # pydantic reads the disk for its plugins once: now, and not inside a loop


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The vectors are too many for the fast loop."""
    for item in items:
        if "vectors" in item.path.parts:
            item.add_marker("vectors")


NOT_RUN = "not run: "


def not_run(needs: str) -> NoReturn:
    """A suite with a real client can't run on this machine: it is named at the end of the run."""
    pytest.skip(f"{NOT_RUN}{needs}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the suites that could not run, with what each of them needs."""
    missing: Counter[tuple[str, str]] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        _, told, needs = reason.partition(NOT_RUN)
        if told:
            missing[report.nodeid.rpartition("/")[0], needs] += 1
    if missing:
        terminalreporter.section("NOT RUN", yellow=True)
    for (suite, needs), tests in sorted(missing.items()):
        terminalreporter.write_line(f"{suite}: {tests} tests were not run. They need {needs}.")


MAY_BLOCK = {"append", "move", "take_in", "_read"}
"""Of the history: the write of one entry, and reading the bodies of a page."""


@pytest.fixture(autouse=True)
def loop_is_free(request: pytest.FixtureRequest) -> Iterator[BlockBuster | None]:
    """Fail a test in which our own code blocks the event loop.

    The one write per entry may stand in the loop (a file append is some microseconds).
    """
    if request.node.get_closest_marker("slow") or request.node.get_closest_marker("client"):
        yield None
        return
    with blockbuster_ctx("singletree") as detector:
        for function in detector.functions.values():
            function.can_block_in("singletree/history/record.py", MAY_BLOCK)
            function.can_block_in("singletree/host/host.py", {"place"})  # a few lstat calls
            function.can_block_in("singletree/model/script.py", {"read_script"})
        for name in ("os.write", "io.BufferedWriter.write", "os.stat"):
            if name in detector.functions:
                detector.functions[name].deactivate()
        yield detector


@pytest.fixture(autouse=True)
def own_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A home and an agent folder of its own; no key of the machine's leaks in."""
    home = tmp_path_factory.mktemp("home")
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GROQ_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(home / ".pi" / "agent"))
    yield home


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reaches beyond this machine."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test tried to reach {address!r}")
        real(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", connect)
