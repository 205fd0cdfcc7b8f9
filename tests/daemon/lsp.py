"""pytest-lsp's client on the real daemon, held to the contract in both directions.

Params are checked before they are sent and results when they come, unknown fields forbidden; what
the daemon sends by itself is kept for the same check.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pytest_lsp import ClientServerConfig
from tests.daemon.real import Place
from tests.rpc.client import AgentClient, Message, python
from tests.rpc.contract import wrong

from singletree.rpc.protocol import check, find

OURS = {"protocolVersions": [1], "permissions": {}, "clientId": "test", "events": {"delta": True}}


class Contract:
    """A client that speaks only what the contract says, and knows what it has driven."""

    def __init__(self, client: AgentClient) -> None:
        self.client = client
        self.driven: set[str] = set()
        self.session = ""

    async def call(self, method: str, **params: Any) -> Any:
        """A request of ours, checked both ways; the session's id is added where it belongs."""
        shape = find(method)
        assert shape is not None and shape.result is not None, method
        if self.session and "session_id" in shape.params.model_fields:
            params = {"sessionId": self.session, **params}
        check(shape.params, params, forbid_unknown=True)
        result = await self.client.call(method, params)
        assert wrong(shape.result.__name__, result) == [], method
        assert check(shape.result, result, forbid_unknown=True).dump() == result, method
        self.driven.add(method)
        return result

    async def event(self, kind: str, start: int = 0, **fields: object) -> Any:
        """The first event of a type with these fields, from the past or the future."""

        def wanted(method: str, params: Any) -> bool:
            if method != "agent/event" or params["event"]["type"] != kind:
                return False
            return all(params["event"].get(name) == value for name, value in fields.items())

        return (await self.client.until(wanted, 30, start))[1]["event"]

    async def turn(self, words: str) -> Any:
        """Say something; how its turn ended."""
        start = len(self.client.events)
        told = await self.call("agent/prompt", content=[{"type": "text", "text": words}])
        ended = await self.event("turn_ended", start, turnId=told["turnId"])
        await self.event("settled", start)
        return ended

    def told(self, method: str) -> list[Any]:
        """The params of all notifications of this method so far."""
        return [params for name, params in self.client.events if name == method]

    def hold_to_the_contract(self) -> set[str]:
        """What came by itself is of the contract; the methods of it."""
        for name, params in self.client.events:
            shape = find(name)
            if shape is not None:
                assert shape.direction == "serverToClient" and shape.served, name
                assert wrong(shape.params.__name__, params) == [], name
        return {name for name, _ in self.client.events if name.startswith("agent/")}


@asynccontextmanager
async def contract(
    where: Place, *turns: object, agent: object = ..., env: Mapping[str, str] | None = None
) -> AsyncIterator[Contract]:
    """The daemon with a scripted model, and a client that has said hello and opened the folder."""
    script = where.script(*turns)
    config = ClientServerConfig(
        server_command=list(
            python("-m", "singletree", "serve", "--stdio", "--model", f"scripted:{script}")
        ),
        client_factory=AgentClient,
        server_env={**os.environ, "PI_CODING_AGENT_DIR": str(where.agent_dir), **(env or {})},
    )
    client = await config.start()
    assert isinstance(client, AgentClient)
    try:
        await client.hello(OURS if agent is ... else agent)
        made = Contract(client)
        made.session = (await made.call("agent/session/open", cwd=str(where.folder)))["sessionId"]
        yield made
        made.hold_to_the_contract()
        await client.shutdown_session()
    finally:
        await client.stop()


class Person:
    """Somebody at the client who is asked things: `asked` so far; `answer` may be changed."""

    def __init__(self, client: AgentClient, method: str, answer: Callable[[Any], Any]) -> None:
        self.asked: list[Message] = []
        self.answer = answer
        self._never = asyncio.Event()

        @client.feature(method)  # type: ignore[untyped-decorator]  # pytest-lsp's own
        async def react(params: Any) -> Any:
            self.asked.append(params)
            given = self.answer(params)
            if given is SILENCE:
                await self._never.wait()
            return given


SILENCE = object()
"""The answer of somebody who has gone for lunch."""


def allow(params: Any) -> Any:
    """Somebody who allows it once."""
    option = next(one for one in params["options"] if one["kind"] == "allow")
    return {"outcome": "selected", "optionId": option["id"]}
