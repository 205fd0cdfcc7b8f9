"""What an extension, or the daemon, may put before a person: dialogs and small signs."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from singletree.rpc.protocol.base import JsonObject, Method, Params, Result, Shape

SignKind = Literal["status", "widget", "title", "editorText", "notice"]
DialogKind = Literal["select", "confirm", "input", "editor", "form"]


class UiOption(Shape):
    """One thing to choose."""

    value: str
    label: str
    description: str | None = None


class UiRequestParams(Params):
    """A dialog. `options` go with `select`; `schema` (a subset of JSON Schema) with `form`."""

    session_id: str
    request_id: str
    kind: DialogKind
    title: str
    message: str | None = None
    options: list[UiOption] | None = None
    json_schema: JsonObject | None = None
    prefill: str | None = None
    timeout_ms: int | None = None


class UiAnswer(Result):
    """`value`: a text, true or false, or the form's object; or it was dismissed."""

    value: JsonValue = None
    cancelled: bool = False


class UiUpdateParams(Params):
    """A sign under a `key`; a null payload takes it away.

    `payload` is a text, for a `widget` a list of lines. Clients that declared `ui.status` get
    `status` and `title`, with `ui.widgets` `widget`, with `ui.notify` `notice` and `editorText` (a
    text for the input).
    """

    session_id: str
    kind: SignKind
    key: str
    payload: JsonValue


METHODS = (
    Method(
        "agent/ui/request",
        UiRequestParams,
        UiAnswer,
        "Ask a person something. Only kinds the client declared are asked; for the others a "
        "select or confirm goes through `window/showMessageRequest`, the rest is cancelled.",
        direction="serverToClient",
    ),
    Method(
        "agent/ui/update",
        UiUpdateParams,
        None,
        "Show something small: a status, a widget, a title, a text for the input, a notice. "
        "Told when it changes; what stands is told again behind the answer to open and attach.",
        direction="serverToClient",
    ),
)
