"""Open buffers: what is unsaved, under which name a file is found, and what a prompt sees."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.rpc.client import Message, RawClient, connected, frame

from singletree.rpc.buffers.documents import Change, Documents, path_of, uri_of
from singletree.rpc.connection import Door
from singletree.rpc.lsp.sync import SYNC
from singletree.rpc.peer import Peer
from singletree.rpc.routes import Call, Route


def opened(path: Path, text: str, disk: bytes | None = None) -> Documents:
    if disk is not None:
        path.write_bytes(disk)
    documents = Documents()
    documents.open(uri_of(path), "python", 1, text)
    return documents


@pytest.mark.parametrize(
    ("text", "disk", "dirty"),
    [
        ("one\n", b"one\n", False),
        ("one\n", b"two\n", True),
        ("one\n", None, True),
        ("one\n", b"\xef\xbb\xbfone\n", False),
        ("one\ntwo\n", b"one\r\ntwo\r\n", False),
        ("café", b"caf\xe9", False),
        ("café", "café".encode("utf-16"), False),
        ("", b"", False),
    ],
)
async def test_dirty_when_it_was_opened(
    tmp_path: Path, text: str, disk: bytes | None, dirty: bool
) -> None:
    documents = opened(tmp_path / "f", text, disk)
    (document,) = documents
    await document.compare()
    assert await document.dirty() == dirty


async def test_dirty_while_it_is_edited(tmp_path: Path) -> None:
    file = tmp_path / "f"
    documents = opened(file, "one\n", b"one\n")
    document = await documents.find(file)
    assert document is not None
    await document.compare()
    file.write_text("changed by others\n")
    assert not await document.dirty()
    documents.change(document.uri, 2, [Change("TWO\n", (1, 0), (1, 0))])
    assert (document.version, str(document.text)) == (2, "one\nTWO\n")
    assert await document.dirty()
    file.write_text("one\nTWO\n")
    assert not await document.dirty()
    documents.save(document.uri)
    file.write_text("changed by others\n")
    assert not await document.dirty()


async def test_a_text_that_was_saved_before_it_was_compared_is_saved(tmp_path: Path) -> None:
    documents = opened(tmp_path / "f", "two\n", b"one\n")
    (document,) = documents
    documents.save(document.uri)
    await document.compare()
    assert not await document.dirty()


async def test_a_file_is_found_by_all_its_names(tmp_path: Path) -> None:
    file = tmp_path / "a b:ü%.py"
    file.write_text("")
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    documents = opened(link / file.name, "")
    (document,) = documents
    for name in (file, link / file.name, tmp_path / "x" / ".." / file.name):
        assert await documents.find(name) is document
    assert await documents.find(tmp_path / "other") is None
    assert documents.get(uri_of(link / file.name).replace(":%C3", "%3a%c3")) is document
    documents.close(document.uri)
    assert await documents.find(file) is None


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///w/a%20b.py", "/w/a b.py"),
        ("file://localhost/w/a.py", "/w/a.py"),
        ("file:///w/./x/../a.py", "/w/a.py"),
        ("file:///w/%FF", "/w/\udcff"),
        ("untitled:Untitled-1", None),
        ("file://server/share", None),
        ("file://[x", None),
        ("git:/w/a.py?ref", None),
        ("file:///w/a%00b", None),
        ("file:.", None),
    ],
)
def test_paths_of_uris(uri: str, path: str | None) -> None:
    assert path_of(uri) == path
    if path is not None:
        assert path_of(uri_of(path)) == path


async def test_a_buffer_that_is_no_file() -> None:
    documents = Documents()
    document = documents.open("untitled:Untitled-1", "", 1, "draft")
    assert await document.dirty()
    assert documents.get("untitled:Untitled-1") is document


def read(params: Message, peer: Peer) -> str | None:
    document = peer.documents.get(params["uri"])
    return None if document is None else str(document.text)


@asynccontextmanager
async def door() -> AsyncIterator[Door]:
    yield Door({**SYNC, "example/read": Route(dict, lambda params, call: call.captured, read)})


def change(client: RawClient, version: int, *edits: object) -> None:
    document = {"uri": "file:///w/f.py", "version": version}
    client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": edits})


def edit(line: int, start: int, end: int, text: str) -> Message:
    span = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {"range": span, "text": text}


@pytest.mark.parametrize(
    ("encoding", "start", "end"), [("utf-8", 4, 5), ("utf-16", 2, 3), ("utf-32", 1, 2)]
)
async def test_edits_over_the_wire(encoding: str, start: int, end: int) -> None:
    async with connected(door) as (client, _):
        general = {"general": {"positionEncodings": ["utf-7", encoding]}}
        result = await client.initialize(capabilities=general)
        assert result["capabilities"]["positionEncoding"] == encoding
        item = {"uri": "file:///w/f.py", "languageId": "x", "version": 1, "text": "😀b\n\u2028c\n"}
        client.notify("textDocument/didOpen", {"textDocument": item})
        change(client, 2, edit(0, start, end, "B"), edit(1, 0, 0, "x"))
        read = {"uri": "file:///w/f.py"}
        assert await client.call("example/read", read) == "😀B\nx\u2028c\n"
        change(client, 3, {"text": "whole"})
        assert await client.call("example/read", read) == "whole"
        change(client, 4, edit(-1, 0, 0, "never"))
        client.notify("textDocument/didSave", {"textDocument": {"uri": "file:///w/f.py"}})
        assert await client.call("example/read", read) == "whole"
        client.notify("textDocument/didClose", {"textDocument": {"uri": "file:///w/f.py"}})
        assert await client.call("example/read", read) is None
        change(client, 5, {"text": "unknown"})
        assert len(client.frames) == 5


async def test_a_request_sees_what_came_before_it_and_nothing_after() -> None:
    async with connected(door) as (client, _):
        await client.initialize()
        item = {"uri": "file:///w/f.py", "version": 1, "text": "old"}
        client.notify("textDocument/didOpen", {"textDocument": item})
        document = {"uri": "file:///w/f.py", "version": 2}
        params = {"textDocument": document, "contentChanges": [{"text": "new"}]}
        read = {"jsonrpc": "2.0", "method": "example/read", "params": {"uri": item["uri"]}}
        client.raw(
            frame(read | {"id": "before"})
            + frame({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params})
            + frame(read | {"id": "after"})
        )
        assert (await client.answer("before"))["result"] == "old"
        assert (await client.answer("after"))["result"] == "new"


def test_the_table_has_what_is_declared() -> None:
    assert sorted(SYNC) == [f"textDocument/did{m}" for m in ("Change", "Close", "Open", "Save")]


async def test_a_call_has_its_documents() -> None:
    async with connected(door) as (_, connection):
        call = Call(connection, "x", None)
        assert list(call.peer.documents) == []
