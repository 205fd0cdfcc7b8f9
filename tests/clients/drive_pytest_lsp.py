"""What a person does in an editor made with pytest-lsp's client, for a test.

Arguments: the program to start, a folder, a scene. Told as by the other drivers (player.py).
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig
from tests.clients.player import MARK
from tests.rpc.client import AgentClient, Message


def tell(what: str, **told: object) -> None:
    print(MARK + json.dumps({"what": what, **told}), flush=True)


class Editor:
    """One buffer with undo, and somebody who answers questions."""

    def __init__(self, client: AgentClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.text = ""
        self.version = 0
        self.undone: list[str] = []
        self.asked: list[str] = []
        self.silent = asyncio.Event()

        @client.feature("agent/permission/request")  # type: ignore[untyped-decorator]  # pygls' own
        async def ask(params: Any) -> Message:
            self.asked.append(params["title"])
            if self.silent.is_set():
                await asyncio.Event().wait()
            return {"outcome": "selected", "optionId": params["options"][0]["id"]}

        @client.feature(types.WORKSPACE_APPLY_EDIT)  # type: ignore[untyped-decorator]  # pygls' own
        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            (change,) = params.edit.document_changes or ()
            assert isinstance(change, types.TextDocumentEdit)
            if change.text_document.version != self.version:
                return types.ApplyWorkspaceEditResult(applied=False)
            self.undone.append(self.text)
            lines = self.text.split("\n")
            for edit in change.edits:
                assert isinstance(edit, types.TextEdit)
                assert edit.range.start.line == edit.range.end.line
                start, end = edit.range.start, edit.range.end
                line = lines[start.line]
                lines[start.line] = line[: start.character] + edit.new_text + line[end.character :]
            self.put("\n".join(lines))
            return types.ApplyWorkspaceEditResult(applied=True)

    @property
    def uri(self) -> str:
        return (self.folder / "a.txt").as_uri()

    def open(self, text: str) -> None:
        self.text = text
        item = types.TextDocumentItem(self.uri, "plaintext", 0, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def put(self, text: str) -> None:
        self.text = text
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        changed = types.DidChangeTextDocumentParams(document, [whole])
        self.client.text_document_did_change(changed)

    def shown(self) -> str:
        deltas = [params for name, params in self.client.events if name == "agent/delta"]
        return "".join(delta["text"] for delta in deltas if delta["kind"] == "text")

    async def until_shown(self, words: str) -> None:
        await self.client.until(lambda name, params: words in self.shown(), 30)

    async def ended(self, reason: str) -> None:
        def wanted(name: str, params: Any) -> bool:
            event = params["event"] if name == "agent/event" else {}
            return bool(event.get("type") == "turn_ended" and event["reason"] == reason)

        await self.client.until(wanted, 30)


async def story(editor: Editor) -> None:
    """Say, stream, ask for permission, edit an open dirty buffer, undo."""
    editor.open("one\ntwo\nthree\n")
    editor.put("one\ntwo\nthree\nfour\n")
    await editor.client.call("agent/prompt", {"content": "go"})
    await editor.until_shown("It begins.")
    tell("begun", shown=editor.shown())
    await editor.ended("end_turn")
    tell("edited", text=editor.text, asked=editor.asked, shown=editor.shown())
    editor.put(editor.undone.pop())
    tell("undone", text=editor.text)


async def ignored(editor: Editor) -> None:
    """A question that nobody answers, until the turn is stopped; and a cancelled request."""
    editor.silent.set()
    await editor.client.call("agent/prompt", {"content": "write"})
    await editor.client.until(
        lambda name, params: name == "agent/event" and params["event"].get("status") == "open", 30
    )
    waiting = editor.client.protocol.send_request_async("agent/session/wait", {}, "w")  # type: ignore[no-untyped-call]  # pytest-lsp's own
    task = asyncio.ensure_future(waiting)
    await asyncio.sleep(0)
    editor.client.cancel_request(types.CancelParams(id="w"))
    code = 0
    try:
        await task
    except JsonRpcException as error:
        code = error.code
    told = await editor.client.call("agent/abort")
    await editor.ended("aborted")
    tell("stopped", asked=editor.asked, aborted=told["aborted"], code=code)


async def streaming(editor: Editor) -> None:
    """A turn that runs until this process is killed."""
    await editor.client.call("agent/prompt", {"content": "go"})
    await editor.until_shown("It begins.")
    tell("streaming")
    await asyncio.Event().wait()


SCENES = {"story": story, "ignored": ignored, "streaming": streaming}


async def main(program: str, folder: str, scene: str) -> None:
    config = ClientServerConfig(
        server_command=[program, "serve", "--stdio"], client_factory=AgentClient
    )
    client = await config.start()
    assert isinstance(client, AgentClient)
    editor = Editor(client, Path(folder))
    edits = types.WorkspaceEditClientCapabilities(document_changes=True)
    workspace = types.WorkspaceClientCapabilities(apply_edit=True, workspace_edit=edits)
    client.capabilities = types.ClientCapabilities(workspace=workspace)
    agent = {"protocolVersions": [1], "clientId": "pytest-lsp", "permissions": {}}
    await client.hello(agent)
    await client.call("agent/session/open", {"cwd": folder})
    await SCENES[scene](editor)
    await client.shutdown_session()
    await client.stop()
    tell("end")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
