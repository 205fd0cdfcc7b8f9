"""Text synchronisation: LSP's four notifications, and folders, into a client's documents.

In the table of routes rather than with pygls, because what follows them must see them: a prompt
right behind a change reads the changed text. Never knows what a document is used for. Read next:
../buffers/documents.py.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from singletree.rpc.buffers.documents import Change, Document
from singletree.rpc.peer import Peer
from singletree.rpc.routes import Call, Route, Routes

UInt = Annotated[int, Field(ge=0, le=2**31 - 1)]


class _Shape(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, defer_build=True)


class Place(_Shape):
    """A position."""

    line: UInt
    character: UInt


class Span(_Shape):
    """A range."""

    start: Place
    end: Place


class Item(_Shape):
    """A document as it is opened."""

    uri: str
    language_id: str = ""
    version: int = 0
    text: str


class Versioned(_Shape):
    """A document, and the version it has after a change."""

    uri: str
    version: int | None = None


class ContentChange(_Shape):
    """An edit; without a range the whole text."""

    range: Span | None = None
    text: str


class DidOpen(_Shape):
    """textDocument/didOpen."""

    text_document: Item


class DidChange(_Shape):
    """textDocument/didChange."""

    text_document: Versioned
    content_changes: list[ContentChange]


class Named(_Shape):
    """textDocument/didSave and didClose."""

    text_document: Versioned


def _open(params: DidOpen, peer: Peer) -> Document:
    item = params.text_document
    return peer.documents.open(item.uri, item.language_id, item.version, item.text)


async def _compare(params: DidOpen, call: Call) -> None:
    await call.captured.compare()


def _change(params: DidChange, call: Call) -> None:
    document = params.text_document
    changes = [_edit(change) for change in params.content_changes]
    documents = call.peer.documents
    documents.change(document.uri, document.version, changes)
    if (changed := documents.get(document.uri)) is not None:
        changed.settle()


def _save(params: Named, call: Call) -> None:
    call.peer.documents.save(params.text_document.uri)


def _close(params: Named, call: Call) -> None:
    call.peer.documents.close(params.text_document.uri)


def _edit(change: ContentChange) -> Change:
    if (span := change.range) is None:
        return Change(change.text)
    start, end = span.start, span.end
    return Change(change.text, (start.line, start.character), (end.line, end.character))


SYNC: Routes = {
    "textDocument/didOpen": Route(DidOpen, _compare, _open),
    "textDocument/didChange": Route(DidChange, _change),
    "textDocument/didSave": Route(Named, _save),
    "textDocument/didClose": Route(Named, _close),
}
