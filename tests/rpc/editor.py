"""An editor for tests: buffers with undo, over any client; it can also behave badly, as some do.

It counts characters by itself, so that it and the daemon can disagree. `house` gives one that is
connected to a whole daemon in this process, with a scripted model behind it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tests.rpc.client import Message, RawClient, connected

from singletree.host.options import Options
from singletree.model.base import ModelRequest
from singletree.model.scripted import ScriptedModel
from singletree.rpc.buffers.documents import Document
from singletree.rpc.connection import Connection
from singletree.rpc.daemon import Daemon
from singletree.rpc.server import door_of


@dataclass
class Buffer:
    """A text with a version and an undo stack. `saved`: what the disk is thought to hold."""

    uri: str
    text: str
    version: int = 1
    undone: list[str] = field(default_factory=list)
    saved: str | None = None

    @property
    def dirty(self) -> bool:
        return self.text != self.saved


class Editor:
    """What a person does, and how the editor answers. Set `on_edit` to answer in another way."""

    def __init__(self, client: RawClient, encoding: str = "utf-16") -> None:
        self.client = client
        self.encoding = encoding
        self.buffers: dict[str, Buffer] = {}
        self.labels: list[str | None] = []
        self.edits: list[list[Message]] = []
        self.on_edit: Callable[[Message], Message] = self.apply
        self.on_save: Callable[[str], None] = self.write
        client.reactions["workspace/applyEdit"] = lambda params: self.on_edit(params)
        client.reactions["agent/editor/read"] = self.read
        client.reactions["agent/editor/save"] = self.save_all

    # what a person does

    def open(self, path: Path | str, text: str | None = None) -> str:
        """Open a file, or a text that no file has: its address."""
        uri = path.as_uri() if isinstance(path, Path) else path
        saved = None
        if isinstance(path, Path) and path.exists():
            saved = path.read_bytes().decode("utf-8", "replace")
        buffer = Buffer(uri, text if text is not None else saved or "", saved=saved)
        self.buffers[uri] = buffer
        item = {"uri": uri, "languageId": "x", "version": 1, "text": buffer.text}
        self.client.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def type(self, uri: str, line: int, character: int, text: str) -> None:
        """Put a text in somewhere."""
        place = {"line": line, "character": character}
        self.change(uri, [{"range": {"start": place, "end": place}, "newText": text}])

    def change(self, uri: str, edits: Sequence[Message]) -> None:
        """Make edits as one step and tell the daemon."""
        buffer = self.buffers[uri]
        buffer.undone.append(buffer.text)
        changed = self.edited(buffer.text, edits)
        single = edits[0] if len(edits) == 1 else None
        told = {"range": single["range"], "text": single["newText"]} if single else None
        self.put(buffer, changed, told)

    def put(self, buffer: Buffer, text: str, told: Message | None = None) -> None:
        """The buffer has another text now."""
        buffer.text = text
        buffer.version += 1
        document = {"uri": buffer.uri, "version": buffer.version}
        changes = [told or {"text": text}]
        params = {"textDocument": document, "contentChanges": changes}
        self.client.notify("textDocument/didChange", params)

    def undo(self, uri: str) -> None:
        """Take the last step back."""
        self.put(self.buffers[uri], self.buffers[uri].undone.pop())

    def write(self, uri: str) -> None:
        """Save, as a person does."""
        buffer = self.buffers[uri]
        Path(unquote(uri.removeprefix("file://"))).write_bytes(buffer.text.encode())
        buffer.saved = buffer.text
        self.client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    def close(self, uri: str) -> None:
        del self.buffers[uri]
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    # what the daemon asks for

    def apply(self, params: Message) -> Message:
        """Apply a workspace edit as LSP says it: one step, only on the version it is for."""
        self.labels.append(params.get("label"))
        for change in params["edit"]["documentChanges"]:
            if change.get("kind") == "create":
                self.open(Path(unquote(change["uri"].removeprefix("file://"))), "")
                continue
            document = change["textDocument"]
            if document["uri"] not in self.buffers:
                self.open(Path(unquote(document["uri"].removeprefix("file://"))))
            buffer = self.buffers[document["uri"]]
            if document["version"] not in (None, buffer.version):
                return {"result": {"applied": False, "failureReason": "another version"}}
            self.edits.append(change["edits"])
            self.change(buffer.uri, change["edits"])
        return {"result": {"applied": True}}

    def read(self, params: Message) -> Message:
        buffer = self.buffers[params["uri"]]
        told = {"text": buffer.text, "version": buffer.version, "dirty": buffer.dirty}
        return {"result": told}

    def save_all(self, params: Message) -> Message:
        for uri in params["uris"]:
            self.on_save(uri)
        return {"result": {"saved": params["uris"], "failed": []}}

    def edited(self, text: str, edits: Sequence[Message]) -> str:
        """The text with edits that all speak of the text before."""
        spans = [
            (self.offset(text, e["range"]["start"]), self.offset(text, e["range"]["end"]), e)
            for e in edits
        ]
        for start, end, edit in sorted(spans, key=lambda span: span[:2], reverse=True):
            text = text[:start] + edit["newText"] + text[end:]
        return text

    def offset(self, text: str, place: Message) -> int:
        lines = text.split("\n")
        before = sum(len(line) + 1 for line in lines[: place["line"]])
        line = (lines[place["line"]] if place["line"] < len(lines) else "").removesuffix("\r")
        if self.encoding == "utf-8":
            head = line.encode()[: place["character"]].decode()
        elif self.encoding == "utf-16":
            head = line.encode("utf-16-le")[: 2 * place["character"]].decode("utf-16-le")
        else:
            head = line[: place["character"]]
        return min(before + len(head), len(text))


@dataclass
class House:
    """A daemon in this process, and the editor that it serves."""

    root: Path
    daemon: Daemon
    editor: Editor
    connection: Connection
    declared: Message
    capabilities: Message
    session_id: str = ""

    @property
    def client(self) -> RawClient:
        return self.editor.client

    @property
    def folder(self) -> Path:
        return self.root / "work"

    async def hello(self, **params: Any) -> None:
        """Say who the client is."""
        result = await self.client.initialize(
            self.declared, capabilities=self.capabilities, **params
        )
        self.editor.encoding = result["capabilities"]["positionEncoding"]

    async def open(self, **params: Any) -> Any:
        """Open the session of the folder."""
        told = await self.client.call("agent/session/open", {"cwd": str(self.folder), **params})
        self.session_id = told["sessionId"]
        return told

    async def known(self, uri: str) -> Document:
        """The daemon's own copy of a buffer, once it has compared it with the disk."""
        await self.client.call("agent/session/state", {"sessionId": self.session_id})
        found = self.connection.documents.get(uri)
        assert found is not None
        await until(lambda: found.differed is not None)
        return found

    async def say(self, words: str = "go", **params: Any) -> list[Message]:
        """Say something and wait until all is settled: the calls that have ended since."""
        start = len(self.client.notes("agent/event"))
        said = {"sessionId": self.session_id, "content": words, **params}
        await self.client.call("agent/prompt", said)
        await self.settled()
        told = [note["event"] for note in self.client.notes("agent/event")[start:]]
        return [e for e in told if e["type"] == "tool" and "result" in e]

    def requests(self) -> Sequence[ModelRequest]:
        """What the model was asked."""
        model = self.daemon.host.get(self.session_id).choice.model()
        assert isinstance(model, ScriptedModel)
        return model.requests

    async def settled(self) -> None:
        params = {"sessionId": self.session_id, "for": "settled"}
        await self.client.call("agent/session/wait", params, 15)


