"""What the daemon asks of the editor beyond LSP: an unsaved text, and to save."""

from __future__ import annotations

from pydantic import Field

from singletree.rpc.protocol.base import Method, Params, Result, Shape
from singletree.rpc.protocol.content import Range


class EditorReadParams(Params):
    """A document, or a part of it."""

    uri: str
    range: Range | None = None


class EditorReadResult(Result):
    """The text as the person sees it. `dirty`: not as on the disk."""

    text: str
    version: int | None = None
    dirty: bool = False


class EditorSaveParams(Params):
    """Documents to write to the disk, without a dialog."""

    uris: list[str]


class SaveFailure(Shape):
    """A document that could not be saved, and why."""

    uri: str
    message: str


class EditorSaveResult(Result):
    """What was saved and what was not."""

    saved: list[str]
    failed: list[SaveFailure] = Field(default_factory=list)


METHODS = (
    Method(
        "agent/editor/read",
        EditorReadParams,
        EditorReadResult,
        "The text of a document as the person sees it.",
        direction="serverToClient",
    ),
    Method(
        "agent/editor/save",
        EditorSaveParams,
        EditorSaveResult,
        "Save documents that the agent has just changed and that were clean before.",
        direction="serverToClient",
    ),
)
