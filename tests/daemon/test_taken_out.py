"""Sessions taken out, put away, copied and looked through, over the protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.real import Place, daemon, events, opened, place, prompt, settled
from tests.history.made import WHEN, Line, header, write
from tests.history.made import said as said_line
from tests.rpc.client import Failed, RawClient
from tests.rpc.contract import fits

from singletree.history.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


async def said(client: RawClient, session_id: str, *words: str) -> None:
    for one in words:
        await prompt(client, session_id, one)
        await settled(client, session_id)


async def ask(client: RawClient, method: str, **params: Any) -> Any:
    return await client.call(f"agent/{method}", params)


async def refused(client: RawClient, method: str, **params: Any) -> Any:
    with pytest.raises(Failed) as caught:
        await ask(client, method, **params)
    return caught.value.data


async def test_a_session_is_exported_open_or_not(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "hello <b>"}, {"text": "x" * 200_000}) as client:
        session_id = await opened(client, where)
        await said(client, session_id, "first")
        made = await ask(client, "session/export", sessionId=session_id, format="md")
        fits("Exported", made)
        assert "## You\n\nfirst\n" in made["text"]
        page = await ask(client, "session/export", format="html", path="page.html")
        assert page == {"path": str(where.folder / "page.html")}
        assert "hello &lt;b&gt;" in (where.folder / "page.html").read_text("utf-8")
        again = await refused(client, "session/export", format="html", path="page.html")
        assert again["code"] == "session_error"
        await ask(client, "session/export", format="html", path="page.html", replace=True)
        await said(client, session_id, "more")
        long = await refused(client, "session/export", sessionId=session_id, format="jsonl")
        assert long["code"] == "unsupported"
        await ask(client, "session/close", sessionId=session_id)
        out = tmp_path / "out.jsonl"
        await ask(client, "session/export", sessionId=session_id, format="jsonl", path=str(out))
        lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        assert lines[0]["id"] == session_id
        assert [line["type"] for line in lines].count("message") == 4
        none = await refused(client, "session/export", sessionId="none", format="md")
        assert none["code"] == "session_not_found"


async def test_the_context_comes_by_pages_and_sums_up(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, *({"text": "x" * 100_000} for _ in range(4))) as client:
        session_id = await opened(client, where)
        await said(client, session_id, *"abcd")
        parts: list[Any] = []
        cursor: str | None = None
        pages = 0
        while cursor is not None or not parts:
            page = await ask(client, "context/get", include=["messages"], limit=7, cursor=cursor)
            fits("ContextResult", page)
            parts += page["parts"]
            cursor = page["next"]
            pages += 1
        assert pages > 2
        assert sum(part["tokens"] for part in parts[: page["seen"]]) == page["tokens"]
        usage = (await ask(client, "session/state"))["contextUsage"]
        assert usage["tokens"] == page["tokens"]
        assert page["budget"]["compactsAbove"] == usage["window"] - page["budget"]["reserve"]
        said_by = [part["message"]["role"] for part in parts if "message" in part]
        assert said_by == ["user", "assistant"] * 4
        first = next(part for part in parts if part["kind"] == "user")
        there = await ask(client, "context/get", entryId=first["entryId"])
        assert there["entryId"] == first["entryId"]
        assert {"rule": "off_path", "count": 1} in there["leftOut"]
        assert (await refused(client, "context/get", entryId="no"))["code"] == "entry_not_found"


async def test_what_was_cut_can_be_read_whole_where_it_says(tmp_path: Path) -> None:
    """Arguments, output and diff of a call have addresses of their own, also while others run."""
    where = place(tmp_path)
    (where.folder / "old.txt").write_text("mark\n")
    args = {"path": "old.txt", "edits": [{"oldText": "mark\n", "newText": "new\n" * 60_000}]}
    calls = [
        {"tool": "edit", "args": args, "id": "c/1"},
        {"tool": "bash", "args": {"command": "until [ -e go ]; do sleep 0.05; done"}, "id": "c2"},
    ]
    async with daemon(where, {"calls": calls}, {"text": "done"}) as client:
        session_id = await opened(client, where)
        await prompt(client, session_id, "write it")
        told = await client.until(
            lambda f: (
                f.get("method") == "agent/event"
                and f["params"]["event"].get("toolCallId") == "c/1"
                and f["params"]["event"].get("status") == "completed"
            ),
        )
        start = f"agent://{session_id}/tool/c%2F1"
        assert f"The whole: {start}/changes.diff]" in told["params"]["event"]["diff"]
        cut = [e["cut"] for e in events(client, "tool") if e["toolCallId"] == "c/1" and "cut" in e]
        assert cut[0] == f"{start}/input.json"
        for _ in range(2):
            assert json.loads(await whole(client, cut[0])) == args
            diff = await whole(client, f"{start}/changes.diff")
            assert diff.count("new") > 15_000 and diff.count("mark") == 1
            assert diff.endswith("more lines]")
            assert "old.txt" in await whole(client, f"{start}/output.txt")
            (where.folder / "go").touch()
            await settled(client, session_id)
        none = await refused(client, "content/read", uri=f"agent://{session_id}/tool/c2/input.js")
        assert none["code"] == "not_found"


async def whole(client: RawClient, uri: str) -> str:
    made, start = "", 0
    while start is not None:
        piece = await ask(client, "content/read", uri=uri, range={"start": start})
        made += piece["text"]
        start = piece["next"]
    return made


async def test_the_tree_is_walked_by_pages_from_the_middle(tmp_path: Path) -> None:
    where = place(tmp_path)
    made = [header(cwd=str(where.folder), id="long")]
    made += [said_line(f"e{n:03}", f"e{n - 1:03}" if n else None, f"text {n}") for n in range(100)]
    write(where.agent_dir / "sessions" / "--x--" / "long.jsonl", made)
    async with daemon(where) as client:
        await opened(client, where, sessionId="long")
        page = await ask(client, "tree/get", around="e050", limit=20)
        rows = [row["entryId"] for row in page["rows"]]
        assert rows[10] == "e050"
        before, after = page.get("prev"), page["next"]
        while before is not None:
            page = await ask(client, "tree/get", cursor=before, limit=20)
            fits("Tree", page)
            rows = [row["entryId"] for row in page["rows"] if row["entryId"] < rows[0]] + rows
            before = page.get("prev")
        while after is not None:
            page = await ask(client, "tree/get", cursor=after, limit=20)
            rows += [row["entryId"] for row in page["rows"]]
            after = page["next"]
        assert rows == [f"e{n:03}" for n in range(100)]
        found = await ask(client, "tree/get", search="text 7")
        assert len(found["rows"]) == 19
        assert "prev" not in found


async def test_a_difference_names_both_sides_and_their_files(tmp_path: Path) -> None:
    where = place(tmp_path)
    (where.folder / "a.txt").write_text("a")
    turns = (
        {"text": "first"},
        {"call": "read", "args": {"path": "a.txt"}},
        {"text": "read"},
        {"call": "write", "args": {"path": "b.txt", "content": "b"}},
        {"text": "written"},
    )
    async with daemon(where, *turns) as client:
        session_id = await opened(client, where)
        await said(client, session_id, "one", "read it")
        old = (await ask(client, "session/state"))["leafId"]
        rows = (await ask(client, "tree/get", filter="userOnly"))["rows"]
        gone = await ask(client, "tree/navigate", entryId=rows[1]["entryId"])
        await said(client, session_id, "write it")
        new = (await ask(client, "session/state"))["leafId"]
        diff = await ask(client, "tree/diff", **{"from": old, "to": new})
        fits("TreeDiff", diff)
        assert diff["ancestorId"] == gone["leafId"]
        assert (diff["abandoned"]["count"], diff["gained"]["count"]) == (4, 4)
        assert diff["abandoned"]["entryIds"][-1] == old
        assert (diff["abandoned"]["readFiles"], diff["abandoned"]["modifiedFiles"]) == (
            ["a.txt"],
            [],
        )
        assert (diff["gained"]["readFiles"], diff["gained"]["modifiedFiles"]) == ([], ["b.txt"])
        back = await ask(client, "tree/diff", **{"from": new, "to": old})
        assert back["gained"] == diff["abandoned"]
        assert (await refused(client, "tree/diff", **{"from": old, "to": "x"}))["code"] == (
            "entry_not_found"
        )


async def test_sessions_are_searched_copied_and_put_away(tmp_path: Path) -> None:
    where = place(tmp_path)
    other = place(tmp_path / "other")
    async with daemon(where, {"text": "An answer about zebras."}, {"loop": True}) as client:
        first = await opened(client, where)
        await said(client, first, "tell me of animals")
        await ask(client, "session/rename", sessionId=first, name="The Zoo")
        leaf = (await ask(client, "session/state", sessionId=first))["leafId"]
        clone = await ask(client, "session/fork", sessionId=first, entryId=leaf, position="at")
        copied = await ask(client, "session/entries", sessionId=clone["sessionId"])
        source = await ask(client, "session/entries", sessionId=first)
        assert copied["entries"] == source["entries"]
        assert clone["path"] != (await ask(client, "session/state", sessionId=first))["path"]
        away = await ask(
            client, "session/fork", sessionId=first, entryId=leaf, position="at",
            workspace=other.folder.as_uri(),
        )  # fmt: skip
        there = await ask(client, "session/list", workspace=other.folder.as_uri())
        assert [row["sessionId"] for row in there["sessions"]] == [away["sessionId"]]
        assert there["sessions"][0]["cwd"] == str(other.folder)

        async def found(query: str) -> set[str]:
            listed = await ask(client, "session/list", query=query)
            fits("SessionList", listed)
            return {row["sessionId"] for row in listed["sessions"]}

        all_three = {first, clone["sessionId"], away["sessionId"]}
        assert await found("ZEBRAS animals") == all_three
        assert await found("zoo") == all_three
        assert await found("zebras lions") == set()
        busy = await refused(client, "session/delete", sessionId=first)
        assert busy["code"] == "session_busy"
        await ask(client, "session/close", sessionId=first)
        await ask(client, "session/delete", sessionId=first)
        assert await found("zebras") == all_three - {first}
        trash = where.agent_dir / "singletree" / "trash"
        assert [path.stem.partition("_")[2] for path in trash.iterdir()] == [first]
        gone = await refused(client, "session/delete", sessionId=first)
        assert gone["code"] == "session_not_found"


async def test_what_another_daemon_has_open_is_not_put_away(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "hello"}) as client:
        session_id = await opened(client, where)
        await said(client, session_id, "first")
        async with daemon(where) as second:
            told = await refused(second, "session/delete", sessionId=session_id)
            assert told["code"] == "locked"
            out = await ask(second, "session/export", sessionId=session_id, format="md")
            assert "first" in out["text"]


async def test_sessions_kept_in_their_workspace_are_found_by_id(tmp_path: Path) -> None:
    """`sessionDir` in the settings: whoever has listed a folder can name what is in it."""
    where = place(tmp_path)
    where.settings(sessionDir="kept")
    async with daemon(where, {"text": "hello"}) as client:
        session_id = await opened(client, where)
        await said(client, session_id, "first")
    (file,) = (where.folder / "kept").glob("*.jsonl")
    async with daemon(where) as client:
        unknown = await refused(client, "session/delete", sessionId=session_id)
        assert unknown["code"] == "session_not_found"
        listed = await ask(client, "session/list", workspace=where.folder.as_uri())
        assert [row["path"] for row in listed["sessions"]] == [str(file)]
        out = await ask(client, "session/export", sessionId=session_id, format="md")
        assert "first" in out["text"]
        await ask(client, "session/delete", sessionId=session_id)
        assert not file.exists()


@pytest.mark.parametrize("version", [1, 2])
async def test_an_old_session_goes_on_in_a_copy(tmp_path: Path, version: int) -> None:
    where = place(tmp_path)
    folder = Store(where.agent_dir).folder(str(where.folder))
    original = write(folder / "2026-01-05T08-00-00-000Z_old.jsonl", old(where, version))
    content = original.read_bytes()
    async with daemon(where, {"text": "hello"}) as client:
        await opened(client, where)
        state = await ask(client, "session/state")
        assert (state["sessionId"], state["path"]) == ("old", None)
        assert [one["code"] for one in state["warnings"]] == ["older_version"]
        rows = (await ask(client, "tree/get"))["rows"]
        assert [row["preview"] for row in rows] == ["one", "two"]
        await said(client, "old", "three")
        copy = Path((await ask(client, "session/state"))["path"])
        assert copy != original
        assert original.read_bytes() == content
        listed = (await ask(client, "session/list"))["sessions"]
        assert [(row["sessionId"], row["path"]) for row in listed] == [("old", str(copy))]
    async with daemon(where, {"text": "hello"}) as client:
        await opened(client, where, sessionId="old")
        rows = (await ask(client, "tree/get"))["rows"]
        assert [row["preview"] for row in rows] == ["one", "two", "three", "hello"]
        await ask(client, "session/close", sessionId="old")
        await ask(client, "session/delete", sessionId="old")
        assert list(folder.iterdir()) == []


def old(where: Place, version: int) -> list[Line]:
    lines: list[Line] = [
        {"type": "session", "id": "old", "timestamp": WHEN, "cwd": str(where.folder)},
        said_line("a", None, "one"),
        said_line("b", "a", "two"),
    ]
    if version == 2:
        lines[0]["version"] = 2
    else:
        for line in lines[1:]:
            del line["id"], line["parentId"]
    return lines
