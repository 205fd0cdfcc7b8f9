"""`singletree attach`: real bridges to a real shared daemon."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from pathlib import Path

import pytest
from tests.daemon.real import allow, events, opened, prompt, settled, tells
from tests.daemon.shared import Shared, end, kill, shared
from tests.rpc.client import Failed, RawClient, python

from singletree import __version__
from singletree.host.claim import Claim
from singletree.host.doorbell import holder

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

HI = ({"text": "Hello."}, {"loop": True})
LONG = ({"text": "word " * 400, "chunk": 5, "pause": 0.01}, {"loop": True})
ASKS = ({"call": "write", "args": {"path": "one.txt", "content": "1"}}, {"text": "Done."})


async def gone(pid: int, seconds: float = 20) -> None:
    """Wait until a process has ended."""
    async with asyncio.timeout(seconds):
        while Path(f"/proc/{pid}").exists():  # noqa: ASYNC110, ASYNC240  # nobody tells
            await asyncio.sleep(0.02)


async def leave(client: RawClient) -> int:
    """Say goodbye as an editor does: the bridge's exit code."""
    assert await client.call("shutdown") is None
    client.notify("exit")
    return await client.exit_code()


async def test_the_first_editor_starts_the_daemon_and_the_second_finds_it() -> None:
    with shared(*HI) as here:
        async with here.attached() as one, here.attached() as two:
            pid = here.daemon.pid
            session_id = await opened(one, here.where)
            assert await opened(two, here.where) == session_id
            await prompt(one, session_id, "hi")
            await two.until(tells("settled"))
            last = await one.until(tells("settled"))
            assert [e for e in events(two) if e == last["params"]["event"]]
            assert here.daemon.clients == 2
            assert one.process is not None
            assert os.getsid(pid) != os.getsid(one.process.pid)
            assert await leave(one) == 0
            assert await two.call("agent/session/state", {"sessionId": session_id})
        async with here.attached() as three:
            assert await opened(three, here.where) == session_id
            assert here.daemon.pid == pid
        assert stat.S_IMODE(here.socket.stat().st_mode) == 0o600
        assert stat.S_IMODE(here.socket.parent.stat().st_mode) == 0o700


async def test_many_editors_at_once_get_one_daemon() -> None:
    with shared(*HI) as here:

        async def editor() -> tuple[str, int]:
            async with here.attached() as client:
                session_id = await opened(client, here.where)
                pid = here.daemon.pid
                assert await leave(client) == 0
                return session_id, pid

        found = await asyncio.gather(*(editor() for _ in range(6)))
        assert len(set(found)) == 1


async def test_a_dead_daemons_socket_is_taken_over() -> None:
    with shared(*HI) as here:
        async with here.attached() as one:
            first = here.daemon.pid
            kill(first, signal.SIGKILL)
            await one.exit_code()
        assert here.socket.exists()
        async with here.attached() as two:
            await opened(two, here.where)
            assert here.daemon.pid != first


async def test_a_window_reloads_in_the_middle_of_a_turn() -> None:
    with shared(*LONG) as here:
        async with here.attached() as one:
            session_id = await opened(one, here.where)
            await prompt(one, session_id, "long")
            await one.until(lambda f: f.get("method") == "agent/delta")
            seen = one.notes("agent/event")[-1]
            assert one.process is not None
            one.process.kill()
        async with here.attached() as two:
            cursor = {"epoch": seen["epoch"], "seq": seen["seq"]}
            state = (await two.call("agent/session/open", {"cwd": str(here.where.folder)}))["state"]
            assert state["phase"] == "running"
            attached = await two.call(
                "agent/session/attach", {"sessionId": session_id, "since": cursor}
            )
            assert attached["mode"] == "replay"
            part = attached["inFlight"][0]
            assert (await settled(two, session_id, 60))["lastTurn"]["reason"] == "end_turn"
            text, chunk = part["text"], part["to"]
            for delta in two.notes("agent/delta"):
                if delta["kind"] == "text" and delta["from"] >= chunk:
                    assert delta["from"] == chunk
                    text, chunk = text + delta["text"], delta["to"]
            ended = next(e for e in events(two, "item_ended") if e["itemId"] == part["itemId"])
            assert text == ended["content"]["text"] == "word " * 400


