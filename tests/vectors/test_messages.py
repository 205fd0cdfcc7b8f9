"""Family messages: what of a conversation another model is sent.

The groups of the first stage (session kinds to messages) stand in messages_convert.py.
"""

from __future__ import annotations

from typing import Any

from tests.vectors import messages_convert
from tests.vectors.model_shapes import marked, messages_of
from tests.vectors.runner import Case, run

from singletree.model.base import ModelInfo
from singletree.model.transform import prepare


def test_messages() -> None:
    failed = run("messages", CHECKS)
    assert failed == []


def check_transform(case: Case) -> None:
    model = case.input["model"]
    info = ModelInfo(
        provider=model["provider"],
        id=model["id"],
        api=model["api"],
        images="image" in model["input"],
    )
    ours = [_plain(m.dump()) for m in prepare(messages_of(case.input["messages"]), info)]
    assert marked(ours) == [_plain(m) for m in case.expected if m["role"] != "system"]


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """Without clocks and costs; no content is an empty list."""
    left_out = ("timestamp", "usage", "details")
    plain = {k: v for k, v in message.items() if k not in left_out and v is not None}
    return {**plain, "content": plain.get("content") or []}


CHECKS = {"transform": check_transform, **messages_convert.CHECKS}
