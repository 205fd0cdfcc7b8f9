"""A request in the form of one API: the envelope, and the conversation in it.

An API module says how each part looks; here they are put together, in one and the same way for all.
Pure. Read next: memo.py (the same without doing the old part again), apis.py (the forms we have).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from singletree.jsontext import Json
from singletree.messages import Message
from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.dialect import table
from singletree.model.room import output_limit, request_tokens
from singletree.model.transform import Rename, prepare


@dataclass(frozen=True, slots=True)
class Form:
    """How an API wants a request.

    `field`: where the conversation stands in the body. `head`: what stands before it there.
    `speak`: messages made fit, as groups of items; the number says how many groups were before.
    `envelope`: the body around it, for an output limit. `mark`: what its end needs
    (cache marks, a last word), set in place; False if it belongs further back than what is given.
    """

    field: str
    rename: Callable[[ModelInfo], Rename]
    head: Callable[[ModelInfo, ModelRequest], list[JsonValue]]
    speak: Callable[[ModelInfo, ModelRequest, Sequence[Message], int], list[list[JsonValue]]]
    envelope: Callable[[ModelInfo, ModelRequest, int], Json]
    mark: Callable[[ModelInfo, ModelRequest, Json, list[JsonValue]], bool]

    def around(self, info: ModelInfo, request: ModelRequest, limit: int) -> Json:
        """The envelope with what models.json adds to any body."""
        return self.envelope(info, request, limit) | table(info, "extraBody")


def encode(form: Form, info: ModelInfo, request: ModelRequest) -> Json:
    """The body of a request."""
    ready = prepare(request.messages, info, form.rename(info))
    items = form.head(info, request)
    for group in form.speak(info, request, ready, 0):
        items.extend(group)
    limit = output_limit(info, request, request_tokens(request))
    body = form.around(info, request, limit)
    form.mark(info, request, body, items)
    return {form.field: items, **body}
