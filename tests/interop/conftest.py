"""pi for the tests of this folder, and a workspace that both programs work in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from tests.daemon.real import Place, place
from tests.interop.install import Installed, found
from tests.interop.llm import reply
from tests.interop.pi import settle_in
from tests.model.fake_server import FakeServer, serving


@dataclass(frozen=True)
class Ground:
    """Where both work: one workspace, one agent folder, one model."""

    pi: Installed
    where: Place
    server: FakeServer


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    """A workspace with a file in it, and a model that answers (from a thread of its own)."""
    pi = found()
    assert pi is not None
    where = place(tmp_path)
    (where.folder / "a.txt").write_text("hello\n")
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serving(reply)) as server,
    ):
        settle_in(where.agent_dir, server.url)
        yield Ground(pi, where, server)