async def test_a_question_is_there_again_after_a_reload() -> None:
    with shared(*ASKS) as here:
        async with here.attached() as one:
            session_id = await opened(one, here.where)
            await prompt(one, session_id, "write")
            asked = await one.until(lambda f: f.get("method") == "agent/permission/request")
            assert one.process is not None
            one.process.kill()
        async with here.attached() as two:
            two.reactions["agent/permission/request"] = allow
            attached = await two.call("agent/session/attach", {"sessionId": session_id})
            assert attached["pending"][0]["requestId"] == asked["params"]["requestId"]
            assert (await settled(two, session_id))["lastTurn"]["reason"] == "end_turn"
        assert (here.where.folder / "one.txt").read_text() == "1"


async def test_an_idle_daemon_ends_but_not_while_a_turn_runs() -> None:
    with shared(*LONG, arguments=["--idle=0.3"]) as here:
        async with here.attached() as one:
            session_id = await opened(one, here.where)
            pid = here.daemon.pid
            await prompt(one, session_id, "long")
            await one.eof()
            assert await one.exit_code() == 0
        await gone(pid, 60)
        assert not here.socket.exists()
        assert holder(here.socket) is None
        async with here.attached() as two:
            assert await opened(two, here.where) == session_id
            page = await two.call("agent/session/entries", {"sessionId": session_id})
            said = [e["message"] for e in page["entries"] if e["type"] == "message"]
            assert said[-1]["content"][0]["text"] == "word " * 400


async def test_what_fails_is_told_in_one_line() -> None:
    with shared(*HI) as here:
        here.where.agent_dir.chmod(0o700)
        run = here.socket.parent
        run.mkdir(parents=True, mode=0o700)
        run.chmod(0o777)
        assert await failing("attach", agent_dir=here.where.agent_dir) == (
            1,
            f"singletree attach: Others may write in the folder {run}; "
            "the daemon's socket needs one of your own.\n",
        )
        run.chmod(0o700)
        here.socket.write_text("mine")
        assert await failing("attach", agent_dir=here.where.agent_dir) == (
            1,
            "singletree attach: The shared daemon did not start: "
            f"singletree serve: {here.socket} is there and is no socket; move it away.\n",
        )
        assert here.socket.read_text() == "mine"
        code, told = await failing("attach", "--listen", f"unix:///tmp/{'x' * 120}.sock")
        assert (code, told.count("\n")) == (1, 1)
        assert "too long for a socket" in told


async def test_a_daemon_of_another_version_is_told_of_and_used() -> None:
    with shared(*HI) as here:
        code, told = await _beside(here, "9.9.9", (1, 2))
        assert code == 0
        assert told == (
            "singletree attach: the shared daemon is version 9.9.9, this is "
            f"{__version__}; `singletree stop` ends it\n"
        )


async def test_one_that_speaks_another_protocol_is_left_alone() -> None:
    with shared(*HI) as here:
        own = here.socket.with_name(f"daemon-{__version__}.sock")
        try:
            code, told = await _beside(here, "9.9.9", (7,))
            assert code == 0
            assert told.startswith("singletree attach: the shared daemon (version 9.9.9) speaks ")
            assert told.count("\n") == 1
            there = holder(own)
            assert there is not None
            assert there.version == __version__
        finally:
            end(own)


async def test_an_old_daemon_makes_way_when_nobody_uses_it() -> None:
    with shared(*LONG) as here:
        async with here.attached() as one:
            session_id = await opened(one, here.where)
            old = here.daemon.pid
            await prompt(one, session_id, "long")
            assert await leave(one) == 0
        grow_old(here, clients=0)
        async with here.attached() as two:  # something runs: it is used as it is
            assert here.daemon.pid == old
            assert await opened(two, here.where) == session_id
            await settled(two, session_id, 60)
            assert await leave(two) == 0
        await gone(old)
        async with here.attached() as three:
            assert here.daemon.version == __version__
            assert await opened(three, here.where) == session_id


