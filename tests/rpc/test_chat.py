"""The terminal client against a daemon that only plays: what a person sees, what is on the wire.

Both sides of every wire are held to the contract when a test is over.
"""

from __future__ import annotations

import codecs
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from tests.rpc.contract import fits

from singletree.rpc.protocol import check, find

ROOT = Path(__file__).parents[2]
FAKE = ROOT / "tests" / "rpc" / "fake_daemon.py"
START = (
    "import sys; from singletree.chat import main;"
    f"sys.exit(main(sys.argv[1:], daemon=[sys.executable, {str(FAKE)!r}]))"
)
Message = dict[str, JsonValue]
WARNED = "! not trusted, so not used: .pi/settings.json (/trust yes)\n! A line was damaged.\n"
"""What a pipe is told on stderr of the session that the fake daemon opens."""


class Chat:
    """Starts the client and knows what went over the wire."""

    def __init__(self, home: Path) -> None:
        self.log = home / "wire.jsonl"
        self.history = home / "agent" / "singletree" / "chat-history"
        self.command = [sys.executable, "-c", START, "--workspace", str(home)]
        self.real = [sys.executable, "-m", "singletree", "chat", "--workspace", str(home)]
        self.env = {
            **{k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")},
            "FAKE_LOG": str(self.log),
            "PI_CODING_AGENT_DIR": str(home / "agent"),
            "TERM": "xterm",
        }

    def pipe(self, said: str, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.command, *options], input=said, capture_output=True, text=True, env=self.env
        )

    def with_daemon(self, script: list[Message]) -> None:
        """From now on a real daemon with a scripted model answers."""
        play = self.log.parent / "play.jsonl"
        play.write_text("".join(json.dumps(line) + "\n" for line in script))
        self.command = [*self.real, "--model", f"scripted:{play}"]

    def wire(self, way: str) -> list[Any]:
        lines = [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]
        return [line[way] for line in lines if way in line]

    def sent(self, method: str) -> list[Message]:
        return [m["params"] for m in self.wire("in") if m.get("method") == method]

    def hold_to_the_contract(self) -> None:
        asked: dict[JsonValue, str] = {}
        for way, back in (("in", "out"), ("out", "in")):
            asked = {
                m["id"]: str(m["method"]) for m in self.wire(way) if "id" in m and "method" in m
            }
            for message in self.wire(way):
                valid_params(message)
            for message in self.wire(back):
                if "result" in message:
                    valid_result(asked[message["id"]], message["result"])


def valid_params(message: Message) -> None:
    method = find(str(message.get("method")))
    params = message.get("params")
    if method is not None and method.served:
        assert isinstance(params, dict)
        check(method.params, params, forbid_unknown=True)
        fits(method.params.__name__, params)


def valid_result(name: str, result: JsonValue) -> None:
    method = find(name)
    if method is not None and method.served and method.result is not None:
        fits(method.result.__name__, result)


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    made = Chat(tmp_path)
    yield made
    if made.log.exists():
        made.hold_to_the_contract()


# -- a pipe ------------------------------------------------------------------------------------


def test_each_line_of_a_pipe_is_a_prompt(chat: Chat) -> None:
    done = chat.pipe("hello\n\nthink about it\n")
    assert done.stdout == "Hello\nYes.\n"
    assert (done.returncode, done.stderr) == (0, WARNED)
    assert [p["content"] for p in chat.sent("agent/prompt")] == ["hello", "think about it"]


def test_a_last_line_without_an_end_counts(chat: Chat) -> None:
    assert chat.pipe("hello").stdout == "Hello\n"


def test_no_input_is_no_failure(chat: Chat) -> None:
    done = chat.pipe("")
    assert (done.returncode, done.stdout) == (0, "")


def test_a_pipe_gets_a_new_session_and_the_offline_model(chat: Chat) -> None:
    chat.pipe("hello\n")
    assert chat.sent("agent/session/open")[0]["start"] == "new"
    assert chat.wire("started")[0] == ["--model", "offline/demo"]


