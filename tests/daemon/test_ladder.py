"""Permissions: who is asked how, and what counts as a no. Driven by pytest-lsp over real stdio."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from tests.daemon.lsp import Contract, Person, allow, contract
from tests.daemon.real import place

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

PERMISSION = "agent/permission/request"
DIALOG = types.WINDOW_SHOW_MESSAGE_REQUEST
WRITES = (
    {"call": "write", "args": {"path": "one.txt", "content": "1"}},
    {"text": "First."},
    {"call": "write", "args": {"path": "two.txt", "content": "2"}},
    {"text": "Second."},
)
DECLARED = {"permissions": {}, "clientId": "test"}


async def both(daemon: Contract, folder: Path) -> tuple[list[bool], list[str]]:
    """Two turns that each want to write: what was written, and what the model was told."""
    for words in ("one", "two"):
        assert (await daemon.turn(words))["reason"] == "end_turn"
    page = await daemon.call("agent/session/entries")
    messages = [entry["message"] for entry in page["entries"] if entry["type"] == "message"]
    told = [m["content"][0]["text"] for m in messages if m["role"] == "toolResult"]
    return [(folder / name).exists() for name in ("one.txt", "two.txt")], told


async def ask(
    tmp_path: Path, agent: object, method: str | None, answer: Callable[[Any], Any]
) -> tuple[int, list[bool], list[str]]:
    """How often somebody was asked, and what became of both turns."""
    where = place(tmp_path)
    async with contract(where, *WRITES, agent=agent) as daemon:
        person = None if method is None else Person(daemon.client, method, answer)
        written, told = await both(daemon, where.folder)
    return len(person.asked) if person else 0, written, told


async def test_a_declared_client_is_asked_by_request(tmp_path: Path) -> None:
    asked, written, _ = await ask(tmp_path, DECLARED, PERMISSION, allow)
    assert (asked, written) == (2, [True, True])


async def test_a_no_is_told_with_its_reason(tmp_path: Path) -> None:
    def no(params: Any) -> Any:
        return {"outcome": "cancelled", "feedback": "Use another name."}

    asked, written, told = await ask(tmp_path, DECLARED, PERMISSION, no)
    assert (asked, written) == (2, [False, False])
    assert all("Use another name." in text for text in told)


@pytest.mark.parametrize("agent", [None, {"clientId": "no permissions declared"}])
async def test_others_are_asked_by_a_dialog(tmp_path: Path, agent: object) -> None:
    def first(params: types.ShowMessageRequestParams) -> types.MessageActionItem:
        assert params.actions is not None
        assert "one.txt" in params.message or "two.txt" in params.message
        return params.actions[0]

    asked, written, _ = await ask(tmp_path, agent, DIALOG, first)
    assert (asked, written) == (2, [True, True])


async def test_a_closed_dialog_is_one_no(tmp_path: Path) -> None:
    asked, written, told = await ask(tmp_path, None, DIALOG, lambda params: None)
    assert (asked, written) == (2, [False, False])
    assert all("nobody" not in text.lower() for text in told)


async def test_null_to_a_request_means_that_nobody_is_there(tmp_path: Path) -> None:
    asked, written, told = await ask(tmp_path, DECLARED, PERMISSION, lambda params: None)
    assert (asked, written) == (1, [False, False])
    assert all("nobody" in text.lower() for text in told)


@pytest.mark.parametrize("agent", [None, DECLARED])
async def test_an_unknown_method_means_that_nobody_is_there(tmp_path: Path, agent: object) -> None:
    """Of the two questions only the first reaches the client, which answers -32601."""
    where = place(tmp_path)
    async with contract(where, *WRITES, agent=agent) as daemon:
        written, told = await both(daemon, where.folder)
        statuses = [
            one["event"]["by"]
            for one in daemon.told("agent/event")
            if one["event"]["type"] == "permission" and one["event"]["status"] == "denied"
        ]
    assert written == [False, False]
    assert statuses == ["policy", "policy"]
    assert all("nobody" in text.lower() for text in told)


@pytest.mark.parametrize(
    "answer",
    [{"outcome": "perhaps"}, "yes", {"outcome": "selected", "optionId": "no such option"}],
)
async def test_what_cannot_be_understood_is_a_no(tmp_path: Path, answer: object) -> None:
    _, written, _ = await ask(tmp_path, DECLARED, PERMISSION, lambda params: answer)
    assert written == [False, False]
