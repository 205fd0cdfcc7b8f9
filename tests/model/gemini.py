"""A generative language server for tests: its streams, and how strictly it reads a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tests.model.fake_server import Seen, events

API = "google-generative-ai"
USAGE = {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11}
PICTURES = ("image/png", "image/jpeg", "image/webp")


def chunk(*parts: dict[str, Any], finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """One event of an answer."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], **fields}


def generated(*parts: dict[str, Any], finish: str | None = "STOP") -> bytes:
    """An answer in one event for each part, and one that ends it."""
    told = [chunk(part, responseId="r1", modelVersion="m") for part in parts]
    return events(*told, chunk({"text": ""}, finish=finish, usageMetadata=USAGE))


def call(name: str = "read", id: str | None = None, **args: Any) -> dict[str, Any]:
    """A call as it comes: whole, and often without an id."""
    return {"functionCall": {"name": name, "args": args} | ({"id": id} if id else {})}


def broken_turn(seen: Seen) -> str | None:
    """The rule of the newest models that a request breaks."""
    return next(faults(seen.body["contents"]), None)


def faults(contents: list[dict[str, Any]]) -> Iterator[str]:
    """What such a model would refuse in a conversation."""
    roles = [turn["role"] for turn in contents]
    if not roles or roles[0] != "user" or roles[-1] != "user":
        yield "requests begin and end with a user turn"
    if any(pair == ("model", "model") for pair in pairwise(roles)):
        yield "a call turn comes immediately after a user turn or a response turn"
    asked: list[tuple[str, str]] = []
    for turn in contents:
        answers = _named(turn, "functionResponse")
        if sorted(answers) != sorted(asked):
            yield f"responses {answers} are not those to the calls {asked}"
        asked = _named(turn, "functionCall")
        yield from _part_faults(turn)
    if asked:
        yield f"the calls {asked} have no response"


def _named(turn: dict[str, Any], kind: str) -> list[tuple[str, str]]:
    return [(part[kind]["id"], part[kind]["name"]) for part in turn["parts"] if kind in part]


def _part_faults(turn: dict[str, Any]) -> Iterator[str]:
    if not turn["parts"]:
        yield "contents.parts must not be empty"
    calls = [part for part in turn["parts"] if "functionCall" in part]
    if calls and not calls[0].get("thoughtSignature"):
        yield "Function call is missing a thought_signature in functionCall parts"
    for part in turn["parts"]:
        if part.get("text") == "" and not part.get("thoughtSignature"):
            yield "a text part is empty"
        if "inlineData" in part and part["inlineData"]["mimeType"] not in PICTURES:
            yield f"Unsupported MIME type: {part['inlineData']['mimeType']}"