def test_options_that_are_not_ours_go_to_the_daemon(chat: Chat) -> None:
    chat.pipe("hello\n", "--continue", "--mode", "ask", "--tools", "read,ls")
    assert chat.sent("agent/session/open")[0]["start"] == "continue"
    assert chat.wire("started")[0] == [
        "--model",
        "offline/demo",
        "--mode",
        "ask",
        "--tools",
        "read,ls",
    ]


def test_a_tool_call_is_one_line(chat: Chat) -> None:
    done = chat.pipe("tool\n")
    assert done.stdout == "✓ read a.txt → first (+2 lines) [1.5 s]\nHello\n"


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("gap", "Hello again\n(once more, whole)\nHello to you again\n"),
        ("late", "Hello to you\n"),
    ],
)
def test_the_end_of_a_part_is_the_truth(chat: Chat, prompt: str, shown: str) -> None:
    assert chat.pipe(f"{prompt}\n").stdout == shown


def test_a_failed_attempt_is_told_and_made_again(chat: Chat) -> None:
    done = chat.pipe("retry\n")
    assert done.stdout.splitlines() == [
        "Half an",
        "(that attempt failed and is thrown away)",
        "… Too busy; again in 2.0 s (1 of 3)",
        "Hello",
    ]
    assert done.stderr == f"{WARNED}! Mind this.\n"


def test_bytes_that_steer_a_terminal_are_shown_not_obeyed(chat: Chat) -> None:
    assert chat.pipe("escape\n").stdout == "a␛[2Jb\ufffdcde\n"


def test_a_failed_turn_is_a_failed_run(chat: Chat) -> None:
    done = chat.pipe("fail\nhello\n")
    assert done.stdout == "✗ Bad key. (auth_failed)\n  Set it.\nHello\n"
    assert done.returncode == 1


def test_a_cut_answer_is_a_failed_run(chat: Chat) -> None:
    done = chat.pipe("cut\n")
    assert "output limit" in done.stdout
    assert done.returncode == 1


def test_a_refused_prompt_is_a_failed_run(chat: Chat) -> None:
    done = chat.pipe("refuse\n")
    assert done.stdout == "✗ No model is chosen. (no_model)\n  Choose one with /model.\n"
    assert done.returncode == 1


def test_a_daemon_that_dies_is_told_of_with_its_last_words(chat: Chat) -> None:
    done = chat.pipe("die\n")
    assert done.stdout == "✗ The daemon is gone.\n  Traceback: the fake died\n"
    assert done.returncode == 1


def test_in_a_pipe_questions_are_answered_with_no(chat: Chat) -> None:
    done = chat.pipe("ask\n")
    assert done.stdout.splitlines()[0].startswith("? bash make → no")
    assert 'answer: {"optionId": "d", "outcome": "selected"}' in done.stdout


def test_in_a_pipe_allow_answers_yes_once(chat: Chat) -> None:
    done = chat.pipe("ask\ninput confirm\ninput input\n", "--allow")
    assert 'answer: {"optionId": "o", "outcome": "selected"}' in done.stdout
    assert 'answer: {"value": true}' in done.stdout
    assert 'answer: {"cancelled": true}' in done.stdout


def test_what_the_client_does_not_know_it_says_so(chat: Chat) -> None:
    assert '"code": -32601' in chat.pipe("strange\n").stdout


def test_a_folder_that_is_not_there(chat: Chat, tmp_path: Path) -> None:
    done = chat.pipe("hello\n", "--workspace", str(tmp_path / "none"))
    assert done.returncode == 2
    assert "no such folder" in done.stderr


def test_a_reader_that_leaves_is_no_crash(chat: Chat) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        chat.command, input=b"hello\n", stdout=writing, stderr=subprocess.PIPE, env=chat.env
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, WARNED.encode())


def test_the_child_is_told_to_go(chat: Chat) -> None:
    chat.pipe("hello\n")
    assert [m.get("method") for m in chat.wire("in")][-2:] == ["shutdown", "exit"]


