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


def test_what_is_asked_for_is_shown_whole() -> None:
    command = "echo " + 60 * "word " + "\nrm -rf build"
    subject: Any = {
        "type": "command",
        "command": command,
        "cwd": "/w/a",
        "paths": ["/home/me/.ssh"],
    }
    params = {"title": f"{command[:50]}…", "reason": "No rule allows it.", "subject": subject}
    asked = question(1, "agent/permission/request", params)
    assert asked is not None
    assert asked.lines == (
        f"$ echo {60 * 'word '}",
        "rm -rf build",
        "in /w/a",
        "/home/me/.ssh",
        "No rule allows it.",
    )


def test_what_the_title_says_is_not_said_again() -> None:
    diff = "".join(f"+{n}\n" for n in range(60))
    subject: Any = {"type": "edit", "paths": ["/w/a.py"], "diff": diff}
    params = {"title": "edit: /w/a.py", "reason": "Edits are asked for.", "subject": subject}
    asked = question(1, "agent/permission/request", params)
    assert asked is not None
    assert asked.lines[0] == "+0"
    assert asked.lines[-2:] == ("… 20 more lines", "Edits are asked for.")
    assert len(asked.lines) == 42
