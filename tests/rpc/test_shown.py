"""Texts of a session in an editor: by LSP 3.18's addresses, or as files in a private folder."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from tests.rpc.client import Failed, Message
from tests.rpc.editor import CAPABILITIES, until
from tests.rpc.plain import ALL, PlainHost, plain
from tests.rpc.test_commands import entries, said

from singletree.errors import SingletreeError
from singletree.rpc.addresses import Address
from singletree.rpc.shown import Shown
from singletree.rpc.temporary import TemporaryFiles
from singletree.session.events import LeafMoved

DONE: Message = {"text": "done"}
WRITE: Message = {"call": "write", "args": {"path": "new.txt", "content": "new\n"}}
MODERN: Message = {
    **ALL,
    "workspace": {**CAPABILITIES["workspace"], "textDocumentContent": {}},
}


def showing(host: PlainHost, success: bool = True) -> list[Message]:
    """What the editor was asked to show."""
    asked: list[Message] = []

    def show(params: Message) -> Message:
        asked.append(params)
        return {"result": {"success": success}}

    host.client.reactions["window/showDocument"] = show
    return asked


def file_of(uri: str) -> Path:
    assert uri.startswith("file:///")
    return Path(unquote(uri.removeprefix("file://")))


async def content(host: PlainHost, uri: str) -> str:
    text: str = (await host.client.call("workspace/textDocumentContent", {"uri": uri}))["text"]
    return text


async def test_a_file_is_shown_without_the_focus(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE, DONE) as host:
        asked = showing(host)
        await said(host, "hello")
        told = await host.run("agent.transcript")
        assert asked == [{"uri": told["uri"], "external": False, "takeFocus": False}]
        path = file_of(told["uri"])
        assert path.name == "transcript.md"
        assert "## You\n\nhello" in path.read_text()
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parents[1].stat().st_mode & 0o077 == 0
        await said(host, "again")
        await until(lambda: "again" in path.read_text())  # it is kept up to date
        assert len(asked) == 1
    assert not path.exists()


async def test_by_its_address_where_the_editor_knows_them(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE, DONE, capabilities=MODERN) as host:
        asked = showing(host)
        refreshed: list[Message] = []

        def refresh(params: Message) -> Message:
            refreshed.append(params)
            return {"result": None}

        host.client.reactions["workspace/textDocumentContent/refresh"] = refresh
        await said(host, "hello")
        told = await host.run("agent.tree")
        assert told["uri"].startswith("agent://") and told["uri"].endswith("/tree.txt")
        assert asked[0]["uri"] == told["uri"]
        assert "user: hello" in await content(host, told["uri"])
        await said(host, "again")
        await until(lambda: {"uri": told["uri"]} in refreshed)
        assert "user: again" in await content(host, told["uri"])


async def test_where_nothing_can_be_shown_the_place_is_told(tmp_path: Path) -> None:
    for capabilities in (CAPABILITIES, {**ALL, "window": {"showDocument": {"support": "yes"}}}):
        root = tmp_path / str(len(capabilities))
        root.mkdir()
        async with plain(root, DONE, capabilities=capabilities) as host:
            told = await host.run("agent.transcript")
            assert told["shown"] is False
            assert host.told()[-1] == f"It is in {file_of(told['uri'])}."


@pytest.mark.parametrize(
    "answer", [{"result": {"success": False}}, {"result": None}, {"error": {"code": 1}}]
)
async def test_an_editor_that_does_not_show_it(tmp_path: Path, answer: Message) -> None:
    async with plain(tmp_path, DONE) as host:
        host.client.reactions["window/showDocument"] = lambda params: answer
        assert (await host.run("agent.transcript"))["shown"] is False
        assert host.told()[-1].startswith("It is in /")


async def test_every_kind_of_text(tmp_path: Path) -> None:
    async with plain(tmp_path, WRITE, DONE, capabilities=MODERN) as host:
        showing(host)
        await said(host, "write")
        uri = (await host.run("agent.diff"))["uri"]
        assert await content(host, uri) == "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n"
        session = uri.split("/")[2]
        messages = [e for e in entries(host) if e["type"] == "message"]
        call = messages[1]["message"]["content"][0]["id"]
        base = f"agent://{session}"
        first = f"{base}/entry/{messages[0]['id']}"
        assert await content(host, f"{first}.md") == "## You\n\nwrite\n"
        assert '"role":"user"' in await content(host, f"{first}.json")
        assert "new.txt" in await content(host, f"{base}/tool/{call}/output.txt")
        assert (await host.run("agent.open", f"{base}/tree.txt"))["shown"] is True
        read = {"uri": f"{base}/transcript.md", "range": {"start": 0, "end": 9}}
        piece = await host.client.call("agent/content/read", read)
        whole = await content(host, read["uri"])  # type: ignore[arg-type]  # it is a text
        assert (piece["text"], piece["size"]) == (whole[:9], len(whole.encode()))


async def test_of_a_session_that_is_not_open(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE, capabilities=MODERN) as host:
        showing(host)
        await said(host, "hello")
        uri = (await host.run("agent.transcript"))["uri"]
        session = host.house.daemon.host.live[0]
        await host.house.daemon.close(session)
        assert "hello" in await content(host, uri)
        assert host.house.daemon.host.live == ()


ODD = [
    "agent://S/entry/none.md",
    "agent://S/tool/none/output.txt",
    "agent://S/tool/none/changes.diff",
    "agent://S/diff/none.patch",
    "agent://S/diff/..%2f..%2fx.patch",
    "agent://S/../transcript.md",
    "agent://S/entry/..%2F..%2Fetc%2Fpasswd.md",
    "agent://S/transcript.md/",
    "agent://S/transcript.md%00",
    "agent://S/TREE.TXT",
    "agent://../transcript.md",
    "agent://..%2F..%2Fsessions/transcript.md",
    "agent://none/transcript.md",
    "agent://none/tree.txt",
    "agent://*/transcript.md",
    "agent://[::1/transcript.md",
    "agent://\x00/transcript.md",
    "agent://\ud800/transcript.md",
    "agent:/transcript.md",
    "file:///etc/passwd",
    "http://127.0.0.1/transcript.md",
    "",
    "x" * 100_000,
]


@pytest.mark.parametrize("uri", ODD)
async def test_addresses_of_nothing(tmp_path: Path, uri: str) -> None:
    async with plain(tmp_path, DONE, capabilities=MODERN) as host:
        asked = showing(host)
        await said(host, "hello")
        (session,) = host.house.daemon.host.live
        address = uri.replace("agent://S", f"agent://{session.id}")
        for method, params in (
            ("workspace/textDocumentContent", {"uri": address}),
            ("agent/content/read", {"uri": address}),
            ("workspace/executeCommand", {"command": "agent.open", "arguments": [address]}),
        ):
            with pytest.raises(Failed) as failed:
                await host.client.call(method, params)
            assert failed.value.data["code"] in ("not_found", "session_not_found"), method
        assert asked == []


@pytest.mark.parametrize("document", [5, None, [], True])
async def test_what_is_no_name_of_a_text(tmp_path: Path, document: Any) -> None:
    async with plain(tmp_path, DONE) as host:
        with pytest.raises(Failed) as failed:
            await host.run("agent.open", {"document": document})
        assert failed.value.code == -32602


async def test_a_folder_that_is_gone_is_no_error_of_the_daemon(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE, DONE) as host:
        showing(host)
        path = file_of((await host.run("agent.transcript"))["uri"])
        path.unlink()
        path.parent.rmdir()
        path.parent.write_text("somebody else's")
        await said(host, "hello")
        with pytest.raises(Failed) as failed:
            await host.run("agent.transcript")
        assert failed.value.data["code"] == "unsupported"
        assert str(path) in str(failed.value)


async def test_nothing_is_kept_for_a_client_that_has_left(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE) as host:
        there = host.house.connection
        address = Address(host.house.session_id, "transcript")
    begun: list[object] = []

    async def text(uri: str) -> str:
        return uri

    shown = Shown(text, begun.append)
    shown.looks(there, address)
    shown.hear(address.session_id, LeafMoved("e", 1, "navigate"))
    assert begun == []


def test_a_folder_that_cannot_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(SingletreeError, match=r"tree\.txt"):
        TemporaryFiles().put("s/tree.txt", "text")
