"""A question of the daemon as the terminal shows it, and the keys that answer it."""

from __future__ import annotations

from typing import Any

from singletree.chat.questions import question

ALLOW, DENY = ("once", "session", "workspace", "user"), ("once", "workspace", "user")


def test_many_answers_stand_one_in_a_line() -> None:
    options: list[Any] = [
        {"id": f"{kind}:{scope}", "label": f"{kind} {scope}", "kind": kind, "scope": scope}
        for kind, scopes in (("allow", ALLOW), ("deny", DENY))
        for scope in scopes
    ]
    asked = question(1, "agent/permission/request", {"title": "ls", "options": options})
    assert asked is not None
    assert asked.prompt == (
        "[y] allow once",
        "[a] allow session",
        "[w] allow workspace",
        "[u] allow user",
        "[n] deny once",
        "[nw] deny workspace",
        "[nu] deny user",
    )
    assert asked.answer("NU") == {"outcome": "selected", "optionId": "deny:user"}
    assert asked.answer("7") is None


def test_few_answers_stand_in_one_line() -> None:
    asked = question(1, "agent/ui/request", {"title": "Go on?", "kind": "confirm"})
    assert asked is not None
    assert asked.prompt == ("[y] Yes · [n] No",)
