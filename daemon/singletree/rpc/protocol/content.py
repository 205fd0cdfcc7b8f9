"""What a person gives to the agent: ACP's content blocks and four that editors need.

Positions are LSP's, in the encoding agreed on in `initialize`. Never knows how a block becomes text
for a model. Read next: turn.py.
"""

from __future__ import annotations

import binascii
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from singletree.rpc.protocol.base import JsonObject, Shape


def _base64(text: str) -> str:
    try:
        binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except (ValueError, UnicodeError):
        raise ValueError(NO_BASE64) from None
    return text


NO_BASE64 = "must be base64, without line ends and without a data: prefix"
NO_CONTENT = "must have text or blob"

Base64 = Annotated[
    str, AfterValidator(_base64), Field(json_schema_extra={"contentEncoding": "base64"})
]


class Position(Shape):
    """A place in a document, counted from 0."""

    line: int = Field(ge=0)
    character: int = Field(ge=0)


class Range(Shape):
    """From `start` up to, not including, `end`."""

    start: Position
    end: Position


class TextBlock(Shape):
    """A run of text. `context`: an editor added it; the person wrote none of it."""

    type: Literal["text"]
    text: str
    context: bool | None = None


class ImageBlock(Shape):
    """A picture; `data` is base64. What it is, its bytes say; one that no model takes is a note."""

    type: Literal["image"]
    data: Base64
    mime_type: str
    uri: str | None = None


class AudioBlock(Shape):
    """A recording; `data` is base64. `contentKinds` says whether the daemon takes it."""

    type: Literal["audio"]
    data: Base64
    mime_type: str


class ResourceLink(Shape):
    """A file or page named by URI; its content is read when it is needed."""

    type: Literal["resource_link"]
    uri: str
    name: str = ""
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None


class ResourceContents(Shape):
    """The text or the bytes (base64) of a resource; one of them is there."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: Base64 | None = None

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if self.text is None and self.blob is None:
            raise ValueError(NO_CONTENT)
        return self


class ResourceBlock(Shape):
    """A resource with its content in the message."""

    type: Literal["resource"]
    resource: ResourceContents


class SelectionBlock(Shape):
    """A selected piece of a document.

    Without `text` it is cut out of the open document, if `version` is still its version; otherwise
    the model is told the place alone.
    """

    type: Literal["selection"]
    uri: str
    range: Range
    version: int | None = None
    text: str | None = None


class DiagnosticBlock(Shape):
    """A problem an editor shows: an LSP Diagnostic and the document it stands in."""

    type: Literal["diagnostic"]
    uri: str
    diagnostic: JsonObject


class FileMention(Shape):
    """A file a person named, whole or in part: told by its path, not pasted.

    Their own words name it too: this does not come back with them to be written anew.
    """

    type: Literal["fileMention"]
    uri: str
    range: Range | None = None


ContentBlock = Annotated[
    TextBlock
    | ImageBlock
    | AudioBlock
    | ResourceLink
    | ResourceBlock
    | SelectionBlock
    | DiagnosticBlock
    | FileMention,
    Field(discriminator="type"),
]


def _one_text(value: object) -> object:
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


Content = Annotated[
    list[ContentBlock],
    BeforeValidator(_one_text, json_schema_input_type=str | list[ContentBlock]),
]
"""A string stands for one text block."""
