"""bash: what the model is told of a command, what is shown while it runs, where the whole goes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio
import pytest

from singletree.agent.tool import ToolOutput, ToolRun
from singletree.errors import ToolError
from singletree.messages import Text
from singletree.tools import output as output_module
from singletree.tools.bash import BashArgs, bash_tool, user_command
from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.output import MAX_LIVE, Output, prune
from singletree.tools.shell import LocalShell
from singletree.tools.world import Exit, Shell


class Saying:
    """A shell that says given pieces and then ends, or waits to be cancelled."""

    def __init__(self, *pieces: bytes, ended: Exit | None = None, pause: float = 0) -> None:
        self.pieces = pieces
        self.ended = ended
        self.pause = pause

    async def run(
        self,
        command: str,
        *,
        cwd: Path,
        limit: float | None,
        on_output: Callable[[bytes], None],
        env: Mapping[str, str] | None = None,
    ) -> Exit:
        for piece in self.pieces:
            on_output(piece)
            await anyio.sleep(self.pause)
        if self.ended is None:
            await anyio.sleep_forever()
        assert self.ended is not None
        return self.ended


async def said(
    shell: Shell, tmp_path: Path, *, limit: float | None = None
) -> tuple[str, ToolOutput, list[str]]:
    updates: list[str] = []
    tool = bash_tool(LocalWorld(tmp_path, Disk(), shell), outputs=tmp_path / "outputs")
    output = await tool.run(BashArgs(command="x", timeout=limit), ToolRun("call", updates.append))
    (block,) = output.content
    assert isinstance(block, Text)
    return block.text, output, updates


@pytest.mark.parametrize(
    ("pieces", "ended", "wanted", "is_error"),
    [
        ([b"hi\n"], Exit(0), "hi\n", False),
        ([], Exit(0), "(no output)", False),
        ([b"no\n"], Exit(2), "no\n\n[Exit code: 2]", True),
        ([b"no"], Exit(2), "no\n\n[Exit code: 2]", True),
        ([], Exit(1), "(no output)\n[Exit code: 1]", True),
        (
            [b"hi\n"],
            Exit(0, left=1),
            "hi\n\n[1 process still ran in the background and was ended.]",
            False,
        ),
        (
            [b"hi\n"],
            Exit(0, left=3),
            "hi\n\n[3 processes still ran in the background and were ended.]",
            False,
        ),
        (
            [b"a"],
            Exit(None, "timeout"),
            "a\n\n[Ended after its time limit of 1.5 s; what it had done until then stays done.]",
            True,
        ),
        ([b"x\n"], Exit(1, note="[Told.]"), "x\n\n[Told.]\n[Exit code: 1]", True),
    ],
)
async def test_what_the_model_is_told(
    pieces: list[bytes], ended: Exit, wanted: str, is_error: bool, tmp_path: Path
) -> None:
    text, output, _ = await said(Saying(*pieces, ended=ended), tmp_path, limit=1.5)
    assert text == wanted
    assert output.is_error == is_error
    assert output.details == {"exitCode": ended.code}


async def test_a_long_output_is_saved_for_its_user_alone(tmp_path: Path) -> None:
    whole = b"".join(b"line %d\n" % n for n in range(1, 3001))
    text, output, _ = await said(Saying(whole[:100], whole[100:], ended=Exit(0)), tmp_path)
    (path,) = (tmp_path / "outputs").iterdir()
    assert path.read_bytes() == whole
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    body, _, notice = text.rpartition("\n\n")
    assert body.splitlines() == [f"line {n}" for n in range(1001, 3001)]
    assert notice == (
        "[Cut: 3000 lines, 28.2KB in all. Shown: lines 1001-3000. "
        f"All of it: {path} (read it in parts, or search it with grep)]"
    )
    assert isinstance(output.details, dict)
    assert output.details["fullOutputPath"] == str(path)


async def test_empty_lines_of_a_long_output_count(tmp_path: Path) -> None:
    text, _, _ = await said(Saying(b"\n" * 2001, ended=Exit(0)), tmp_path)
    assert text.startswith("\n" * 2001 + "[Cut: 2001 lines, 2.0KB in all. Shown: lines 2-2001.")


async def test_a_place_that_cannot_be_written_is_told_and_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("a file where the folder should be")
    text, output, _ = await said(Saying(b"x" * 60_000, ended=Exit(0)), tmp_path)
    assert "All of it: it could not be saved (" in text
    assert not output.is_error


async def test_the_file_is_bounded(tmp_path: Path) -> None:
    output = Output(tmp_path)
    piece = b"y" * 1023 + b"\n"
    for _ in range(output_module.MAX_FILE // 1024 + 10):
        output.feed(piece)
    await output.close()
    assert output.path is not None
    assert output.path.stat().st_size == output_module.MAX_FILE
    assert "its first 64 MiB; the rest was not kept" in output.notice()


async def test_text_is_told_while_it_runs(tmp_path: Path) -> None:
    shell = Saying(b"one\ntw", b"o\nthree\n", ended=Exit(0), pause=0.25)
    text, _, updates = await said(shell, tmp_path)
    assert "".join(updates) == text == "one\ntwo\nthree\n"
    assert len(updates) > 1


async def test_what_was_said_is_told_even_when_it_is_cancelled(tmp_path: Path) -> None:
    updates: list[str] = []
    tool = bash_tool(LocalWorld(tmp_path, Disk(), Saying(b"so far")))
    with anyio.move_on_after(0.02) as scope:
        await tool.run(BashArgs(command="x"), ToolRun("call", updates.append))
    assert scope.cancelled_caught
    assert updates == ["so far"]


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), 9e9])
async def test_a_senseless_timeout_is_refused(limit: float, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="timeout"):
        await said(Saying(ended=Exit(0)), tmp_path, limit=limit)


async def test_a_long_timeout_is_told_as_a_plain_number(tmp_path: Path) -> None:
    told, _, _ = await said(Saying(ended=Exit(None, "timeout")), tmp_path, limit=2e6)
    assert "[Ended after its time limit of 2000000 s;" in told


async def test_an_error_of_the_shell_is_the_tools(tmp_path: Path) -> None:
    shell = LocalShell({"PATH": os.environ["PATH"]})
    with pytest.raises(ToolError, match="does not exist"):
        await said(shell, tmp_path / "gone")


async def test_the_shell_may_depend_on_the_call(tmp_path: Path) -> None:
    shells = {"a": Saying(b"confined", ended=Exit(0)), "b": Saying(b"free", ended=Exit(0))}
    tool = bash_tool(LocalWorld(tmp_path, Disk(), Saying()), shell_of=shells.__getitem__)
    first = await tool.run(BashArgs(command="x"), ToolRun("a", print))
    second = await tool.run(BashArgs(command="x"), ToolRun("b", print))
    assert [first.content, second.content] == [
        (Text(text="confined"),),
        (Text(text="free"),),
    ]


async def live(*pieces: bytes) -> list[str]:
    output = Output()
    told = []
    for piece in pieces:
        output.feed(piece)
        told.append(output.live())
    await output.close()
    return [*told, output.live()]


@pytest.mark.parametrize(
    ("pieces", "wanted"),
    [
        ([b"a", b"b", b"c\n"], ["a", "b", "c\n", ""]),
        ([b"10%", b"\r20%", b"\r100%\n"], ["10%", "\n20%", "\n100%\n", ""]),
        ([b"10%\r20%\r30%", b" done\n"], ["10%\n30%", " done\n", ""]),
        ([b"a\n", b"\033[3", b"1mred"], ["a\n", "", "red", ""]),
        ([b"a\n\n", b"\n"], ["a\n\n", "\n", ""]),
    ],
)
async def test_live_text_is_to_be_appended(pieces: list[bytes], wanted: list[str]) -> None:
    assert await live(*pieces) == wanted


async def test_live_text_of_a_flood_is_its_end() -> None:
    told = await live(b"x" * 99 + b"\n", *[b"y" * 99_999 + b"\n"] * 3, b"end\n")
    assert all(len(text) < MAX_LIVE + 100 for text in told)
    assert "characters not shown while it runs" in told[1]
    assert told[-2] == "end\n"


async def test_a_persons_command(tmp_path: Path) -> None:
    message = await user_command(
        Saying(b"\033[31mhi\033[0m\n", ended=Exit(3)),
        "greet",
        cwd=tmp_path,
        scope=anyio.CancelScope(),
        update=lambda text: None,
    )
    assert (message.command, message.output, message.exit_code) == ("greet", "hi\n", 3)
    assert not message.cancelled


async def test_a_persons_cancelled_command_keeps_what_it_said(tmp_path: Path) -> None:
    scope = anyio.CancelScope()
    scope.deadline = anyio.current_time() + 0.02
    message = await user_command(
        Saying(b"so far"), "wait", cwd=tmp_path, scope=scope, update=lambda text: None
    )
    assert (message.output, message.exit_code, message.cancelled) == ("so far", None, True)


def test_old_outputs_are_removed(tmp_path: Path) -> None:
    old, new, other = (tmp_path / name for name in ("singletree-a.log", "singletree-b.log", "x"))
    for path in (old, new, other):
        path.write_text("x")
    os.utime(old, (0, 0))
    os.utime(other, (0, 0))
    assert prune(tmp_path) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["singletree-b.log", "x"]
