"""Lines of the terminal client, written into a text."""

from __future__ import annotations

import io

import pytest

from singletree.chat.commands import PAST, last_words
from singletree.chat.events import Session, show
from singletree.chat.link import Json, Object
from singletree.chat.screen import Screen


def test_a_row_ends_where_the_terminal_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    Screen(out, lively=True).row("x" * 30)
    assert out.getvalue() == "x" * 19 + "…\n"


def test_who_answers_is_told_when_it_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out, session = io.StringIO(), Session()
    for model in ("a/b", "c/d"):
        show({"type": "config", "model": model}, session, Screen(out, lively=True))
    assert out.getvalue() == "a/b answers; /model chooses another.\n"


def test_silence_is_told_once_and_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    screen = Screen(out, lively=True)
    screen.waits()
    screen.waits()
    screen.say("Yes.")
    assert out.getvalue() == "… waiting for the answer \r\x1b[KYes.\n"


def test_a_hint_that_the_message_holds_is_not_said_twice() -> None:
    out = io.StringIO()
    screen = Screen(out, lively=False)
    screen.fault("No key: set A_KEY", "auth_required", "set A_KEY")
    screen.fault("No key", "auth_required", "set A_KEY")
    assert (
        out.getvalue()
        == "✗ No key: set A_KEY (auth_required)\n✗ No key (auth_required)\n  set A_KEY\n"
    )


def test_long_last_words_end_with_a_mark() -> None:
    said = ["far back", "why?", "word " * PAST, " "]
    roles = ("user", "user", "assistant", "assistant")
    entries: list[Json] = [
        {"message": {"role": role, "content": words}}
        for role, words in zip(roles, said, strict=True)
    ]
    told: Object = {"history": {"entries": entries}}
    *short, long = last_words(told)
    assert short == ["you: far back", "you: why?"]
    assert long.startswith("agent: word word")
    assert long.endswith("word…")
    assert len(long) <= len("agent: ") + PAST
