"""Completion of slash commands: names first, then what a command takes."""

from __future__ import annotations

from singletree.session.commands.completion import SHOWN, Completed, completions
from singletree.session.commands.user_input import Offered

OFFERED = [
    Offered("compact", "Sum up", "builtin", "[what]"),
    Offered("model", "Who answers", "builtin", "[provider/id]"),
    Offered("fix-tests", "Fix them", "prompt", "<file>"),
    Offered("skill:tests", "How we test", "skill"),
]
ARGUMENTS = {"model": {"a/big": "The Big One", "b/small": "Small"}, "thinking": {"off": ""}}


def values(written: str) -> list[str]:
    return [one.value for one in completions(written, OFFERED, ARGUMENTS)]


def test_names() -> None:
    assert values("") == ["compact", "model", "fix-tests", "skill:tests"]
    assert values("CO") == ["compact"]
    assert values("tests") == ["fix-tests", "skill:tests"]
    assert values("skill:") == ["skill:tests"]
    assert values("nothing") == []
    assert completions("mod", OFFERED, ARGUMENTS) == [
        Completed("model", "Who answers", "[provider/id]")
    ]


def test_what_a_command_takes() -> None:
    assert values("model ") == ["model a/big", "model b/small"]
    assert values("model a/") == ["model a/big"]
    assert values("model big") == ["model a/big"]
    assert values("model  small") == ["model b/small"]
    assert values("thinking o") == ["thinking off"]
    assert values("compact a") == []
    assert values("nothing a") == []
    assert completions("thinking", OFFERED, ARGUMENTS) == []


def test_a_slash_that_was_left_in_does_no_harm() -> None:
    assert values("/mod") == ["model"]


def test_not_more_than_a_list_can_show() -> None:
    many = [Offered(f"c{n}", "", "prompt") for n in range(1000)]
    assert len(completions("c", many, {})) == SHOWN
