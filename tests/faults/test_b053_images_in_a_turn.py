"""Pictures that the agent reads, with a provider that is strict: `hi` works after each of them."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.daemon.provider import MODEL, calls, provided, says
from tests.daemon.real import daemon, opened, place, prompt, settled
from tests.faults.test_b053_images import HTML, jpeg, pictures_of, png, strict
from tests.model.fake_server import Reply, Seen
from tests.tools.drawn import drawn

FILES = {
    "wide.png": (png(9000, 10), 1),
    "large.jpg": (jpeg(4_600_000), 0),
    "a.png": (drawn("BMP", 30, 30), 1),
    "b.png": (HTML, 0),
    "good.png": (png(20, 20), 1),
}


@pytest.mark.parametrize("sees", [True, False])
async def test_b053_hi_works_after_every_picture(tmp_path: Path, sees: bool) -> None:
    where = place(tmp_path)
    for name, (data, _) in FILES.items():
        await anyio.Path(where.folder / name).write_bytes(data)
    reads = [calls(("c", "read", {"path": name})) for name in FILES]
    turns = [turn for read in reads for turn in (read, says("seen"), says("hi"))]
    kinds = ["text", "image"] if sees else ["text"]
    async with (
        provided(where, turns, input=kinds) as server,
        daemon(where, model=MODEL) as client,
    ):
        server.rules.append(strict)
        session = await opened(client, where)
        for _ in FILES:
            for words in ("look", "hi"):
                await prompt(client, session, words)
                assert (await settled(client, session))["lastTurn"]["reason"] == "end_turn"
    shown = sum(count for _, count in FILES.values())
    assert len(list(pictures_of(server.bodies[-1]))) == (shown if sees else 0)


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_b053_thirty_large_pictures(tmp_path: Path) -> None:
    where = place(tmp_path)
    await anyio.Path(where.folder / "p.png").write_bytes(png(2100, 2100))

    def reply(seen: Seen) -> Reply:
        looked = len(list(pictures_of(seen.body)))
        return Reply(
            [calls((f"c{looked}", "read", {"path": "p.png"})) if looked < 30 else says("ok")]
        )

    async with (
        provided(where, reply, input=["text", "image"], contextWindow=1_000_000) as server,
        daemon(where, model=MODEL) as client,
    ):
        server.rules.append(strict)
        session = await opened(client, where)
        for words in ("look", "hi"):
            await prompt(client, session, words)
            assert (await settled(client, session, 100))["lastTurn"]["reason"] == "end_turn"
    assert len(list(pictures_of(server.bodies[-1]))) == 30