async def test_an_old_daemon_that_is_used_stays() -> None:
    with shared(*HI) as here:
        async with here.attached() as one:
            await opened(one, here.where)
            old = here.daemon.pid
            grow_old(here, clients=1)
            async with here.attached() as two:
                await opened(two, here.where)
                assert here.daemon.pid == old
            await opened(one, here.where)


def grow_old(here: Shared, clients: int) -> None:
    """Let the daemon seem to be of an older version."""
    line = f"pid={here.daemon.pid} version=0.0.1 protocols=1 clients={clients}\n".ljust(200)
    here.socket.with_name("daemon.sock.lock").write_text(line)


async def _beside(here: Shared, version: str, protocols: tuple[int, ...]) -> tuple[int | None, str]:
    """What `attach` does where a daemon of another version listens, one that hangs up at once."""
    claim = Claim.take(here.socket)
    claim.say(version, protocols, 1)
    try:
        return await failing("attach", *here.arguments, agent_dir=here.where.agent_dir)
    finally:
        claim.leave()


async def test_a_person_sees_the_daemon_and_can_end_it() -> None:
    with shared(*HI) as here:
        agent_dir = here.where.agent_dir
        nothing = f"No shared daemon runs at {here.socket}.\n"
        assert await said("stop", agent_dir=agent_dir) == nothing
        assert f"none runs; `singletree attach` starts one at {here.socket}\n" in (
            await said("doctor", agent_dir=agent_dir)
        )
        async with here.attached() as one:
            session_id = await opened(one, here.where)
            await prompt(one, session_id, "hi")
            await settled(one, session_id)
            pid = here.daemon.pid
            told = f"process {pid}, version {__version__}, 1 connected, at {here.socket};"
            assert told in await said("doctor", agent_dir=agent_dir)
            listed = await said("sessions", "--all", agent_dir=agent_dir)
            assert f"(open in process {pid})" in listed.splitlines()[0]
            assert listed.splitlines()[-1].startswith(f"Shared daemon: {told}")
            ended = f"The shared daemon (process {pid}) has ended.\n"
            assert await said("stop", agent_dir=agent_dir) == ended
            assert await one.exit_code() == 1
            (line,) = (await said("sessions", "--all", agent_dir=agent_dir)).splitlines()
            assert "open in" not in line
        async with here.attached() as two:
            assert await opened(two, here.where) == session_id
            assert here.daemon.pid != pid


async def test_a_key_that_is_missing_names_the_environment_it_was_looked_for_in() -> None:
    with shared(*HI) as here:
        async with here.attached() as one:
            session_id = await opened(one, here.where)
            chosen = {"sessionId": session_id, "model": "openai/gpt-5.5"}
            with pytest.raises(Failed) as missing:
                await one.call("agent/model/set", chosen)
                await prompt(one, session_id, "hi")
            assert missing.value.data["code"] == "auth_required"
            assert "`singletree stop`" in missing.value.data["hint"]


async def said(*arguments: str, agent_dir: Path) -> str:
    """What a command prints."""
    process = await asyncio.create_subprocess_exec(
        *python("-m", "singletree", *arguments),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PI_CODING_AGENT_DIR": str(agent_dir)},
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode()


async def failing(*arguments: str, agent_dir: Path | None = None) -> tuple[int | None, str]:
    """The exit code of a command, and what it says on stderr."""
    env = dict(os.environ) | ({} if agent_dir is None else {"PI_CODING_AGENT_DIR": str(agent_dir)})
    process = await asyncio.create_subprocess_exec(
        *python("-m", "singletree", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=env,
    )
    _, told = await process.communicate()
    return process.returncode, told.decode()
