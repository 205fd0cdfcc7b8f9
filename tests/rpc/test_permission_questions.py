"""LSP's own dialog as a question of permission: what it says, and what its answers mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.rpc.client import Message
from tests.rpc.plain import PlainHost, plain

from singletree.rpc.people.permission import LINES, LONGEST, WIDE, _titled, message_of
from singletree.session.permission.gate import Option, Question

DONE: Message = {"text": "done"}
DIALOG = "window/showMessageRequest"
BASH: Message = {"call": "bash", "args": {"command": "echo hello > out.txt"}}
YES = Option("allow_once", "Allow once", "allow", "once")
NO = Option("deny_once", "Deny", "deny", "once")


def question(**changed: Any) -> Question:
    given: dict[str, Any] = {
        "tool": "bash",
        "call_id": "c",
        "kind": "command",
        "title": "Run: make",
        "reason": "No rule allows make.",
        "options": (YES, NO),
    }
    return Question(**{**given, **changed})


def test_all_that_has_to_be_known_is_said() -> None:
    asked = question(command="make && echo", cwd="/w", paths=("/w/a", "/w/b"))
    assert message_of(asked).split("\n") == [
        "Run: make",
        "No rule allows make.",
        "$ make && echo",
        "in /w",
        "/w/a",
        "/w/b",
    ]
    assert message_of(question(title="Edit: /w/a", paths=("/w/a",))).count("/w/a") == 1


def test_of_a_diff_the_changed_lines() -> None:
    diff = "--- a\n+++ a\n@@ -1,3 +1,3 @@\n same\n-old\n+new\n same\n"
    assert message_of(question(diff=diff)).split("\n")[2:] == ["-old", "+new"]
    long = message_of(question(diff="\n".join("+" + "x" * 500 for _ in range(99))))
    shown = long.split("\n")[2:]
    assert len(shown) == LINES + 1
    assert max(map(len, shown)) == WIDE
    assert shown[-1] == f"(and {99 - LINES} more changed lines)"
    assert len(message_of(question(command="y" * 9000))) < LONGEST + 100


def test_the_first_answer_is_a_no_where_that_fits() -> None:
    assert list(_titled(question())) == ["Allow once", "Deny"]
    assert list(_titled(question(default_to_no=True))) == ["Deny", "Allow once"]


def test_two_answers_of_one_name_stay_two() -> None:
    twice = _titled(question(options=(YES, Option("other", "Allow once", "deny", "once"))))
    assert [one.id for one in twice.values()] == ["allow_once", "other"]


async def result(host: PlainHost, answer: object) -> tuple[bool, list[Message]]:
    """Whether the command ran when the dialog is answered so; the dialogs."""
    shown: list[Message] = []

    def react(params: Message) -> Message:
        shown.append(params)
        chosen = answer(params) if callable(answer) else answer
        return {"result": chosen}

    host.client.reactions[DIALOG] = react
    await host.run("agent.prompt", "go")
    await host.until_told("done")
    return (host.folder / "out.txt").exists(), shown


async def test_a_command(tmp_path: Path) -> None:
    async with plain(tmp_path, BASH, DONE, mode="ask") as host:
        ran, (dialog,) = await result(host, lambda params: params["actions"][0])
        assert ran
        assert "echo hello > out.txt" in dialog["message"]
        assert len({action["title"] for action in dialog["actions"]}) == len(dialog["actions"])


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        {"title": None},
        {"title": 1},
        {"title": "allow once"},
        {"title": "Deny"},
        "Allow once",
        ["Allow once"],
        7,
    ],
)
async def test_whatever_is_no_clear_yes_is_a_no(tmp_path: Path, answer: object) -> None:
    async with plain(tmp_path, BASH, BASH, DONE, mode="ask") as host:
        ran, shown = await result(host, answer)
        assert not ran
        assert len(shown) == 2  # one no is one no: it is asked again


async def test_a_host_without_the_dialog_is_asked_once(tmp_path: Path) -> None:
    async with plain(tmp_path, BASH, BASH, DONE, mode="ask") as host:
        asked: list[object] = []

        def unknown(params: object) -> Message:
            asked.append(params)
            return {"error": {"code": -32601, "message": "unknown"}}

        host.client.reactions[DIALOG] = unknown
        await host.run("agent.prompt", "go")
        await host.until_told("done")
        assert len(asked) == 1
        assert not (host.folder / "out.txt").exists()


async def test_a_rule_that_is_chosen_holds(tmp_path: Path) -> None:
    async with plain(tmp_path, BASH, BASH, DONE, mode="ask") as host:

        def session(params: Message) -> Message:
            return next(a for a in params["actions"] if "in this session" in a["title"])

        ran, shown = await result(host, session)
        assert ran
        assert len(shown) == 1
