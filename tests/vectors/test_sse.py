"""Family sse: bytes of providers in, one message out; partial and repaired JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.vectors.model_shapes import info_of
from tests.vectors.runner import Case, run

from singletree.errors import ModelError
from singletree.messages import AssistantMessage
from singletree.model.apis import APIS
from singletree.model.base import Delta, TextDelta, ThinkingDelta, ToolCallDelta
from singletree.model.draft import Draft
from singletree.model.failure import broken, refused
from singletree.model.partial_json import PartialJson, parse_arguments, repair_json
from singletree.model.sse import SSEDecoder

Told = list[tuple[str, int, str]]


def test_sse() -> None:
    failed = run("sse", CHECKS)
    assert failed == []


def check_stream(case: Case) -> None:
    """Whole, and byte by byte: the same deltas and the same message."""
    data = case.input["stream"].encode("utf-8", "surrogatepass")
    for pieces in (_network(case, data), [data[i : i + 1] for i in range(len(data))]):
        told, message, error = _play(case, pieces)
        want = case.expected["message"]
        assert _shape(message, error) == _wanted(want)
        assert told == _deltas(case.expected["events"], want)


def check_http(case: Case) -> None:
    """A status that is no 2xx: the status and the provider's words are told."""
    error = refused(
        case.input["http_status"],
        case.input["stream"],
        case.input.get("http_headers", {}),
        provider="anthropic",
    )
    want = case.expected["message"]["error"]
    assert f"http_{error.status}" == want["code"]
    assert want.get("provider_text_shown", "") in error.message


def check_partial(case: Case) -> None:
    """The value after each piece, and at the end."""
    partial = PartialJson()
    values = []
    for piece in case.input["pieces"]:
        partial.feed(piece)
        values.append(json.loads(json.dumps(partial.value)))
    assert values == case.expected["partial"]
    value, error = parse_arguments("".join(case.input["pieces"]))
    assert (value, error is not None) == (case.expected["final"], case.expected["final_error"])


def check_repair(case: Case) -> None:
    """The value, or no value."""
    try:
        value = {"value": repair_json(case.input["text"])}
    except ValueError:
        value = {"error": True}
    assert value == case.expected


CHECKS = {
    "anthropic": check_stream,
    "anthropic_http": check_http,
    "anthropic_chunked": check_stream,
    "chat": check_stream,
    "chat_http": check_http,
    "chat_chunked": check_stream,
    "responses": check_stream,
    "responses_http": check_http,
    "responses_chunked": check_stream,
    "partial_json": check_partial,
    "repair_json": check_repair,
}


def _network(case: Case, data: bytes) -> list[bytes]:
    sizes = case.input.get("chunk_sizes") or [len(data)]
    pieces, at = [], 0
    for size in sizes:
        pieces.append(data[at : at + size])
        at += size
    return [*pieces, data[at:]]


def _play(case: Case, pieces: list[bytes]) -> tuple[Told, AssistantMessage, str | None]:
    info = info_of(case.input["model"])
    decoder = APIS[info.api].decoder(Draft(info))
    sse = SSEDecoder()
    events: list[Delta] = []
    try:
        for piece in pieces:
            for event in sse.feed(piece):
                events += decoder.feed(event)
        if case.input.get("connection_cut") and not decoder.over:
            raise broken("the connection was cut", provider=info.provider)
        for event in sse.close():
            events += decoder.feed(event)
        rest, message = decoder.finish()
        return _told(events + rest), message, message.error_message
    except ModelError as error:
        return _told(events), decoder.draft.message("error"), error.message


def _told(events: list[Delta]) -> Told:
    """Deltas of one part in a row joined: how the network cut them does not count."""
    return _joined(_kinds(events))


def _kinds(events: list[Delta]) -> Iterator[tuple[str, int, str]]:
    for event in events:
        match event:
            case TextDelta():
                yield "text", event.part, event.text
            case ThinkingDelta():
                yield "thinking", event.part, event.text
            case ToolCallDelta():
                yield "toolcall", event.part, event.text