COMMANDS: list[tuple[str, str]] = [
    (
        "/tree",
        "│ a1b2c3d4 you [start]: Hello there\n"
        "● b2c3d4e5 agent: Hi ␛[31mred\n"
        "  c3d4e5f6   you: Another way\n",
    ),
    (
        "/tree user-only",
        "No entry with user-only. Filters: default, noTools, userOnly, labeled, all.",
    ),
    ("/goto a1", "→ now at the beginning\n↩ Hello there"),
    ("/label b2 my mark", "→ b2c3d4e5 [my mark]"),
    ("/label b2", "→ b2c3d4e5: no label"),
    ("/fork a1", "→ forked: 2199d2c4-7a51-7d0e-8a8e-0c2f5f1f7a11\n↩ Hello there"),
    (
        "/compact names",
        "— summing up the older part (manual) —\n— summed up: 9,000 → 1,000 tokens —",
    ),
    ("/model", "● fake/model · 200k\n  fake/other · 200k (no key)"),
    ("/model fake/other", "→ fake/other, thinking off"),
    ("/thinking", "thinking off (of: off high)"),
    ("/thinking high", "→ thinking high"),
    ("/queue", "Nothing waits."),
    ("/queue later\n/queue", "followUp: later"),
    ("/queue clear", "→ 1 taken out"),
    ("/bash make all", "ran make all\n␛[2J\n(exit code 3)"),
    ("/new", "→ a new session"),
    ("/sessions", "  0199d2c4-7a51-7d0e-8a8e-0c2f5f1f7a11 2026-01-02 03:04 my talk"),
    ("/switch 0199", "you: Hello there"),
    ("/name my talk", "→ my talk"),
    ("/trust yes", "→ trusted"),
    ("/trust no", "→ not trusted\n  left aside: .pi/settings.json"),
    ("/mode", "mode ask (of: ask acceptEdits readOnly allowAll)"),
    ("/mode readOnly", "→ mode readOnly"),
    ("/rules", "r1 allow bash: ls (user, used 2 times)"),
    ("/rules forget r1", "→ forgotten: r1"),
    ("/usage", "window: 10.0 % of 1,000 tokens\nsession: 1,200 in · 34 out · $0.5000"),
    ("/help", "/review FILE                   Review the code."),
    ("/review a.py", "Hello"),
]


def test_commands(chat: Chat) -> None:
    """All in one conversation; each shows its words after those of the one before."""
    done = chat.pipe("".join(f"{line}\n" for line, _ in COMMANDS))
    left = done.stdout
    for line, shown in COMMANDS:
        before, found, left = left.partition(shown)
        assert found, f"{line} did not show {shown!r}: {before}"
    assert (done.returncode, done.stderr) == (0, WARNED)


MISUSES: list[tuple[str, str]] = [
    ("/model fake/none", "✗ No such model. (not_found)\n  /model lists them.\n"),
    ("/trust", "✗ Trust this folder? /trust yes, /trust no, or /trust forget\n"),
    ("/mode no", "✗ There is no mode no; there are ask, acceptEdits, readOnly, allowAll.\n"),
    ("/rules r1", "✗ /rules shows what is remembered, /rules forget ID takes it back.\n"),
    ("/undo", "✗ There is no edit to take back.\n"),
    ("/abort", "✗ Nothing runs.\n"),
    ("/goto", "✗ Which entry? /tree shows their ids.\n"),
    ("/goto zz", "✗ No entry begins zz. /tree shows their ids.\n"),
    ("/switch", "✗ Which session? /sessions shows their ids.\n"),
    ("/switch zz", "✗ No session begins zz. /sessions shows their ids.\n"),
    ("/steer", "✗ Steer with what? /steer TEXT\n"),
    ("/bash", "✗ Run what? /bash COMMAND\n"),
    ("/nonsense \x1b", "✗ There is no /nonsense. /help lists what there is.\n"),
]


def test_misuse_is_told(chat: Chat) -> None:
    done = chat.pipe("".join(f"{line}\n" for line, _ in MISUSES))
    assert done.stdout == "".join(shown for _, shown in MISUSES)
    assert done.returncode == 1


def test_help_names_each_command_once(chat: Chat) -> None:
    shown = re.findall(r"^/\w+", chat.pipe("/help\n").stdout, re.MULTILINE)
    assert "/review" in shown
    assert len(shown) == len(set(shown))


def test_goto_with_a_summary_says_what_to_look_at(chat: Chat) -> None:
    chat.pipe("/goto a1 summary\n/goto a1 summary the errors\n/goto c3\n")
    told = [p.get("summarize") for p in chat.sent("agent/tree/navigate")]
    assert told == [True, {"instructions": "the errors"}, None]


