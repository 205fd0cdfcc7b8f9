"""The APIs we speak: for each the path, the headers, the encoder and the decoder.

Never opens a connection. Read next: remote.py (who sends), anthropic.py, openai.py, responses.py,
google.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

from pydantic import JsonValue

from singletree.messages import AssistantMessage
from singletree.model import anthropic, google, openai, responses
from singletree.model.affinity import affinity
from singletree.model.anthropic_stream import MessagesDecoder
from singletree.model.anthropic_thinking import betas
from singletree.model.base import Delta, ModelInfo, ModelRequest
from singletree.model.draft import Draft
from singletree.model.form import Form, encode
from singletree.model.google_stream import GenerateDecoder
from singletree.model.openai_stream import ChatDecoder
from singletree.model.responses_stream import ResponsesDecoder
from singletree.model.sse import ServerEvent


class Decoder(Protocol):
    """Events of a server in, deltas out; `finish` at the end of the stream gives the rest."""

    draft: Draft

    @property
    def over(self) -> bool:
        """Whether the provider said that nothing more comes."""
        ...

    def feed(self, event: ServerEvent) -> list[Delta]:
        """The deltas of one event; ModelError if it tells of a failure."""
        ...

    def finish(self) -> tuple[list[Delta], AssistantMessage]:
        """What was not told yet, and the message; ModelError if the answer is not whole."""
        ...


@dataclass(frozen=True, slots=True)
class Api:
    """One API. `path` follows a provider's address; `{model}` in it stands for the model's id."""

    path: str
    form: Form
    headers: Callable[[ModelInfo, ModelRequest, str | None], dict[str, str]]
    decoder: Callable[[Draft], Decoder]

    def encode(self, info: ModelInfo, request: ModelRequest) -> dict[str, JsonValue]:
        """The body of a request."""
        return encode(self.form, info, request)

    def url(self, info: ModelInfo) -> str:
        """Where a request goes."""
        model = quote(info.id, safe="", errors="replace")
        return info.base_url.rstrip("/") + self.path.format(model=model)


def _messages_headers(info: ModelInfo, request: ModelRequest, key: str | None) -> dict[str, str]:
    headers = {"anthropic-version": anthropic.VERSION}
    newer = betas(info, request)
    if newer:
        headers["anthropic-beta"] = newer
    if key:
        headers["x-api-key"] = key
    return headers | affinity(info, request)


def _bearer(info: ModelInfo, request: ModelRequest, key: str | None) -> dict[str, str]:
    login = {"authorization": f"Bearer {key}"} if key else {}
    return login | affinity(info, request)


def _google_headers(info: ModelInfo, request: ModelRequest, key: str | None) -> dict[str, str]:
    return {"x-goog-api-key": key} if key else {}


APIS: Mapping[str, Api] = {
    "anthropic-messages": Api(anthropic.PATH, anthropic.FORM, _messages_headers, MessagesDecoder),
    "openai-completions": Api(openai.PATH, openai.FORM, _bearer, ChatDecoder),
    "openai-responses": Api(responses.PATH, responses.FORM, _bearer, ResponsesDecoder),
    "google-generative-ai": Api(google.PATH, google.FORM, _google_headers, GenerateDecoder),
}
