"""One edit of an open document through its editor, and the proof that it is there.

`applied: true` proves nothing: editors say it of edits that they threw away. What counts is the
text that comes back: the change that the editor tells of itself, or the text it gives when it is
asked. Changes that a person makes elsewhere in the document meanwhile do no harm. Never writes a
file, never repeats an edit. Read next: ../buffers/changes.py, files.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import anyio
from anyio import to_thread
from pydantic import JsonValue

from singletree.rpc.asking import ClientError, ClientGone
from singletree.rpc.buffers.changes import Hunk, contains, lacks, smallest, unix
from singletree.rpc.buffers.documents import Document
from singletree.rpc.buffers.text import Encoding, Text
from singletree.rpc.editing.buffers import Opened
from singletree.rpc.hello import part
from singletree.rpc.peer import Peer
from singletree.rpc.protocol.base import JsonObject
from singletree.rpc.protocol.editor import EditorReadResult

ANSWER_SECONDS: Final = 30.0
"""An editor may ask its person first."""
SOON_SECONDS: Final = 0.5
PROOF_SECONDS: Final = 2.0
"""Some editors gather changes before they tell of them."""
READ_SECONDS: Final = 5.0

NO_REASON = "it gave no reason"
UNKNOWN = "it does not know how"
GONE = "the editor has gone, and may have made it"
NO_ANSWER = "the editor did not answer, and may still make it"
NEITHER = "the editor's text is now neither the old one nor the new one"
SAID_SO = "it said so, but its text is as before"

Kind = Literal["landed", "refused", "stale", "unproven"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an edit. All but `landed` and `unproven` left the document without it.

    `reason`: why it was refused, or what is not certain.
    """

    kind: Kind
    reason: str = ""


def can_edit(peer: Peer) -> bool:
    """Whether this client applies edits that it is asked for."""
    wanted = part(peer.client.agent, "editor").get("applyEdit")
    if wanted == "none":
        return False
    able = part(peer.client.capabilities, "workspace").get("applyEdit") is True
    return able or wanted in ("open", "all")


def can(peer: Peer, ability: Literal["read", "save"]) -> bool:
    """Whether this client declared that it gives texts, or saves."""
    return ability in part(peer.client.agent, "editor")


def workspace_edit(peer: Peer) -> Mapping[str, object]:
    """What this client can do with a workspace edit, as LSP declares it."""
    return part(part(peer.client.capabilities, "workspace"), "workspaceEdit")


async def apply(opened: Opened, new: str, label: str) -> Outcome:
    """Make a document's text `new`, by one edit that names its version; one step of undo.

    What `new` was made from is the text at which the document was found; another is `stale`.
    """
    peer, document = opened.peer, opened.document
    old = str(document.text)
    hunks = await to_thread.run_sync(smallest, old, new)
    if opened.changed:
        return Outcome("stale")
    edits = edits_of(document.text, hunks, peer.documents.encoding)
    params = _params(peer, document.uri, document.version, edits, label)
    proof = _Proof(document, old, new)
    document.heard.append(proof.look)
    try:
        refusal = await ask_to_apply(peer, params)
        given = await _text_after(peer, document, proof, refusal)
    finally:
        document.heard.remove(proof.look)
    if proof.seen.is_set():
        return Outcome("landed")
    actual = str(document.text) if given is None else given
    return await to_thread.run_sync(_judge, proof, actual, refusal)


async def _text_after(
    peer: Peer, document: Document, proof: _Proof, refusal: str | None
) -> str | None:
    """Wait for the proof; the text that the editor gives where it can be asked for it."""
    if refusal is None:
        await proof.wait(SOON_SECONDS)
    if proof.seen.is_set():
        return None
    if can(peer, "read") and (given := await _text(peer, document)) is not None:
        if proof.same(given):
            await proof.wait(PROOF_SECONDS)  # our own copy is to follow
        return given
    if refusal is None:
        await proof.wait(PROOF_SECONDS)
    return None


def edits_of(text: Text, hunks: Sequence[Hunk], encoding: Encoding) -> list[JsonValue]:
    """Hunks of a text as LSP's edits."""
    made: list[JsonValue] = []
    for hunk in hunks:
        (line, character), (last, end) = (
            text.position(at, encoding) for at in (hunk.start, hunk.end)
        )
        span: JsonObject = {
            "start": {"line": line, "character": character},
            "end": {"line": last, "character": end},
        }
        made.append({"range": span, "newText": hunk.new})
    return made


def _params(
    peer: Peer, uri: str, version: int, edits: list[JsonValue], label: str
) -> dict[str, object]:
    edit: dict[str, object] = {"changes": {uri: edits}}
    if workspace_edit(peer).get("documentChanges") is True:
        document = {"uri": uri, "version": version}
        edit = {"documentChanges": [{"textDocument": document, "edits": edits}]}
    return {"label": label, "edit": edit}


async def ask_to_apply(peer: Peer, params: dict[str, object]) -> str | None:
    """Why the editor did not apply it; None if it says that it did."""
    try:
        with anyio.fail_after(ANSWER_SECONDS):
            raw = await peer.call("workspace/applyEdit", params, object)
    except ClientGone:
        return GONE
    except ClientError as error:
        return error.message or NO_REASON
    except TimeoutError:
        return NO_ANSWER
    if not isinstance(raw, dict):
        return UNKNOWN
    if raw.get("applied") is True:
        return None
    reason = raw.get("failureReason")
    return reason if isinstance(reason, str) and reason else NO_REASON


async def _text(peer: Peer, document: Document) -> str | None:
    """The text as the editor gives it."""
    try:
        with anyio.fail_after(READ_SECONDS):
            asked = {"uri": document.uri}
            return (await peer.call("agent/editor/read", asked, EditorReadResult)).text
    except (ClientGone, ClientError, TimeoutError):
        return None


class _Proof:
    """Watches a document for the moment at which its text is the wanted one."""

    def __init__(self, document: Document, old: str, new: str) -> None:
        self.old, self.new = unix(old), unix(new)
        self.seen = anyio.Event()
        self._document = document
        self._lenient = self.old.removesuffix("\n") != self.new.removesuffix("\n")

    def look(self) -> None:
        """The document has changed."""
        if self.same(str(self._document.text)):
            self.seen.set()

    def same(self, text: str) -> bool:
        """Whether this is the text; a last line end is the editor's own business."""
        text = unix(text)
        if self._lenient:
            return text.removesuffix("\n") == self.new.removesuffix("\n")
        return text == self.new

    async def wait(self, seconds: float) -> None:
        """Wait until it was seen."""
        with anyio.move_on_after(seconds):
            await self.seen.wait()


def _judge(proof: _Proof, actual: str, refusal: str | None) -> Outcome:
    """What became of it, by the text that is there now."""
    old, new, actual = proof.old, proof.new, unix(actual)
    if proof.same(actual) or (refusal is None and contains(old, new, actual)):
        return Outcome("landed")
    if actual == old and refusal in (GONE, NO_ANSWER):
        return Outcome("unproven", refusal)
    if actual == old:
        return Outcome("refused", refusal or SAID_SO)
    if lacks(old, new, actual):
        return Outcome("stale", refusal or "")
    return Outcome("unproven", NEITHER)
