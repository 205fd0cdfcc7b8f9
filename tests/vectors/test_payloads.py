"""Family payloads: a conversation and options in, the body and the headers that are sent out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.vectors.model_shapes import info_of, marked, request_of
from tests.vectors.runner import Case, run

from singletree.errors import AuthMissing
from singletree.model.apis import APIS
from singletree.model.catalog import Catalog
from singletree.model.thinking import clamp


def test_payloads() -> None:
    failed = run("payloads", CHECKS)
    assert failed == []


def check_request(case: Case) -> None:
    options = {k: v for k, v in case.input["options"].items() if v is not None}
    info = info_of(case.input["model"], options)
    request = request_of(case.input["context"], options)
    want = case.expected["request"]
    if want is None:
        assert case.expected["error"] == "no_api_key"
        with pytest.raises(AuthMissing):
            Catalog(Path("/nowhere"), {}).find(BUILT_IN[info.api])
        return
    api = APIS[info.api]
    body = json.loads(json.dumps(api.encode(info, request)))
    assert marked(body) == want["body"], _difference(marked(body), want["body"])
    headers = api.headers(info, request, "sk-key")
    auth = "x-api-key" if "x-api-key" in headers else "bearer"
    shown = {k: v for k, v in headers.items() if k not in ("x-api-key", "authorization")}
    assert {**shown, "auth": auth} == want["headers"]
    assert ("/v1" + api.path.removeprefix("/v1")) == want["path"].partition("?")[0]


def check_level(case: Case) -> None:
    info = info_of(case.input["model"])
    assert clamp(case.input["level"], info.levels) == case.expected["level"]
    assert list(info.levels) == case.expected["supported"]


BUILT_IN = {
    "anthropic-messages": "anthropic/claude-opus-5-5",
    "openai-completions": "deepseek/deepseek-v4-pro",
    "openai-responses": "openai/gpt-6.2-sol",
}
GROUPS = ("history", "context", "options", "thinking", "compat", "handoff", "clamp")
CHECKS = {
    f"{group}_{api}": check_request
    for group in GROUPS
    for api in ("anthropic", "chat", "responses")
} | {"clamp_level": check_level}


def _difference(ours: Any, theirs: Any, path: str = "") -> str:
    """The first place where two bodies differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in [*theirs, *ours]:
            if ours.get(key, "absent") != theirs.get(key, "absent"):
                return _difference(
                    ours.get(key, "absent"), theirs.get(key, "absent"), f"{path}/{key}"
                )
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            if a != b:
                return _difference(a, b, f"{path}/{index}")
    return f"{path}: ours {json.dumps(ours)[:250]} pi {json.dumps(theirs)[:250]}"
