"""What every test has: a shut network, a detector for a blocked loop, a private home."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from blockbuster import BlockBuster, blockbuster_ctx
from hypothesis import settings
from pydantic import TypeAdapter

from singletree.model.catalogue import PROVIDERS

settings.register_profile("house", deadline=None)  # the clock of a busy machine proves nothing
settings.load_profile("house")

TypeAdapter(int)  # pydantic reads the disk for its plugins once: now, and not inside a loop


Missing = Counter[tuple[str, str]]
MISSING = pytest.StashKey[Missing]()


def needs(what: str, there: bool) -> pytest.MarkDecorator:
    """Mark tests that need something real: where it isn't there they are named at the end.

    They are not collected then, so a test is never counted that was not run:
    `pytestmark = [pytest.mark.client, needs("Neovim", shutil.which("nvim") is not None)]`
    """
    return pytest.mark.needs(what, there)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Mark the vectors, too many for the fast loop; leave out what this machine can't run."""
    for item in items:
        if "vectors" in item.path.parts:
            item.add_marker("vectors")
    yield  # pytest leaves out what nobody asked for: that is not missed
    missing: Missing = Counter()
    for item in list(items):
        absent = [mark.args[0] for mark in item.iter_markers("needs") if not mark.args[1]]
        if absent:
            missing[item.nodeid.partition("::")[0], " and ".join(absent)] += 1
            items.remove(item)
            config.hook.pytest_deselected(items=[item])
    config.stash[MISSING] = missing


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name the suites that were left out, with what each of them needs."""
    for (suite, what), tests in sorted(config.stash.get(MISSING, Missing()).items()):
        line = f"not run here: {suite} ({tests} tests), needs {what}"
        terminalreporter.write_line(line, yellow=True)


MAY_BLOCK = {"append", "create", "move", "take_in", "_read"}
"""Of the history: the write of one entry, or of the header, and reading the bodies of a page."""


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
            function.can_block_in("singletree/host/claim.py", {"hide", "show", "leave"})
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
    for name in (variable for provider in PROVIDERS.values() for variable in provider.env):
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
