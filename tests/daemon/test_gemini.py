"""A turn with Gemini through the real daemon: tools, a failure, and a key that nobody sees."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemon.real import daemon, opened, place, prompt, settled
from tests.model.fake_server import Reply, refusal, serving
from tests.model.gemini import broken_turn, call, generated

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

KEY = "AIzaSyTest-0123456789abcdefghijklmnop"
MODEL = "google/gemini-4-hydrogen"
ENVIRONMENT = {"GOOGLE_API_KEY": KEY, "SINGLETREE_LOG": "debug"}


def wrong_key() -> Reply:
    error = {"code": 400, "message": f"API key not valid: {KEY}", "status": "INVALID_ARGUMENT"}
    return refusal(400, {"error": error})


async def test_it_works_with_tools_and_shows_its_key_to_nobody(tmp_path: Path) -> None:
    where = place(tmp_path)
    asks = generated(
        {"text": "I look.", "thought": True},
        {**call("bash", command="echo one"), "thoughtSignature": "S"},
        call("bash", command="echo two"),
    )
    async with serving([asks, generated({"text": "done"}), wrong_key()]) as server:
        server.rules = [broken_turn]
        where.models(google={"baseUrl": f"{server.url}/v1beta"})
        async with daemon(where, model=MODEL, env=ENVIRONMENT) as client:
            session = await opened(client, where)
            await prompt(client, session, "go")
            assert (await settled(client, session))["lastTurn"]["reason"] == "end_turn"
            await prompt(client, session, "again")
            ended = (await settled(client, session))["lastTurn"]
            assert ended["error"]["code"] == "auth_failed"
            assert KEY not in repr(client.frames)
    responses = [part["functionResponse"] for part in server.bodies[1]["contents"][2]["parts"]]
    assert [response["response"]["output"].strip() for response in responses] == ["one", "two"]
    assert server.seen[0].path == "/v1beta/models/gemini-4-hydrogen:streamGenerateContent?alt=sse"
    assert {seen.headers["x-goog-api-key"] for seen in server.seen} == {KEY}
    kept = [path for path in where.agent_dir.rglob("*") if path.is_file()]
    assert any(path.suffix == ".jsonl" for path in kept)
    for path in kept:
        assert KEY.encode() not in path.read_bytes(), path
