"""Code actions: what is offered where, and what the agent hears when one is chosen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.rpc.client import Failed, Message
from tests.rpc.editor import until
from tests.rpc.plain import ALL, PlainHost, plain
from tests.rpc.test_commands import asked

from singletree.rpc.plain.pointing import LONGEST

DONE: Message = {"text": "done"}
LINE = "é🙂 = compute(x)  # why?\n"
PROBLEM: Message = {
    "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}},
    "severity": 1,
    "source": "lint",
    "message": "the name is odd",
    "data": {"code": [1, None]},
}


@asynccontextmanager
async def opened(root: Path, **options: Any) -> AsyncIterator[tuple[PlainHost, str]]:
    """A host with one document open, which is not saved."""
    async with plain(root, DONE, DONE, **options) as host:
        yield host, host.editor.open(host.folder / "a.py", LINE)


async def heard(host: PlainHost) -> str:
    """What the agent heard last, once the turn is over."""
    await host.until_told("done")
    return asked(host)[-1]


def titles(actions: list[Any]) -> list[str]:
    return [action["title"] for action in actions]


async def test_what_is_offered(tmp_path: Path) -> None:
    async with opened(tmp_path) as (host, uri):
        chosen = await host.actions(uri, 0, 4)
        assert [(a["kind"], a["command"]["command"]) for a in chosen] == [
            ("source.agent", "agent.explain"),
            ("refactor.rewrite", "agent.rewrite"),
            ("source.agent", "agent.send"),
        ]
        assert titles(await host.actions(uri, 2, 2)) == ["Agent: explain this line"]
        assert titles(await host.actions(uri, 0, 4, only=["refactor"])) == [
            "Agent: rewrite the selection"
        ]
        assert await host.actions(uri, 0, 4, only=["refactor.extract"]) == []
        assert await host.actions("file:///never/opened.py", 0, 4) == []
        assert all(action["command"]["title"] == action["title"] for action in chosen)
        assert not (tmp_path / "agent" / "sessions").exists()  # looking opens no session


async def test_a_problem_is_fixed_and_explained(tmp_path: Path) -> None:
    async with opened(tmp_path) as (host, uri):
        fix, explain, *_ = await host.actions(uri, 1, 1, diagnostics=[PROBLEM])
        assert (fix["kind"], explain["kind"]) == ("quickfix", "quickfix")
        assert fix["diagnostics"][0]["message"] == PROBLEM["message"]
        assert fix["title"] == "Agent: fix “the name is odd”"
        assert (await host.do(fix))["disposition"] == "started"
        text = await heard(host)
        assert text.startswith("Fix this problem")
        assert "a.py line 1: lint: the name is odd" in text
        assert "é🙂" in text


async def test_the_selection_goes_along_as_it_was(tmp_path: Path) -> None:
    async with opened(tmp_path) as (host, uri):
        explain = (await host.actions(uri, 6, 13))[0]
        mid = host.client.request(
            "workspace/executeCommand",
            {"command": "agent.explain", "arguments": explain["command"]["arguments"]},
        )
        host.editor.type(uri, 0, 0, "typed behind it ")
        await host.client.answer(mid)
        text = await heard(host)
        assert text.startswith("Explain what this does.")
        assert "\n```\ncompute\n```" in text


async def test_the_line_of_a_bare_cursor(tmp_path: Path) -> None:
    async with opened(tmp_path) as (host, uri):
        await host.do((await host.actions(uri, 3, 3))[0])
        assert LINE in await heard(host)


async def test_what_is_selected_is_the_message(tmp_path: Path) -> None:
    async with opened(tmp_path) as (host, uri):
        *_, send = await host.actions(uri, 20, 24)
        assert send["title"] == "Agent: send what is selected"
        await host.do(send)
        text = await heard(host)
        assert text.splitlines()[0] == "why?"
        assert text.endswith("a.py line 1.")


async def test_rewriting_with_words_of_ones_own(tmp_path: Path) -> None:
    async with opened(tmp_path) as (host, uri):
        (action,) = await host.actions(uri, 0, 4, only=["refactor.rewrite"])
        (argument,) = action["command"]["arguments"]
        await host.run("agent.rewrite", {**argument, "instructions": "as a loop"})
        assert (await heard(host)).startswith("Rewrite the selected text in its file: as a loop")


async def test_a_document_that_has_changed_since(tmp_path: Path) -> None:
    async with opened(tmp_path) as (host, uri):
        action = (await host.actions(uri, 0, 4))[0]
        host.editor.type(uri, 0, 0, "x")
        with pytest.raises(Failed) as failed:
            await host.do(action)
        assert failed.value.code == -32801
        assert "has changed" in str(failed.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_characters_are_counted_as_agreed(tmp_path: Path, encoding: str) -> None:
    counted = {**ALL, "general": {"positionEncodings": [encoding]}}
    async with opened(tmp_path, capabilities=counted) as (host, uri):
        size = {"utf-8": 6, "utf-16": 3, "utf-32": 2}[encoding]
        *_, send = await host.actions(uri, 0, size)
        await host.do(send)
        assert (await heard(host)).splitlines()[0] == "é🙂"


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        ((0, 13), (0, 6), "compute"),  # the cursor stands in front
        ((0, 6), (0, 13), "compute"),
        ((0, 18), (9000, 9000), "# why?"),  # beyond the end
        ((2**31, 0), (0, 18), "# why?"),
    ],
)
async def test_odd_ranges(tmp_path: Path, start: Any, end: Any, text: str) -> None:
    async with opened(tmp_path) as (host, uri):
        span = {
            "start": {"line": start[0], "character": start[1]},
            "end": {"line": end[0], "character": end[1]},
        }
        await host.run("agent.send", {"uri": uri, "range": span})
        assert (await heard(host)).splitlines()[0] == text


@pytest.mark.parametrize(
    ("argument", "code"),
    [
        ({"uri": "file:///not/open", "range": PROBLEM["range"]}, "input_rejected"),
        ({"uri": None, "range": PROBLEM["range"]}, None),
        ({"uri": "", "range": {"start": {"line": -1, "character": 0}}}, None),
    ],
)
async def test_what_cannot_be_sent(tmp_path: Path, argument: Any, code: str | None) -> None:
    async with opened(tmp_path) as (host, _):
        with pytest.raises(Failed) as failed:
            await host.run("agent.send", argument)
        assert (failed.value.data or {}).get("code") == code


async def test_nothing_but_space_is_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as (host, uri):
        span = {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 4}}
        with pytest.raises(Failed) as failed:
            await host.run("agent.send", {"uri": uri, "range": span})
        assert failed.value.data["code"] == "input_empty"


async def test_a_document_of_a_file_that_is_not_open(tmp_path: Path) -> None:
    """An explanation needs no buffer: the agent is told the place and can read it."""
    async with plain(tmp_path, DONE) as host:
        await host.run("agent.explain", {"uri": "file:///x/y.py", "range": PROBLEM["range"]})
        assert "/x/y.py line 1" in await heard(host)


async def test_of_several_folders_the_one_that_holds_it(tmp_path: Path) -> None:
    inner = tmp_path / "work" / "inner"
    inner.mkdir(parents=True)
    folders = [tmp_path / "work", inner, tmp_path / "other"]
    folders[2].mkdir()
    async with plain(tmp_path, DONE, folders=folders) as host:
        uri = host.editor.open(inner / "b.py", "one two")
        await host.do((await host.actions(uri, 0, 3))[0])
        await host.until_told("done")
        assert [s.cwd for s in host.house.daemon.host.live] == [inner]


async def test_code_actions_with_wrong_params(tmp_path: Path) -> None:
    async with opened(tmp_path) as (host, uri):
        wrongs: list[Any] = [{}, {"textDocument": {"uri": uri}}, {"textDocument": 5}, [], 7]
        for wrong in wrongs:
            with pytest.raises(Failed) as failed:
                await host.client.call("textDocument/codeAction", wrong)
            assert failed.value.code == -32602
        assert await host.actions(uri, 0, 1) != []


async def test_a_turn_that_runs_is_not_disturbed(tmp_path: Path) -> None:
    async with plain(tmp_path, {"text": "slow", "delay": 0.3}, DONE) as host:
        uri = host.editor.open(host.folder / "a.py", LINE)
        await host.run("agent.prompt", "first")
        told = await host.do((await host.actions(uri, 0, 4))[0])
        assert told["disposition"] == "queued"
        await until(lambda: len(asked(host)) == 2)


async def test_a_host_that_takes_only_commands(tmp_path: Path) -> None:
    old = {**ALL, "textDocument": {"codeAction": {}}}
    async with opened(tmp_path, capabilities=old) as (host, uri):
        *_, send = await host.actions(uri, 20, 24)
        assert send["title"] == "Agent: send what is selected"
        await host.run(send["command"], *send["arguments"])
        assert (await heard(host)).splitlines()[0] == "why?"


async def test_a_selection_that_is_too_long_is_only_pointed_to(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE) as host:
        uri = host.editor.open(host.folder / "long.txt", "word\n" * LONGEST)
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": LONGEST, "character": 0}}
        with pytest.raises(Failed) as failed:
            await host.run("agent.send", {"uri": uri, "range": whole})
        assert failed.value.data["code"] == "input_rejected"
        assert "500000 characters" in str(failed.value)
        await host.run("agent.explain", {"uri": uri, "range": whole})
        text = await heard(host)
        assert len(text) < 500
        assert text.endswith(f"The user points to {host.folder}/long.txt lines 1-{LONGEST}.")


async def test_a_document_that_was_never_saved(tmp_path: Path) -> None:
    async with plain(tmp_path, DONE) as host:
        uri = host.editor.open("untitled:Untitled-1", "draft words")
        await host.do((await host.actions(uri, 0, 5))[0])
        text = await heard(host)
        assert "untitled:Untitled-1 line 1" in text and "```\ndraft\n```" in text
