"""A plain LSP host for tests: it declares no agent block and knows no method of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.rpc.client import Message
from tests.rpc.editor import CAPABILITIES, House, house, until

LITERALS: Message = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}}
ALL: Message = {
    **CAPABILITIES,
    "textDocument": {"codeAction": LITERALS},
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
}


class PlainHost:
    """What a person does with such a host, and what it shows."""

    def __init__(self, made: House) -> None:
        self.house = made
        self.client = made.client
        self.editor = made.editor
        self.created: list[str] = []
        self.client.reactions["window/workDoneProgress/create"] = self._create

    @property
    def folder(self) -> Path:
        return self.house.folder

    async def run(self, command: str, *arguments: object) -> Any:
        """Execute a command."""
        params = {"command": command, "arguments": list(arguments)}
        return await self.client.call("workspace/executeCommand", params)

    async def actions(self, uri: str, start: int, end: int, **context: object) -> list[Any]:
        """The code actions for the characters of the first line."""
        span = {
            "start": {"line": 0, "character": start},
            "end": {"line": 0, "character": end},
        }
        document = {"textDocument": {"uri": uri}, "range": span}
        asked = {**document, "context": {"diagnostics": [], **context}}
        found: list[Any] = await self.client.call("textDocument/codeAction", asked)
        return found

    async def do(self, action: Message) -> Any:
        """Choose a code action."""
        command = action["command"]
        return await self.run(command["command"], *command["arguments"])

    def told(self) -> list[str]:
        """The messages shown so far."""
        return [note["message"] for note in self.client.notes("window/showMessage")]

    def progress(self) -> list[Message]:
        """What was shown of work in progress so far."""
        return [note["value"] for note in self.client.notes("$/progress")]

    async def until_told(self, words: str) -> None:
        await until(lambda: any(words in one for one in self.told()))

    def never_told_ours(self) -> bool:
        """Nothing of our own protocol was sent to it."""
        sent = [frame["method"] for frame in self.client.frames if "method" in frame]
        return not any(method.startswith("agent/") for method in sent)

    def _create(self, params: Message) -> Message:
        self.created.append(params["token"])
        return {"result": None}


@asynccontextmanager
async def plain(
    root: Path,
    *turns: object,
    capabilities: Message | None = None,
    folders: Sequence[Path] | None = None,
    **changed: Any,
) -> AsyncIterator[PlainHost]:
    """A host that has its folders open and has said hello; no session is open yet."""
    async with house(root, *turns, hello=False, **changed) as made:
        roots = [made.folder] if folders is None else folders
        listed = [{"uri": one.as_uri(), "name": one.name} for one in roots]
        wanted = ALL if capabilities is None else capabilities
        result = await made.client.initialize(None, capabilities=wanted, workspaceFolders=listed)
        made.editor.encoding = result["capabilities"]["positionEncoding"]
        yield PlainHost(made)
