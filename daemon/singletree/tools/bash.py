"""bash: run a command, watch its output, give back its tail; and the same for a person's command.

Never starts a process by itself (world.shell does), never asks. Text the model reads stands in the
constants. Read next: output.py (what becomes of the output), shell.py (how a command runs).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import anyio
from pydantic import Field, JsonValue

from singletree.agent.tool import Args, Tool, ToolOutput, ToolRun, typed
from singletree.errors import ToolError
from singletree.messages import BashExecutionMessage
from singletree.tools.output import Output
from singletree.tools.truncate import MAX_BYTES, MAX_LINES, details_of
from singletree.tools.world import Exit, Shell, World

DESCRIPTION = (
    "Run a command with bash in the workspace folder and get its output (stdout and stderr "
    f"together; the last {MAX_LINES} lines or {MAX_BYTES // 1024}KB, a longer one is also saved "
    "to a file that is named). Each call starts a new shell: variables, functions and `cd` do not "
    "last. There is no keyboard and no terminal: commands that ask, edit or page get an empty "
    "input. Processes left in the background are ended when the command ends."
)
SNIPPET = "Run a shell command"
GUIDELINES = (
    "Give a command that may take long a timeout; it has none by itself.",
    "Do not start servers in the background to use them in a later call: start, use and stop them "
    "within one command.",
)
COMMAND = "The command line, as bash takes it."
UNCONFINED = (
    "Ask the user to let this command run outside the sandbox, with the network and all files. "
    "Only after the sandbox denied it."
)
TIMEOUT = "Seconds after which it is ended. None if left out."

NO_OUTPUT = "(no output)"
EXIT_CODE = "[Exit code: {code}]"
TIMED_OUT = "[Ended after its time limit of {seconds} s; what it had done until then stays done.]"
LEFT = "[{count} still ran in the background and {were} ended.]"
BAD_TIMEOUT = "timeout must be a number of seconds above 0."
LONG_TIMEOUT = "timeout may be at most {limit} seconds. Leave it out for no limit."

MAX_TIMEOUT = 2_147_483.647
LIVE_INTERVAL = 0.1


class BashArgs(Args):
    """What the model gives."""

    command: str = Field(description=COMMAND)
    timeout: float | None = Field(default=None, description=TIMEOUT)


class ConfinedArgs(BashArgs):
    """The same where commands may run in a sandbox."""

    unconfined: bool | None = Field(default=None, description=UNCONFINED)


def bash_tool(
    world: World,
    *,
    outputs: Path | None = None,
    shell_of: Callable[[str], Shell] | None = None,
) -> Tool:
    """The tool. `outputs`: where long outputs are saved.

    `shell_of`: the shell for a call id, where some calls run in a sandbox and others do not.
    """

    async def run(args: BashArgs, tool_run: ToolRun) -> ToolOutput:
        limit = _limit(args.timeout)
        shell = shell_of(tool_run.call_id) if shell_of else world.shell
        output = Output(outputs)
        ended = await _watched(shell, args.command, world.cwd, limit, output, tool_run.update)
        return _told(output, ended, args.timeout)

    return Tool(
        name="bash",
        label="Shell",
        kind="execute",
        description=DESCRIPTION,
        args=ConfinedArgs if shell_of else BashArgs,
        run=typed(BashArgs, run),
        snippet=SNIPPET,
        guidelines=GUIDELINES,
    )


async def user_command(
    shell: Shell,
    command: str,
    *,
    cwd: Path,
    scope: anyio.CancelScope,
    update: Callable[[str], None],
    outputs: Path | None = None,
) -> BashExecutionMessage:
    """A command that a person runs. Cancelling `scope` ends it; what it said until then is kept."""
    output = Output(outputs)
    ended: Exit | None = None
    with scope:
        ended = await _watched(shell, command, cwd, None, output, update)
    cut = output.cut()
    return BashExecutionMessage(
        command=command,
        output=cut.text,
        exit_code=ended.code if ended else None,
        cancelled=ended is None,
        truncated=cut.by is not None,
        full_output_path=str(output.path) if output.path else None,
    )


async def _watched(
    shell: Shell,
    command: str,
    cwd: Path,
    limit: float | None,
    output: Output,
    update: Callable[[str], None],
) -> Exit:
    """Run, and tell what is new ten times a second."""

    def tell() -> None:
        if text := output.live():
            update(text)

    async def tick() -> None:
        while True:
            await anyio.sleep(LIVE_INTERVAL)
            tell()
            await output.save()

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(tick)
            ended = await shell.run(command, cwd=cwd, limit=limit, on_output=output.feed)
            group.cancel_scope.cancel()
    except BaseExceptionGroup as several:
        raise _only(several) from None
    finally:
        await output.close()
        tell()
    return ended


def _only(several: BaseExceptionGroup[BaseException]) -> BaseException:
    first = several.exceptions[0]
    return _only(first) if isinstance(first, BaseExceptionGroup) else first


def _limit(timeout: float | None) -> float | None:
    if timeout is None:
        return None
    if not math.isfinite(timeout) or timeout <= 0:
        raise ToolError(BAD_TIMEOUT)
    if timeout > MAX_TIMEOUT:
        raise ToolError(LONG_TIMEOUT.format(limit=MAX_TIMEOUT))
    return timeout


def _told(output: Output, ended: Exit, timeout: float | None) -> ToolOutput:
    cut = output.cut()
    failed = ended.ended != "exit" or ended.code != 0
    notes = [output.notice()]
    if ended.left:
        were = "was" if ended.left == 1 else "were"
        count = "1 process" if ended.left == 1 else f"{ended.left} processes"
        notes.append(LEFT.format(count=count, were=were))
    notes.append(ended.note)
    if ended.ended == "timeout":
        notes.append(TIMED_OUT.format(seconds=f"{timeout:.12g}" if timeout else "?"))
    elif ended.code != 0:
        notes.append(EXIT_CODE.format(code=ended.code))
    details: dict[str, JsonValue] = {"exitCode": ended.code}
    if cut.by is not None:
        details["truncation"] = details_of(cut)
        if output.path:
            details["fullOutputPath"] = str(output.path)
    body = cut.text if cut.by is None else f"{cut.text}\n"
    return ToolOutput.text(_joined(body, notes), details=details, is_error=failed)


def _joined(body: str, notes: list[str]) -> str:
    told = "\n".join(note for note in notes if note)
    if not told:
        return body or NO_OUTPUT
    if not body:
        return f"{NO_OUTPUT}\n{told}"
    return f"{body}{'' if body.endswith(chr(10)) else chr(10)}\n{told}"
