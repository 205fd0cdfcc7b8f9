"""Session files that are held, from the future, or damaged: told plainly, and never made worse."""

from __future__ import annotations

import asyncio
import subprocess
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.real import Place, daemon, opened, place, prompt, settled, tells, text
from tests.daemon.test_bad_input import code, refused
from tests.history.made import encoded, header, said
from tests.rpc.client import Message, RawClient, python

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

HELLO = {"text": "Hello."}
SESSION = "01999999-0000-7000-8000-000000000001"


def session_file(where: Place, name: str = "made.jsonl") -> Path:
    folder = where.agent_dir / "sessions" / f"--{str(where.folder).strip('/').replace('/', '-')}--"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


def head(where: Place, version: int = 3) -> Message:
    return header(id=SESSION, cwd=str(where.folder), version=version)


def lines(*values: Message) -> bytes:
    return b"".join(map(encoded, values))


async def users(client: RawClient, session_id: str) -> list[str]:
    page = await client.call("agent/session/entries", {"sessionId": session_id, "branch": "all"})
    messages = [e.get("message") for e in page["entries"] if e["type"] == "message"]
    known = [m for m in messages if isinstance(m, dict)]
    return [_text(m["content"]) for m in known if m.get("role") == "user"]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(b["text"] for b in content)


async def test_a_session_that_another_process_holds(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, HELLO) as one, daemon(where, HELLO, HELLO) as two:
        sid = await opened(one, where)
        await prompt(one, sid, "one")
        await settled(one, sid)
        assert one.process is not None
        begun = time.monotonic()
        error = await refused(two, "agent/session/open", cwd=str(where.folder), sessionId=sid)
        assert 2.5 < time.monotonic() - begun < 8
        assert code(error) == "locked"
        assert error["data"]["detail"]["pid"] == one.process.pid
        assert str(one.process.pid) in error["message"]
        other = await two.call("agent/session/open", {"cwd": str(where.folder)}, 30)
        assert other["sessionId"] != sid
        assert [w["code"] for w in other["state"]["warnings"]] == ["locked"]
        assert str(one.process.pid) in other["state"]["warnings"][0]["message"]
        waiting = two.request("agent/session/switch", {"sessionId": sid})
        await asyncio.sleep(1)
        await one.call("agent/session/close", {"sessionId": sid})
        assert (await two.answer(waiting, 30))["result"]["sessionId"] == sid
        await prompt(two, sid, "two")
        await settled(two, sid)
        assert await users(two, sid) == ["one", "two"]


async def test_others_are_opened_and_served_while_one_is_waited_for(tmp_path: Path) -> None:
    where, other = place(tmp_path), place(tmp_path / "other")
    async with daemon(where, HELLO) as one, daemon(where, HELLO) as two:
        sid = await opened(one, where)
        await prompt(one, sid, "one")
        waiting = two.request("agent/session/switch", {"sessionId": sid})
        await asyncio.sleep(0.3)
        begun = time.monotonic()
        second = await opened(two, other)
        await two.call("agent/session/state", {"workspace": str(other.folder)})
        assert time.monotonic() - begun < 2
        assert second != sid
        assert "error" in await two.answer(waiting, 30)


async def test_a_holder_that_was_killed_is_no_obstacle(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, HELLO) as one:
        sid = await opened(one, where)
        await prompt(one, sid, "one")
        await settled(one, sid)
        assert one.process is not None
        one.process.kill()
        await one.process.wait()
    async with daemon(where, HELLO) as two:
        found = await two.call("agent/session/open", {"cwd": str(where.folder)}, 30)
        assert (found["sessionId"], found["state"]["warnings"]) == (sid, [])