def test_quit_leaves_the_rest_unread(chat: Chat) -> None:
    assert chat.pipe("/quit\nhello\n").stdout == ""


# -- a terminal --------------------------------------------------------------------------------


class Person:
    """Sits before a terminal: waits for something to appear, types."""

    def __init__(self, chat: Chat, *options: str, env: dict[str, str] | None = None) -> None:
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [*chat.command, *options],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**chat.env, **(env or {})},
            start_new_session=True,
            preexec_fn=take_terminal,
        )
        os.close(slave)
        self.seen = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")()

    def sees(self, words: str) -> None:
        """Wait until it appears after what was seen before."""
        end = time.monotonic() + 10
        while words not in self.seen:
            left = end - time.monotonic()
            assert left > 0, f"{words!r} did not appear in {self.seen!r}"
            if select.select([self.master], [], [], left)[0]:
                self.seen += self.decoder.decode(os.read(self.master, 65536))
        self.seen = self.seen.partition(words)[2]

    def types(self, line: str) -> None:
        os.write(self.master, line.encode() + b"\n")

    def presses(self, key: bytes) -> None:
        """No faster than a person: readline shows its prompt a moment before it minds signals."""
        time.sleep(0.1)
        os.write(self.master, key)

    def leaves(self) -> int:
        status = self.process.wait(10)
        os.close(self.master)
        return status


def take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def person(chat: Chat) -> Iterator[Callable[..., Person]]:
    people: list[Person] = []

    def sit(*options: str, env: dict[str, str] | None = None) -> Person:
        people.append(Person(chat, *options, env=env))
        return people[-1]

    yield sit
    for each in people:
        if each.process.poll() is None:
            each.process.send_signal(signal.SIGKILL)
            each.process.wait()


CTRL_C, CTRL_D, UP = b"\x03", b"\x04", b"\x1b[A"


def test_a_person_is_greeted_and_told_how_things_stand(
    person: Callable[..., Person], chat: Chat
) -> None:
    kim = person()
    kim.sees("singletree 9.9 · fake/model")
    kim.sees("not trusted, so not used: .pi/settings.json")
    kim.sees("A line was damaged.")
    kim.sees("you: Hello there")
    kim.sees("› ")
    kim.presses(CTRL_D)
    assert kim.leaves() == 0
    assert chat.sent("agent/session/open")[0]["start"] == "continue"


def test_thinking_is_shown_dimly_and_tokens_after_the_turn(person: Callable[..., Person]) -> None:
    kim = person()
    kim.sees("› ")
    kim.types("think")
    kim.sees("\x1b[2mHmm.\x1b[0m")
    kim.sees("Yes.")
    kim.sees("1,200 in · 34 out · $0.5000")
    kim.types("/quit")
    assert kim.leaves() == 0


def test_no_color_is_obeyed(person: Callable[..., Person]) -> None:
    kim = person(env={"NO_COLOR": "1"})
    kim.sees("› ")
    before = kim.seen
    kim.types("tool")
    kim.sees("✓ read a.txt")
    assert not re.search(r"\x1b\[\d*m", before + kim.seen)
    kim.types("/quit")
    assert kim.leaves() == 0


def test_what_is_typed_into_a_turn_steers_it(person: Callable[..., Person], chat: Chat) -> None:
    kim = person()
    kim.sees("› ")
    kim.types("slow work")
    kim.sees("working")
    kim.types("leave the tests")
    kim.sees("steered: the model sees it at its next step")
    kim.sees("steered by leave the tests")
    kim.sees("› ")
    kim.types("/quit")
    assert kim.leaves() == 0
    assert [p["content"] for p in chat.sent("agent/steer")] == ["leave the tests"]


def test_the_end_of_input_in_a_turn_leaves_behind_it(person: Callable[..., Person]) -> None:
    kim = person()
    kim.sees("› ")
    kim.types("slow work")
    kim.sees("working")
    kim.presses(CTRL_D)
    kim.sees("leaving when this is done")
    kim.presses(CTRL_C)
    kim.sees("Stopped.")
    assert kim.leaves() == 0


