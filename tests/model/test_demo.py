"""The demo model: what it understands, what it says, and that it works with tool results."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletree.messages import (
    AssistantMessage,
    Message,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from singletree.model.base import Delta, ModelRequest, TextDelta, ToolSpec
from singletree.model.demo import DemoModel
from singletree.model.demo_answer import HELLO, HELP, LOST, THANKS, small_talk
from singletree.model.demo_grammar import understand
from singletree.tools import search

TOOLS = tuple(
    ToolSpec(n, n, {"type": "object"})
    for n in ("read", "ls", "grep", "find", "bash", "edit", "write")
)


def meant(text: str) -> str:
    """The steps as one line: tries parted by |, steps by ;."""
    return "; ".join(
        " | ".join(f"{t.tool} " + " ".join(f"{k}={v}" for k, v in t.args.items()) for t in step)
        for step in understand(text)
    ).strip()


def edited(path: str, old: str, new: str) -> str:
    return f"edit path={path} edits={[{'oldText': old, 'newText': new}]}"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("read README.md", "read path=README.md"),
        ("Could you please read the file README.md?", "read path=README.md"),
        ('read "my file.txt"', "read path=my file.txt"),
        ("read ‘my file.txt’", "read path=my file.txt"),
        ("read my notes.txt", "read path=notes.txt | read path=my notes.txt"),
        ("read README", "read path=README | read path=README.md"),
        ("what's in README.md?", "read path=README.md | ls path=README.md"),
        ("what's in src?", "ls path=src | read path=src"),
        ("read a.py, b.py and c.py", "read path=a.py; read path=b.py; read path=c.py"),
        ("read lines 10-20 of x.py", "read path=x.py offset=10 limit=11"),
        ("show me the first 5 lines of 'a b.txt'", "read path=a b.txt limit=5"),
        ("README.md", "read path=README.md"),
        ("how many lines has README.md?", "read path=README.md"),
        ("ls", "ls"),
        ("list src", "ls path=src"),
        ("what files are here?", "ls"),
        ("Hi, can you list the files in the src directory for me?", "ls path=src"),
        ('show files in "my dir"', "ls path=my dir"),
        ("find TODO in src", "grep pattern=TODO literal=True path=src"),
        ("find all TODOs in the src folder", "grep pattern=TODO literal=True path=src"),
        ("search for 'a b' in this project", "grep pattern=a b literal=True"),
        ("where is parse_args defined?", "grep pattern=parse_args literal=True"),
        (r"look for /def \w+/ in a.py", r"grep pattern=def \w+ path=a.py"),
        ("find *.py", "find pattern=*.py"),
        ("find *.py in /", "find pattern=*.py path=/"),
        ("find '*.py' in ..", "find pattern=*.py path=.."),
        ("find *.py in .", "find pattern=*.py"),
        ("ls /", "ls path=/"),
        ("what's in ../..?", "ls path=../.. | read path=../.."),
        ("find auth.py", "find pattern=auth.py"),
        ("find all python files in src", "find pattern=*.py path=src"),
        ("find files named test_*.py", "find pattern=test_*.py"),
        ("run ls", "bash command=ls"),
        ("run `ls -la | head`", "bash command=ls -la | head"),
        ('execute: echo "hi there"', 'bash command=echo "hi there"'),
        ("$ git status", "bash command=git status"),
        ("git log -3", "bash command=git log -3"),
        ("ls -la", "bash command=ls -la"),
        ("in a.txt change x to y", edited("a.txt", "x", "y")),
        ("in 'a b.txt', change \"x to y\" to “z”", edited("a b.txt", "x to y", "z")),
        ("replace foo with bar in src/a.py", edited("src/a.py", "foo", "bar")),
        ("a.txt: foo -> bar", edited("a.txt", "foo", "bar")),
        ("in a.txt replace 'a' by 'b'.", edited("a.txt", "a", "b")),
        ("create notes.txt with hello world", "write path=notes.txt content=hello world\n"),
        ("write 'hi' into 'my notes.txt'", "write path=my notes.txt content=hi\n"),
        ("list src, then read src/a.py", "ls path=src; read path=src/a.py"),
        ("read README.md and tell me what it says", "read path=README.md"),
        ("run the tests", ""),
        ("fix the bug in auth.py", ""),
        ("read", ""),
        ("tell me a joke", ""),
    ],
)
def test_plain_words(text: str, steps: str) -> None:
    assert meant(text) == steps.strip()


@given(st.text(max_size=200))
def test_any_text_is_taken_without_a_failure(text: str) -> None:
    understand(text)
    small_talk(text)


@given(st.text(alphabet=" \"'`ab.-/\x00:>$", max_size=60))
def test_quotes_and_marks_of_all_kinds(text: str) -> None:
    understand("in " + text + " change " + text + " to " + text)
    understand("read " + text)


@pytest.mark.parametrize(
    "text",
    [
        "a" + " " * 1900 + "b",
        "a " + ", " * 950,
        "find in " * 240,
        "read a\n" * 280,
        "\n" * 1900 + "b",
        "x" * 10**6,
    ],
)
def test_long_texts_take_no_time(text: str) -> None:
    started = time.process_time()
    understand(text)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("hello", HELLO),
        ("Hi there!", HELLO),
        ("help", HELP),
        ("what can you do?", HELP),
        ("thanks!", THANKS),
        ("prove P = NP", LOST),
    ],
)
def test_small_talk(text: str, answer: str) -> None:
    assert small_talk(text) == answer


def test_it_says_what_it_is() -> None:
    for text in (HELLO, HELP):
        assert "demo model" in text
        assert "no key and no network" in text
    assert "ANTHROPIC_API_KEY" in LOST


def test_deleting_is_left_to_a_command() -> None:
    assert small_talk("Delete Notes.txt").endswith("run rm Notes.txt")


async def ask(*messages: Message, tools: tuple[ToolSpec, ...] = TOOLS) -> AssistantMessage:
    heard: list[Delta] = []
    request = ModelRequest(system="", messages=messages, tools=tools)
    message = await DemoModel(0).answer(request, heard.extend)
    streamed = "".join(delta.text for delta in heard if isinstance(delta, TextDelta))
    assert streamed == text_of(message.content)
    return message


async def converse(said: str, *outputs: tuple[str, bool]) -> str:
    """Answer each call with an output in turn; the calls and the last text, a line each."""
    messages: list[Message] = [UserMessage(content=said)]
    lines = []
    for text, failed in outputs:
        message = await ask(*messages)
        for call in message.tool_calls:
            lines.append(f"{call.name} {dict(call.arguments)}")
            messages += [message, _result(call, text, failed)]
    lines.append(text_of((await ask(*messages)).content))
    return "\n".join(lines)


def _result(call: ToolCall, text: str, failed: bool) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=call.id, tool_name=call.name, content=[Text(text=text)], is_error=failed
    )


async def test_read_and_report() -> None:
    said = await converse("read README.md", ("# Title\n\nHello.\n## Use\n", False))
    assert said == (
        "read {'path': 'README.md'}\n"
        "`README.md`: 4 lines read. Its headings: Title, Use. It says:\n\n"
        "```\n# Title\n\nHello.\n## Use\n```"
    )


async def test_the_second_reading_is_tried_and_the_first_not_told() -> None:
    said = await converse("read my notes.txt", ("no such file", True), ("hi", False))
    assert said == (
        "read {'path': 'notes.txt'}\nread {'path': 'my notes.txt'}\n"
        "`my notes.txt`: 1 line read. It says:\n\n```\nhi\n```"
    )


async def test_what_fails_is_said() -> None:
    said = await converse("in a.txt change x to y", ("a.txt does not exist", True))
    assert said.endswith("`edit` did not work: a.txt does not exist")


async def test_steps_one_after_the_other() -> None:
    said = await converse("list src then run pwd", ("a.py\nlib/", False), ("/w", False))
    assert said == (
        "ls {'path': 'src'}\nbash {'command': 'pwd'}\n"
        "`src` has 2 entries, 1 folder among them:\n\n- a.py\n- lib/\n\n"
        "`pwd` ran:\n\n```\n/w\n```"
    )


async def test_what_is_not_found_is_said() -> None:
    said = await converse("find TODO in src", (search.NOTHING, False))
    assert said.endswith("Nothing matches `TODO` in `src`.")


async def test_matches_are_counted() -> None:
    said = await converse("find TODO in src", ("a.py:3: # TODO x\nb.py:9: TODO\n", False))
    assert "`TODO` stands in 2 lines in `src`:" in said


async def test_long_output_is_shortened_and_its_fences_are_kept() -> None:
    text = "\n".join(["```", *(f"line {n}" for n in range(40))])
    said = await converse("read a.txt", (text, False))
    assert "… (29 more lines)\n````" in said


async def test_a_tool_that_is_off_is_named() -> None:
    message = await ask(UserMessage(content="find TODO"), tools=TOOLS[:2])
    assert "`grep`" in text_of(message.content)
    assert message.tool_calls == []


async def test_ids_are_new_in_the_conversation() -> None:
    first = await ask(UserMessage(content="ls"))
    again = await ask(
        UserMessage(content="ls"),
        first,
        _result(first.tool_calls[0], "a", False),
        UserMessage(content="ls"),
    )
    assert first.tool_calls[0].id != again.tool_calls[0].id


async def test_a_summary_has_the_sections_that_were_asked_for() -> None:
    form = "## Goal\n## Progress\n### Done\n## Critical Context"
    talk = f"<conversation>\n[User]: build it\n[Assistant]: ok\n</conversation>\n{form}"
    said = text_of((await ask(UserMessage(content=talk), tools=())).content)
    heads = [line for line in said.split("\n") if line.startswith("#")]
    assert heads == ["## Goal", "## Progress", "### Done", "## Critical Context"]
    assert "## Goal\nbuild it" in said
