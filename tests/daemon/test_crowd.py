"""A crowd at one session: windows that come, crash, speak and stop at random, and miss nothing."""

from __future__ import annotations

import asyncio
import random

import pytest
from tests.daemon.mirror import Mirror, come_back
from tests.daemon.real import HELLO, opened, settled, text
from tests.daemon.shared import Shared, connected, shared
from tests.rpc.client import RawClient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

WINDOWS = 5
DEEDS = 25
TURNS = (
    {"thinking": "Hm. " * 20, "chunk": 6, "pause": 0.003, "call": "bash",
     "args": {"command": "for i in 1 2 3; do echo $i; sleep 0.03; done"}},
    {"text": "Some words of an answer. " * 20, "chunk": 7, "pause": 0.003},
    {"text": "A short one."},
    {"loop": True},
)  # fmt: skip


class Window:
    """One that knows the session from what it was told, over any number of connections."""

    def __init__(self, here: Shared, session_id: str, chance: random.Random, name: str) -> None:
        self.here = here
        self.session_id = session_id
        self.chance = chance
        self.hello = HELLO | {"clientId": name}
        self.mirror = Mirror()
        self.comes = 0

    async def live(self) -> None:
        done = 0
        while done < DEEDS:
            client = await connected(self.here.socket, self.hello)
            start = await come_back(client, self.mirror, self.session_id)
            self.comes += 1
            for _ in range(self.chance.randrange(1, 6)):
                await self.deed(client)
                done += 1
            await client.close()
            self.mirror.follow(client.frames[start:])

    async def deed(self, client: RawClient) -> None:
        session = {"sessionId": self.session_id}
        said = {**session, "content": text("go"), "clientMessageId": str(self.chance.random())}
        deeds = (
            ("agent/prompt", said | {"whenBusy": "followUp"}),
            ("agent/prompt", said | {"whenBusy": "steer"}),
            ("agent/steer", said),
            ("agent/abort", session | {"queue": self.chance.choice(["keep", "drop", "return"])}),
            ("agent/queue/clear", session),
            ("agent/bash", session | {"command": "echo by hand"}),
            ("agent/session/rename", session | {"name": str(self.chance.random())}),
            ("agent/session/state", session),
            ("agent/tree/get", session),
        )
        method, params = self.chance.choice(deeds)
        asked = client.request(method, params)
        if self.chance.random() < 0.8:  # else it does not wait, and may be gone before the answer
            answer = await client.answer(asked, 30)
            assert answer.get("error", {}).get("code", -32803) in (-32803, -32801), answer
        await asyncio.sleep(self.chance.random() * 0.1)


@pytest.mark.parametrize("seed", range(2))
async def test_a_crowd_misses_nothing(seed: int) -> None:
    with shared(*TURNS, arguments=["--mode=allowAll"]) as here:
        async with here.attached() as first:
            session_id = await opened(first, here.where)
            listener = Mirror()
            start = await come_back(first, listener, session_id)
            chance = random.Random(seed)
            windows = [
                Window(here, session_id, random.Random(chance.random()), f"w{n}")
                for n in range(WINDOWS)
            ]
            await asyncio.gather(*(window.live() for window in windows))
            await first.call("agent/abort", {"sessionId": session_id, "queue": "drop"}, 30)
            await settled(first, session_id, 60)
            listener.follow(first.frames[start:])
            for window in windows:
                client = await connected(here.socket, window.hello)
                start = await come_back(client, window.mirror, session_id)
                window.mirror.follow(client.frames[start:])
                known = {e["entry"]["id"] for e in window.mirror.events if e["type"] == "entry"}
                assert known <= {e["entry"]["id"] for e in listener.events if e["type"] == "entry"}
                await client.close()
            begun = listener.types().count("turn_started")
            assert begun == listener.types().count("turn_ended") > 0
            assert "Traceback" not in here.log
            comes = sum(window.comes for window in windows)
            print(f"{begun} turns, {comes} windows, {len(listener.events)} events")
        await _reopens(here, session_id)


async def _reopens(here: Shared, session_id: str) -> None:
    """The file that a crowd has written is whole."""
    (path,) = here.where.agent_dir.glob("sessions/*/*")
    async with here.attached() as later:
        found = await later.call("agent/session/open", {"cwd": str(here.where.folder)}, 30)
        assert found["sessionId"] == session_id
        assert found["state"]["warnings"] == []
        assert path.read_bytes().endswith(b"\n")