def test_commands_work_while_a_turn_runs(person: Callable[..., Person]) -> None:
    kim = person()
    kim.sees("› ")
    kim.types("slow work")
    kim.sees("working")
    kim.types("/queue and then this")
    kim.sees("queued: the next turn")
    kim.types("/abort")
    kim.sees("not sent: later")
    kim.sees("Stopped.")
    kim.sees("› later")
    kim.presses(CTRL_C)
    kim.sees("Ctrl-C again leaves")
    kim.presses(CTRL_C)
    assert kim.leaves() == 0


def test_ctrl_c_stops_the_turn_and_gives_back_what_waited(
    person: Callable[..., Person], chat: Chat
) -> None:
    kim = person()
    kim.sees("› ")
    kim.types("slow work")
    kim.sees("working")
    kim.presses(CTRL_C)
    kim.sees("stopping; Ctrl-C again leaves")
    kim.sees("not sent: later")
    kim.sees("not sent: and last")
    kim.sees("› later and last")
    kim.types("")
    kim.sees("Hello")
    kim.types("/quit")
    assert kim.leaves() == 0
    assert chat.sent("agent/abort")[0]["queue"] == "return"


def test_what_is_pasted_is_one_text(person: Callable[..., Person], chat: Chat) -> None:
    kim = person()
    kim.sees("› ")
    kim.presses(b"\x1b[200~hello\nyou two\x1b[201~")
    kim.types("")
    kim.sees("Hello")
    kim.types("/quit")
    assert kim.leaves() == 0
    assert [p["content"] for p in chat.sent("agent/prompt")] == ["hello\nyou two"]


def test_what_is_typed_ahead_is_said(person: Callable[..., Person], chat: Chat) -> None:
    kim = person()
    kim.sees("› ")
    kim.presses(b"slow work\rand then\r")
    kim.sees("steered by and then")
    kim.sees("› ")
    kim.types("/quit")
    assert kim.leaves() == 0
    assert [p["content"] for p in chat.sent("agent/steer")] == ["and then"]


def test_ctrl_c_twice_leaves(person: Callable[..., Person]) -> None:
    kim = person()
    kim.sees("› ")
    kim.presses(CTRL_C)
    kim.sees("Ctrl-C again leaves")
    kim.presses(CTRL_C)
    assert kim.leaves() == 0


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("y", '"optionId": "o"'), ("a", '"optionId": "s"'), ("n", '"optionId": "d"')],
)
def test_leave_is_given_by_a_key(person: Callable[..., Person], typed: str, answer: str) -> None:
    kim = person()
    kim.sees("› ")
    kim.types("ask")
    kim.sees("? bash make")
    kim.sees("Commands are asked for.")
    kim.sees("[y] Allow once · [a] Allow in this session · [n] No")
    kim.types("maybe")
    kim.sees("[y] Allow once")
    kim.types(typed)
    kim.sees(f"answer: {{{answer}")
    kim.types("/quit")
    assert kim.leaves() == 0


def test_end_of_input_at_a_question_is_a_no(person: Callable[..., Person]) -> None:
    kim = person()
    kim.sees("› ")
    kim.types("ask")
    kim.sees("[n] No")
    kim.presses(CTRL_D)
    kim.sees('"optionId": "d"')
    kim.types("/quit")
    assert kim.leaves() == 0


def test_a_question_can_be_taken_back(person: Callable[..., Person]) -> None:
    kim = person()
    kim.sees("› ")
    kim.types("ask withdraw")
    kim.sees("no answer is needed any more")
    kim.sees("› ")
    kim.types("/quit")
    assert kim.leaves() == 0


def test_dialogs(person: Callable[..., Person]) -> None:
    kim = person()
    kim.sees("› ")
    kim.types("input input")
    kim.sees("? Your name?")
    kim.types("Kim")
    kim.sees('answer: {"value": "Kim"}')
    kim.sees("› ")
    kim.types("input confirm")
    kim.sees("[y] Yes · [n] No")
    kim.types("n")
    kim.sees('answer: {"value": false}')
    kim.types("/quit")
    assert kim.leaves() == 0


