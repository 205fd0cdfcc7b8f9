"""Short ways to ask a model in a test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.model.fake_server import FakeServer

from singletree.errors import ContextOverflow, ModelError
from singletree.messages import AssistantMessage, Message, UserMessage
from singletree.model.base import Delta, Model, ModelInfo, ModelRequest, Terms, ToolSpec
from singletree.model.failure import classify
from singletree.model.http import Http
from singletree.model.remote import RemoteModel
from singletree.model.thinking import levels_of

READ = ToolSpec(
    "read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}
)


def asked(*messages: Message | str, **fields: Any) -> ModelRequest:
    """A request; strings are user messages."""
    return ModelRequest(
        system=fields.pop("system", ""),
        messages=tuple(UserMessage(content=m) if isinstance(m, str) else m for m in messages),
        **fields,
    )


async def play(model: Model, request: ModelRequest) -> list[Delta]:
    """All that is told."""
    heard: list[Delta] = []
    await model.answer(request, heard.extend)
    return heard


async def answer(model: Model, *messages: Message | str, **fields: Any) -> AssistantMessage:
    """The message at the end."""
    return await model.answer(asked(*messages, **fields), lambda deltas: None)


async def failure(model: Model, *messages: Message | str) -> tuple[list[Delta], ModelError]:
    """The events before the failure, and the failure."""
    seen: list[Delta] = []
    try:
        await model.answer(asked(*messages or ("hi",)), seen.extend)
    except ModelError as error:
        return seen, error
    raise AssertionError(f"no failure, but {seen}")


def failed(text: str) -> ModelError:
    """The error that these words of a provider are, by what they say alone."""
    kind = classify(text)
    make = ContextOverflow if kind.code == "context_overflow" else ModelError
    return make(text, code=kind.code, retryable=kind.retryable)


def info_for(server: FakeServer, api: str = "openai-completions", **fields: Any) -> ModelInfo:
    """A model at the fake server."""
    base = server.url if api == "anthropic-messages" else f"{server.url}/v1"
    reasoning = fields.get("reasoning", False)
    return ModelInfo(
        **{
            "provider": "fake",
            "id": "m",
            "api": api,
            "base_url": base,
            "levels": levels_of(reasoning, {}),
            **fields,
        }
    )


@asynccontextmanager
async def model_at(
    server: FakeServer,
    api: str = "openai-completions",
    *,
    key: str | None = "sk-test-123",
    terms: Terms | None = None,
    env: dict[str, str] | None = None,
    headers: dict[str, str] | None = None,
    **fields: Any,
) -> AsyncIterator[RemoteModel]:
    """A model at the fake server, its connections closed at the end."""
    http = Http(env or {})
    try:
        info = info_for(server, api, **fields)
        yield RemoteModel(info, http, key=key, headers=headers, terms=lambda: terms or Terms())
    finally:
        await http.close()
