"""What a person gives to the agent -> what a model reads: content blocks as text and pictures.

Done when the message arrives: what a selection points to is cut out of the buffer as it then is,
and what is typed right behind the message is not in it. Never reads a file. Read next:
protocol/content.py (the blocks), buffers/documents.py (open buffers).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import assert_never
from urllib.parse import unquote, urlsplit

from singletree.errors import SingletreeError
from singletree.messages import Image, Text, well_formed
from singletree.rpc.buffers.documents import Documents
from singletree.rpc.faults import parse_as
from singletree.rpc.protocol.content import (
    AudioBlock,
    ContentBlock,
    DiagnosticBlock,
    FileMention,
    ImageBlock,
    Range,
    ResourceBlock,
    ResourceContents,
    ResourceLink,
    SelectionBlock,
    TextBlock,
)
from singletree.rpc.protocol.turn import EditorContext
from singletree.tools.images import picture_type

MENTION = "The user points to {place}."
SELECTION = "The user selected this in {place}:\n{text}"
SELECTION_ONLY = "The user selected {place}."
RESOURCE = "The user attached {place}:\n{text}"
DIAGNOSTIC = "The editor reports for {place}: {message}"
ACTIVE = "The editor shows {place}."
NO_AUDIO = "Recordings cannot be used here; send text or a picture."
BINARY = "The user attached {place} ({size} bytes that are no text); use a tool to look at it."


def blocks(content: Sequence[ContentBlock], documents: Documents) -> list[Text | Image]:
    """The blocks of a message, in order. Raises `input_rejected` for what no model can take."""
    return [_block(one, documents) for one in content]


def with_context(
    said: list[Text | Image], context: EditorContext | None, documents: Documents
) -> list[Text | Image]:
    """The message with what the editor shows at this moment, after what the person wrote."""
    if context is None:
        return said
    lines: list[str] = []
    editor = context.active_editor
    uri = editor.uri if editor else ""
    if context.selection is not None:
        span, text = context.selection.range, context.selection.text
        version = editor.version if editor else None
        lines.append(_selection(uri, span, text or text_in(documents, uri, span, version)))
    elif editor is not None:
        lines.append(ACTIVE.format(place=place(uri, editor.visible)))
    for diagnostic in context.diagnostics or []:
        lines.append(_diagnostic(uri, diagnostic))
    return [*said, Text(text=well_formed("\n\n".join(lines)), context=True)] if lines else said


def place(uri: str, span: Range | None = None) -> str:
    """A document, and lines of it counted from 1, as a person would name them."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri  # no address at all: named as it was given
    name = unquote(parts.path) if parts.scheme == "file" else uri
    if span is None:
        return name
    first, last = span.start.line + 1, max(span.start.line, _last_line(span)) + 1
    return f"{name} line {first}" if first == last else f"{name} lines {first}-{last}"


def text_in(documents: Documents, uri: str, span: Range, version: int | None = None) -> str | None:
    """The text of a range of an open buffer; None where the range is one of another version."""
    document = documents.get(uri)
    if document is None or version not in (None, document.version):
        return None
    start, end = span.start, span.end
    return document.text.between(
        (start.line, start.character), (end.line, end.character), documents.encoding
    )


def _last_line(span: Range) -> int:
    """A selection that ends at the start of a line does not reach into it."""
    return span.end.line - (span.end.character == 0 and span.end.line > span.start.line)


def _block(block: ContentBlock, documents: Documents) -> Text | Image:
    match block:
        case TextBlock(text=text, context=context):
            return Text(text=well_formed(text), context=context)
        case ImageBlock(data=data, mime_type=mime_type):
            return Image(data=data, mime_type=mime_type)
        case AudioBlock():
            raise SingletreeError(NO_AUDIO, code="input_rejected")
        case ResourceLink(uri=uri):
            return Text(text=MENTION.format(place=place(uri)))
        case FileMention(uri=uri, range=span):
            return Text(text=MENTION.format(place=place(uri, span)), context=True)
        case ResourceBlock(resource=given):
            return _resource(given)
        case SelectionBlock(uri=uri, range=span, text=text, version=version):
            chosen = text_in(documents, uri, span, version) if text is None else text
            return Text(text=well_formed(_selection(uri, span, chosen)))
        case DiagnosticBlock(uri=uri, diagnostic=diagnostic):
            return Text(text=well_formed(_diagnostic(uri, diagnostic)))
    assert_never(block)


def _resource(given: ResourceContents) -> Text | Image:
    """A text as it is, a picture as one; of other bytes the model hears that they are there."""
    where = place(given.uri)
    if given.text is not None:
        return Text(text=well_formed(RESOURCE.format(place=where, text=fenced(given.text))))
    data = base64.b64decode(given.blob or "")
    mime = picture_type(data)
    if given.blob and mime:
        return Image(data=given.blob, mime_type=mime)
    return Text(text=well_formed(BINARY.format(place=where, size=len(data))))


def _selection(uri: str, span: Range, text: str | None) -> str:
    where = place(uri, span)
    if text is None:
        return SELECTION_ONLY.format(place=where)
    return SELECTION.format(place=where, text=fenced(text))


def _diagnostic(uri: str, diagnostic: Mapping[str, object]) -> str:
    span = diagnostic.get("range")
    where = place(uri, parse_as(Range, span)) if isinstance(span, dict) else place(uri)
    source = diagnostic.get("source")
    message = str(diagnostic.get("message", "a problem"))
    return DIAGNOSTIC.format(place=where, message=f"{source}: {message}" if source else message)


def fenced(text: str) -> str:
    """The text in a fence longer than any inside it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
