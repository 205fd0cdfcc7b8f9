"""Streams of all APIs with anything in any place: a message that can be kept, or a failure."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletree.errors import ModelError
from singletree.model.apis import APIS
from singletree.model.base import ModelInfo
from singletree.model.draft import Draft
from singletree.model.sse import ServerEvent

USAGE = {"input_tokens": 3, "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 1}}
CALL = {"type": "function_call", "id": "f", "call_id": "c", "name": "read", "arguments": "{}"}
REASONING = {"type": "reasoning", "id": "r", "summary": [{"text": "hm"}], "encrypted_content": "e"}
MESSAGE = {"type": "message", "id": "m", "content": [{"text": "hey"}], "phase": "p"}

STREAMS: dict[str, list[Any]] = {
    "openai-completions": [
        {
            "id": "c",
            "model": "m",
            "choices": [
                {
                    "delta": {
                        "content": "a",
                        "reasoning_content": "hm",
                        "reasoning_details": [{"type": "t", "text": "x", "index": 0}],
                    }
                }
            ],
        },
        {
            "choices": [
                {
                    "delta": {
                        "tool_calls": [
                            {"index": 0, "id": "c", "function": {"name": "ls", "arguments": "{"}}
                        ]
                    }
                }
            ]
        },
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}}]},
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
        {"usage": {"prompt_tokens": 9, "cost": 0.1, "prompt_tokens_details": {"cached_tokens": 1}}},
    ],
    "anthropic-messages": [
        {"type": "message_start", "message": {"id": "m", "model": "m", "usage": USAGE}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta"}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "signature_delta", "signature": "s"},
        },
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "t", "name": "read", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": "{}"},
        },
        {
            "type": "content_block_delta",
            "index": 2,
            "delta": {"type": "text_delta", "text": "x"},
        },
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": USAGE},
        {"type": "message_stop"},
    ],
    "openai-responses": [
        {"type": "response.created", "response": {"id": "r", "model": "m"}},
        {"type": "response.output_item.added", "output_index": 0, "item": REASONING},
        {
            "type": "response.reasoning_summary_text.delta",
            "item_id": "r",
            "output_index": 0,
            "summary_index": 0,
            "delta": "x",
        },
        {"type": "response.output_item.done", "output_index": 0, "item": REASONING},
        {"type": "response.output_item.added", "output_index": 1, "item": MESSAGE},
        {"type": "response.output_text.delta", "item_id": "m", "output_index": 1, "delta": "hey"},
        {"type": "response.output_item.done", "output_index": 1, "item": MESSAGE},
        {"type": "response.output_item.added", "output_index": 2, "item": CALL},
        {
            "type": "response.function_call_arguments.delta",
            "item_id": "f",
            "output_index": 2,
            "delta": "{}",
        },
        {"type": "response.output_item.done", "output_index": 2, "item": CALL},
        {
            "type": "response.completed",
            "response": {"status": "completed", "output": [REASONING], "usage": USAGE},
        },
    ],
    "google-generative-ai": [
        {
            "responseId": "r",
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"text": "t", "thought": True, "thoughtSignature": "s"},
                            {"text": "a"},
                            {"functionCall": {"name": "read", "args": {"a": 1}, "id": "1"}},
                        ]
                    }
                }
            ],
            "usageMetadata": {"promptTokenCount": 3},
        },
        {"candidates": [{"finishReason": "STOP", "finishMessage": "x"}], "promptFeedback": {}},
    ],
}
ODD: list[Any] = [None, True, -1, 1.5, 10**400, float("nan"), "", "x", "\ud83d", [], {}, [None]]
ODD += [[[]], {"text": None}, {"type": []}, ["a", 1, {"text": 3}], {"error": {"message": [1]}}]


def test_every_api_is_here() -> None:
    assert set(STREAMS) == set(APIS)


@pytest.mark.parametrize("api", APIS)
@settings(max_examples=60)
@given(st.randoms(use_true_random=False), st.sampled_from([0.0, 0.02, 0.1, 0.3]), st.booleans())
def test_a_message_or_a_plain_failure(api: str, dice: Random, share: float, shuffled: bool) -> None:
    events = [mutated(event, dice, share) for event in STREAMS[api]]
    if shuffled:
        dice.shuffle(events)
    decoder = APIS[api].decoder(Draft(ModelInfo("p", "m", api=api, reasoning=True)))
    try:
        for event in events:
            decoder.feed(ServerEvent("", json.dumps(event)))
        _, message = decoder.finish()
    except ModelError as error:
        assert error.message
    else:
        json.dumps(message.dump(), allow_nan=False)


def mutated(value: Any, dice: Random, share: float) -> Any:
    """The value with so large a share of what is in it replaced or left out."""
    if dice.random() < share:
        return dice.choice(ODD)
    if isinstance(value, dict):
        kept = [key for key in value if dice.random() >= share / 2]
        return {key: mutated(value[key], dice, share) for key in kept}
    if isinstance(value, list):
        return [mutated(item, dice, share) for item in value]
    return value