def _joined(deltas: Iterator[tuple[str, int, str]]) -> Told:
    told: Told = []
    for kind, index, text in deltas:
        if not text:
            continue
        if told and told[-1][:2] == (kind, index):
            told[-1] = (kind, index, told[-1][2] + text)
        else:
            told.append((kind, index, text))
    return [(k, i, t.rstrip("\n") if k == "thinking" else t) for k, i, t in told]


def _deltas(events: list[Any], message: Any) -> Told:
    """The deltas that pi told, with what it put into a block without telling in front of them."""

    def each() -> Iterator[tuple[str, int, str]]:
        for at, event in enumerate(events):
            kind, _, what = event["type"].partition("_")
            if what == "delta":
                yield kind, event["index"], event["delta"]
            elif what == "start" and kind in ("text", "thinking"):
                rest = [e for e in events[at:] if e.get("index") == event["index"]]
                said = "".join(e["delta"] for e in rest if e["type"] == f"{kind}_delta")
                block = message["content"][event["index"]]
                whole = "" if block.get("redacted") else block[kind]
                if whole.endswith(said):
                    yield kind, event["index"], whole.removesuffix(said)
            elif what == "end" and kind == "toolcall":
                untold = [e for e in events if e["type"] == "toolcall_delta"] == []
                arguments = event["tool_call"]["arguments"]
                if untold and arguments:
                    text = json.dumps(arguments, separators=(",", ":"))
                    yield kind, event["index"], text

    return _joined(each())


def _shape(message: AssistantMessage, error: str | None) -> dict[str, Any]:
    usage = message.usage
    shape: dict[str, Any] = {
        "content": [_block(b.dump(), error) for b in message.content],
        "stop_reason": message.stop_reason,
        "raw_stop_reason": message.raw_stop_reason,
        "usage": {
            "input": usage.input,
            "output": usage.output,
            "cacheRead": usage.cache_read,
            "cacheWrite": usage.cache_write,
            "reasoning": usage.reasoning or 0,
            "cacheWrite1h": usage.cache_write_1h or 0,
            "totalTokens": usage.used,
            "cost_total": round(usage.cost.total, 12),
        },
        "response_id": message.response_id,
        "response_model": message.response_model,
        "error": error,
    }
    return shape


def _block(block: dict[str, Any], broken: object = None) -> dict[str, Any]:
    """What both have of a block. pi's words for redacted thinking are its own.

    Of a broken answer pi does not say that arguments were cut; no call of it is ever run.
    """
    block = {**block, "argumentsError": bool(block.get("argumentsError")) and not broken}
    if "thinking" in block:
        block["thinking"] = "" if block.get("redacted") else block["thinking"].rstrip("\n")
    signature = block.get("thinkingSignature")
    if isinstance(signature, str) and signature[:1] in "[{":
        block["thinkingSignature"] = json.loads(signature or '""')
    return {k: v for k, v in block.items() if v not in ("", None, False)}


def _wanted(want: dict[str, Any]) -> dict[str, Any]:
    """As `_shape`; an error compares equal to any of ours that shows the provider's words."""
    usage = want["usage"]
    summed = sum(usage[name] for name in ("input", "output", "cacheRead", "cacheWrite"))
    return {
        "content": [_block(b, want.get("error")) for b in want["content"]],
        "stop_reason": want["stop_reason"],
        "raw_stop_reason": want.get("raw_stop_reason"),
        "usage": {
            **{"reasoning": 0, "cacheWrite1h": 0},
            **usage,
            "totalTokens": usage["totalTokens"] or summed,
            "cost_total": round(usage["cost_total"], 12),
        },
        "response_id": want.get("response_id"),
        "response_model": want.get("response_model"),
        "error": Says(want["error"].get("provider_text_shown", "")) if "error" in want else None,
    }


class Says:
    """Equal to any text that holds the words."""

    def __init__(self, words: str) -> None:
        self._words = words

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self._words in other

    def __hash__(self) -> int:
        return hash(self._words)

    def __repr__(self) -> str:
        return f"<an error that says {self._words!r}>"