async def test_a_file_of_a_newer_version_is_for_reading(tmp_path: Path) -> None:
    where = place(tmp_path)
    path = session_file(where)
    path.write_bytes(
        lines(head(where, 4) | {"future": {"x": 1}}, said("a1", None, "from the future"))
    )
    before = path.read_bytes()
    async with daemon(where, HELLO) as client:
        found = await client.call("agent/session/open", {"cwd": str(where.folder)}, 30)
        sid = found["sessionId"]
        assert (sid, found["state"]["readOnly"]) == (SESSION, True)
        assert [w["code"] for w in found["state"]["warnings"]] == ["newer_version"]
        assert await users(client, sid) == ["from the future"]
        for method, params in (
            ("prompt", {"content": text("x")}),
            ("steer", {"content": text("x")}),
            ("followUp", {"content": text("x")}),
            ("compact", {}),
            ("session/rename", {"name": "x"}),
            ("tree/label", {"entryId": "a1", "label": "x"}),
            ("tree/navigate", {"entryId": "a1"}),
        ):
            error = await refused(client, f"agent/{method}", sessionId=sid, **params)
            assert code(error) == "session_read_only", method
            assert "fork" in error["message"]
        assert path.read_bytes() == before
        fork = {"sessionId": sid, "entryId": "a1", "position": "at"}
        forked = (await client.call("agent/session/fork", fork))["sessionId"]
        await prompt(client, forked, "go on")
        await settled(client, forked)
        assert await users(client, forked) == ["from the future", "go on"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("first", [b"{broken", b"", b'{"type":"message"}', b"\xff\xfe"])
async def test_a_file_without_a_header_is_left_alone_and_can_be_recovered(
    tmp_path: Path, first: bytes
) -> None:
    where = place(tmp_path)
    path = session_file(where)
    path.write_bytes(first + b"\n" + lines(said("a1", None, "keep me"), said("a2", "a1", "too")))
    before = sha256(path.read_bytes()).digest()
    async with daemon(where, HELLO) as client:
        found = await client.call("agent/session/open", {"cwd": str(where.folder)}, 30)
        sid = found["sessionId"]
        await client.until(tells("warning"), 30)
        told = await client.call("agent/session/state", {"sessionId": sid})
        (warning,) = told["warnings"]
        assert warning["code"] == "session_unreadable"
        assert str(path) in warning["message"] and "recover" in warning["message"]
        error = await refused(client, "agent/session/switch", path=str(path))
        assert code(error) == "session_unreadable"
        assert str(path) in error["data"]["hint"]
        assert "agent/session/new" in error["data"]["hint"]
        asked = {"cwd": str(where.folder), "recover": str(path)}
        copy = await client.call("agent/session/new", asked, 30)
        assert await users(client, copy["sessionId"]) == ["keep me", "too"]
        await prompt(client, copy["sessionId"], "go on")
        await settled(client, copy["sessionId"])
        assert await users(client, copy["sessionId"]) == ["keep me", "too", "go on"]
        asked["recover"] = copy["state"]["path"]
        assert code(await refused(client, "agent/session/new", **asked)) == "session_error"
        asked["recover"] = "/nowhere.jsonl"
        assert code(await refused(client, "agent/session/new", **asked)) == "session_not_found"
    async with daemon(where, HELLO) as client:
        again = await client.call("agent/session/open", {"cwd": str(where.folder)}, 30)
        sid = again["sessionId"]
        assert sid == copy["sessionId"]
        await prompt(client, sid, "x")
        await settled(client, sid)
        told = await client.call("agent/session/state", {"sessionId": sid})
        assert told["warnings"] == []
    assert sha256(path.read_bytes()).digest() == before


def test_the_command_line_recovers_too(tmp_path: Path, own_home: Path) -> None:
    where = place(tmp_path)
    path = session_file(where)
    path.write_bytes(b"{broken\n" + lines(said("a1", None, "keep me")))
    env = {"PI_CODING_AGENT_DIR": str(where.agent_dir), "PATH": "/usr/bin", "HOME": str(own_home)}

    def run(*argv: str) -> str:
        command = python("-m", "singletree", "sessions", *argv)
        done = subprocess.run(command, cwd=where.folder, env=env, capture_output=True, text=True)
        return done.stdout + done.stderr

    assert run().startswith("No session of")
    assert run("--recover", str(path)).startswith("Recovered 1 entries")
    assert "keep me" in run()
    assert run("--recover", "nothing.jsonl").startswith("singletree: There is no session file")
    assert path.read_bytes().startswith(b"{broken\n")


@pytest.mark.parametrize(
    ("tail", "kept", "kinds"),
    [
        (b'{"type":"message","id":"e4","par', ["one", "two"], ["torn_tail"]),
        (b"\x00\x00\x00\x00", ["one", "two"], ["torn_tail"]),
        (b'{"type":"mess\n' + lines(said("e5", "e2", "three")), ["one", "two", "three"],
         ["broken_line"]),
        (b'[1, 2]\n"x"\n' + lines(said("e5", "e2", "three")), ["one", "two", "three"],
         ["not_an_entry", "not_an_entry"]),
        (lines(said("e6", "gone", "three")), ["one", "two", "three"], ["missing_parent"]),
    ],
)  # fmt: skip
async def test_damage_is_told_and_kept_aside(
    tmp_path: Path, tail: bytes, kept: list[str], kinds: list[str]
) -> None:
    where = place(tmp_path)
    path = session_file(where)
    whole = lines(head(where), said("e1", None, "one"), said("e2", "e1", "two"))
    path.write_bytes(whole + tail)
    async with daemon(where, HELLO) as client:
        found = await client.call("agent/session/open", {"cwd": str(where.folder)}, 30)
        sid = found["sessionId"]
        warnings = found["state"]["warnings"]
        assert [w["code"] for w in warnings] == kinds
        assert all(w["message"].isprintable() and "ine " in w["message"] for w in warnings)
        assert await users(client, sid) == kept
        assert path.read_bytes() == whole + tail
        await prompt(client, sid, "go on")
        await settled(client, sid)
        assert await users(client, sid) == [*kept, "go on"]
    content = path.read_bytes()
    assert content.startswith(whole + tail)
    if "missing_parent" not in kinds:
        aside = [p.read_bytes() for p in (where.agent_dir / "singletree" / "damaged").iterdir()]
        assert all(any(part in one for one in aside) for part in _damaged(tail))
    async with daemon(where, HELLO) as client:
        again = await client.call("agent/session/open", {"cwd": str(where.folder)}, 30)
        told = [w["code"] for w in again["state"]["warnings"]]
        assert told == [k for k in kinds if k == "missing_parent"]
        assert await users(client, sid) == [*kept, "go on"]
    assert path.read_bytes() == content


def _damaged(tail: bytes) -> list[bytes]:
    """The lines of the tail that are no entries."""
    return [line for line in tail.split(b"\n") if line and b'"message":' not in line]


def made_of(*entries: Message | bytes, **head: Any) -> bytes:
    """A file with this head, and these entries or bytes."""
    first = header(id=SESSION, **head)
    return encoded(first) + b"".join(
        one if isinstance(one, bytes) else encoded(one) for one in entries
    )


DEEP = b'{"type":"message","id":"d","parentId":null,"d":' + b"[" * 99_999 + b"]" * 99_999 + b"}\n"
A = said("a", None, "kept")
ODD: dict[str, bytes] = {
    "its own parent": made_of(said("a", "a", "kept")),
    "a circle": made_of(said("a", "c", "x"), said("b", "a", "y"), said("c", "b", "kept")),
    "one id twice": made_of(said("a", None, "x"), said("b", "a", "y"), said("a", "b", "kept")),
    "parents nowhere": made_of(said("a", "zz", "x"), said("b", "yy", "kept")),
    "a blank id": made_of(said("", None, "x"), A),
    "an id of blanks": made_of(said("  ", None, "kept"), said("b", "  ", "y")),
    "ids of numbers": made_of({**A, "id": 5}, {**said("b", None, "y"), "parentId": 5}),
    "an enormous id": made_of(said("i" * 99_999, None, "kept")),
    "ids that mean something elsewhere": made_of(
        said("__proto__", None, "kept"), said("../../x?y#z", "__proto__", "y")
    ),
    "an id a screen obeys": made_of(said("\x1b[31m\n", None, "kept")),
    "no version": made_of(A, version=None),
    "a version below": made_of(A, version=-1),
    "deep nesting": made_of(DEEP, A),
    "numbers without end": made_of(A, encoded(said("b", "a", "y")).replace(b"1767", b"1e999")),
    "wrong types": made_of(
        A,
        {"type": 5, "id": "b", "parentId": "a"},
        {"type": "message", "id": "c", "parentId": "b", "timestamp": 5, "message": []},
        {"type": "compaction", "id": "d", "parentId": "c", "summary": None},
        {"type": "label", "id": "e", "parentId": "d", "targetId": {"x": 1}, "label": 7},
    ),
    "an enormous label": made_of(
        A, {"type": "label", "id": "l", "parentId": "a", "targetId": "a", "label": "l" * 3_000_000}
    ),
    "odd marks of the leaf": made_of(
        A,
        {"type": "custom", "id": "m", "parentId": "m", "customType": "singletree.leaf"},
        {"type": "custom", "id": "k", "parentId": "a", "customType": "singletree.leaf"},
    ),
    "a mark of order": b"\xef\xbb\xbf" + made_of(A),
    "an id that leads elsewhere": encoded(header(id="../../../evil")) + encoded(A),
}


async def test_odd_files_are_opened_and_gone_on_with(tmp_path: Path) -> None:
    """Read in whole, shown, exported, prompted: each answers at once, and what was there stays."""
    where = place(tmp_path)
    written: dict[str, tuple[Path, bytes]] = {}
    for number, (name, content) in enumerate(ODD.items()):
        content = content.replace(b'"cwd":"/w"', f'"cwd":"{where.folder}"'.encode())
        content = content.replace(SESSION.encode(), f"{SESSION[:-2]}{number:02}".encode())
        written[name] = session_file(where, f"{number}.jsonl"), content
        written[name][0].write_bytes(content)
    async with daemon(where, *[HELLO] * len(ODD)) as client:
        for name, (path, content) in written.items():
            state = (await client.call("agent/session/switch", {"path": str(path)}, 60))["state"]
            sid = state["sessionId"]
            assert "kept" in await users(client, sid), name
            for method in ("tree/get", "context/get", "session/state"):
                await client.call(f"agent/{method}", {"sessionId": sid})
            page = {"format": "html", "path": str(tmp_path / f"{path.stem}.html")}
            await client.call("agent/session/export", {"sessionId": sid, **page})
            await prompt(client, sid, "go on")
            assert (await settled(client, sid))["lastTurn"]["reason"] == "end_turn", name
            assert path.read_bytes().startswith(content), name
        listed = await client.call("agent/session/list", {"cwd": str(where.folder), "limit": 100})
        assert len(listed["sessions"]) == len(ODD)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
async def test_a_file_in_another_encoding_is_left_alone(tmp_path: Path, encoding: str) -> None:
    where = place(tmp_path)
    path = session_file(where)
    path.write_bytes(made_of(A).decode().encode(encoding))
    before = path.read_bytes()
    async with daemon(where, HELLO) as client:
        error = await refused(client, "agent/session/switch", path=str(path))
        assert code(error) == "session_unreadable"
    assert path.read_bytes() == before


async def test_a_session_that_names_no_folder_is_opened_with_one(tmp_path: Path) -> None:
    where = place(tmp_path)
    path = session_file(where)
    path.write_bytes(made_of(A, cwd=""))
    async with daemon(where, HELLO) as client:
        error = await refused(client, "agent/session/switch", path=str(path))
        assert code(error) == "workspace_not_found"
        given = {"sessionId": SESSION, "cwd": str(where.folder)}
        assert (await client.call("agent/session/open", given))["sessionId"] == SESSION


@pytest.mark.parametrize("change", ["removed", "replaced", "cut and put back"])
async def test_a_file_that_changes_hands_while_it_is_open(tmp_path: Path, change: str) -> None:
    """Nothing is written where it no longer belongs; opened again, the session goes on."""
    where = place(tmp_path)
    async with daemon(where, HELLO, HELLO, HELLO) as client:
        sid = await opened(client, where)
        await prompt(client, sid, "one")
        await settled(client, sid)
        path = Path((await client.call("agent/session/state", {}))["path"])
        change_hands(path, change, made_of(A, cwd=str(where.folder)))
        there = bytes_of(path)
        error = await refused(client, "agent/prompt", sessionId=sid, content=text("two"))
        assert code(error) == "session_unreadable"
        assert bytes_of(path) == there
        await client.call("agent/session/close", {"sessionId": sid})
        again = await opened(client, where)
        await prompt(client, again, "three")
        assert (await settled(client, again))["lastTurn"]["reason"] == "end_turn"
        assert "three" in await users(client, again)


async def test_what_the_message_of_a_changed_file_advises_helps(tmp_path: Path) -> None:
    """Opened again, one that was replaced goes on; one that was removed is kept by a fork."""
    where = place(tmp_path)
    async with daemon(where, HELLO, HELLO, HELLO) as client:
        sid = await opened(client, where)
        await prompt(client, sid, "one")
        await settled(client, sid)
        path = Path((await client.call("agent/session/state", {}))["path"])
        change_hands(path, "copied", b"")
        error = await refused(client, "agent/prompt", sessionId=sid, content=text("two"))
        assert "Open the session again" in error["message"]
        assert await opened(client, where, sessionId=sid) == sid
        await prompt(client, sid, "three")
        assert (await settled(client, sid))["lastTurn"]["reason"] == "end_turn"
        assert await users(client, sid) == ["one", "three"]
        change_hands(path, "removed", b"")
        error = await refused(client, "agent/prompt", sessionId=sid, content=text("four"))
        assert "fork" in error["data"]["hint"]
        leaf = (await client.call("agent/session/state", {"sessionId": sid}))["leafId"]
        given = {"sessionId": sid, "entryId": leaf, "position": "at"}
        fork = (await client.call("agent/session/fork", given))["sessionId"]
        await prompt(client, fork, "five")
        await settled(client, fork)
        assert await users(client, fork) == ["one", "three", "five"]


def change_hands(path: Path, change: str, other: bytes) -> None:
    """What another program does to the file."""
    content = path.read_bytes()
    path.unlink()
    if change == "copied":
        path.with_suffix(".copy").write_bytes(content)
        path.with_suffix(".copy").replace(path)
    elif change != "removed":
        path.write_bytes(other if change == "replaced" else content[: len(content) // 2])


def bytes_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