CAPABILITIES: Message = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
}


def said(event: Message) -> str:
    """What the model heard of a call."""
    return "\n".join(b["text"] for b in event["result"]["content"] if b["type"] == "text")


def options(root: Path, *turns: object, **changed: Any) -> Options:
    """A daemon's options: everything below `root`, and a model that plays these turns."""
    script = root / "script.jsonl"
    script.write_text("".join(json.dumps(turn) + "\n" for turn in turns), "utf-8")
    (root / "work").mkdir(exist_ok=True)
    given: dict[str, Any] = {
        "agent_dir": root / "agent",
        "environment": {"PATH": "/usr/bin:/bin", "HOME": str(root)},
        "model": f"scripted:{script}",
        "mode": "allowAll",
    }
    return Options(**{**given, **changed})


@asynccontextmanager
async def house(
    root: Path,
    *turns: object,
    editor: Message | None = None,
    capabilities: Message | None = None,
    agent: Message | None = None,
    hello: bool = True,
    **changed: Any,
) -> AsyncIterator[House]:
    """A house whose session is open, unless nothing is said yet.

    `editor`: what the client declares in its block.
    """
    declared = {"protocolVersions": [1], "permissions": {}, "clientId": "test", **(agent or {})}
    if editor is not None:
        declared["editor"] = editor
    daemon = Daemon(options(root, *turns, **changed))
    async with connected(lambda: door_of(daemon)) as (client, connection):
        wanted = CAPABILITIES if capabilities is None else capabilities
        made = House(root, daemon, Editor(client), connection, declared, wanted)
        if hello:
            await made.hello()
            await made.open()
        yield made


async def until(reached: Callable[[], bool], seconds: float = 10) -> None:
    """Wait for something that nobody tells."""
    async with asyncio.timeout(seconds):
        while not reached():  # noqa: ASYNC110 - anything may be waited for
            await asyncio.sleep(0.005)