def test_lines_are_remembered_for_the_owner_alone(
    person: Callable[..., Person], chat: Chat
) -> None:
    kim = person()
    kim.sees("› ")
    kim.types("hello")
    kim.sees("› ")
    kim.types("/quit")
    assert kim.leaves() == 0
    assert "hello" in chat.history.read_text()
    assert chat.history.stat().st_mode & 0o777 == 0o600
    again = person()
    again.sees("› ")
    again.presses(UP)
    again.sees("/quit")
    again.types("")
    assert again.leaves() == 0


# -- with a real daemon ------------------------------------------------------------------------

BASH: list[Message] = [
    {"text": "I run it.", "call": "bash", "args": {"command": "echo made it"}},
    {"text": "Done."},
]


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_real_a_pipe_is_told_of_broken_settings(chat: Chat, tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "settings.json").write_text("{")
    chat.command = chat.real
    done = chat.pipe("help\n")
    assert done.returncode == 0
    assert done.stderr.startswith(f"! {tmp_path}/agent/settings.json is not valid JSON")
    assert "settings.json" not in done.stdout


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_real_a_pipe_reads_a_file_without_a_key(chat: Chat, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# A small web server\n")
    chat.command = chat.real
    done = chat.pipe("read README.md\n/tree\n")
    assert "✓ read README.md → # A small web server\n" in done.stdout
    assert re.search(r"│ \w{8} you: read README.md\n", done.stdout)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("option", "shown"),
    [
        ("--new", "✗ bash echo made it → The user did not allow this call"),
        ("--allow", "✓ bash echo made it → made it\n"),
    ],
)
def test_real_a_pipe_cannot_be_asked(chat: Chat, option: str, shown: str) -> None:
    chat.with_daemon(BASH)
    done = chat.pipe("make\n", option)
    assert done.stdout.startswith("I run it.\n?")
    assert shown in done.stdout
    assert done.stdout.endswith("Done.\n")


def test_real_options_that_are_not_known(chat: Chat) -> None:
    chat.command = [*chat.real, "--modle", "x"]
    done = chat.pipe("hi\n")
    assert done.returncode == 2
    assert done.stdout == (
        "✗ These options are not known.\n"
        "  singletree serve: error: unrecognized arguments: --modle x\n"
    )


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_real_what_a_turn_changed_is_taken_back(chat: Chat, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    edit: Message = {"edits": [{"oldText": "one", "newText": "two"}], "path": "a.txt"}
    chat.with_daemon([{"call": "edit", "args": edit}, {"text": "Done."}])
    done = chat.pipe("/mode acceptEdits\nchange it\n/undo\n/undo\n")
    assert "→ mode acceptEdits\n✓ edit a.txt" in done.stdout
    assert done.stdout.endswith("→ 1 edit taken back\n✗ There is no edit to take back.\n")
    assert (tmp_path / "a.txt").read_text() == "one\n"


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_real_a_person_allows_stops_and_goes_back(
    chat: Chat, person: Callable[..., Person]
) -> None:
    chat.with_daemon([*BASH, {"when": "slow", "parts": [{"text": "Working"}, {"wait": 30}]}])
    kim = person("--new")
    kim.sees("› ")
    kim.types("make")
    kim.sees("[y]")
    kim.types("y")
    kim.sees("→ made it")
    kim.sees("Done.")
    kim.sees("› ")
    kim.types("slow one")
    kim.sees("Working")
    kim.types("/queue and then")
    kim.sees("queued: the next turn")
    kim.presses(CTRL_C)
    kim.sees("not sent: and then")
    kim.sees("› and then")
    kim.presses(b"\x15")
    kim.types("/tree userOnly")
    kim.sees("you: make")
    kim.sees("› ")
    kim.types("/quit")
    assert kim.leaves() == 0


# -- what it is made of ------------------------------------------------------------------------


def test_it_needs_the_standard_library_alone() -> None:
    code = (
        "import sys; import singletree.chat;"
        "own = {m.split('.')[0] for m in sys.modules if not m.startswith('__')};"
        "print(sorted(own - sys.stdlib_module_names - {'singletree'}),"
        "sorted(m for m in sys.modules if m.startswith('singletree.') and 'chat' not in m))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, 'daemon'); {code}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout.strip() == "[] []"
