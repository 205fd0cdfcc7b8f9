"""The tools family, groups bash, user_bash, grep and find.

Notices and errors are given as codes with figures: ours are read back from our own constants.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from tests.vectors.runner import Case, Check, Deviates

from singletree.agent.tool import Tool, ToolOutput, ToolRun, parse_args
from singletree.errors import ToolError
from singletree.messages import Text, ToolCall, utf16_units
from singletree.tools import bash, find, paths, ripgrep, search, shell, truncate
from singletree.tools.bash import bash_tool, user_command
from singletree.tools.disk import Disk, LocalWorld
from singletree.tools.find import find_tool
from singletree.tools.search import grep_tool
from singletree.tools.shell import LocalShell
from singletree.tools.world import Exit

Figures = dict[str, Any]


@contextmanager
def place(files: Mapping[str, Any]) -> Iterator[Path]:
    """A folder with the case's files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, what in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if "dir" in what:
                path.mkdir(exist_ok=True)
            elif "link" in what:
                path.symlink_to(what["link"])
            else:
                path.write_bytes(content(what))
        yield Path(folder)


def content(what: Mapping[str, Any]) -> bytes:
    if "b64" in what:
        return base64.b64decode(what["b64"])
    if "parts" in what:
        return "".join(text * count for text, count in what["parts"]).encode()
    return str(what["text"]).encode()


def call(tool: Tool, args: Mapping[str, Any], name: str) -> ToolOutput:
    """One call, as the loop makes it: errors become results."""

    async def run() -> ToolOutput:
        try:
            parsed = parse_args(tool, ToolCall(id="1", name=name, arguments=dict(args)))
            return await tool.run(parsed, ToolRun("1", lambda text: None))
        except ToolError as error:
            return ToolOutput.text(error.message, is_error=True)

    return anyio.run(run)


def text_of(output: ToolOutput) -> str:
    (block,) = output.content
    assert isinstance(block, Text)
    return block.text


def figures(form: str, text: str) -> dict[str, str] | None:
    """What stands in the gaps of one of our constants, if the text has it."""
    pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.*?)", re.escape(form))
    found = re.search(pattern, text, re.DOTALL)
    return found.groupdict() if found else None


def same_text(wanted: Mapping[str, Any], text: str) -> None:
    if "text" in wanted:
        assert text == wanted["text"]
        return
    data = text.encode()
    assert len(data) == wanted["utf8_bytes"], len(data)
    assert utf16_units(text) == wanted["utf16_units"]
    assert hashlib.sha256(data).hexdigest() == wanted["sha256"]


def truncation(details: Any) -> Figures:
    kept = details["truncation"]
    return {
        "truncated": kept["truncated"],
        "by": kept["truncatedBy"],
        "total_lines": kept["totalLines"],
        "total_bytes": kept["totalBytes"],
        "output_lines": kept["outputLines"],
        "output_bytes": kept["outputBytes"],
        "last_line_partial": kept["lastLinePartial"],
        "first_line_exceeds_limit": kept["firstLineExceedsLimit"],
    }


def error_code(text: str) -> str | None:
    forms = {
        bash.BAD_TIMEOUT: "bad_timeout",
        bash.LONG_TIMEOUT: "timeout_too_big",
        shell.NO_FOLDER: "no_cwd",
        paths.MISSING: "path_not_found",
        paths.DEAD_LINK: "path_not_found",
        paths.FILE_AS_FOLDER: "path_not_found",
        find.NO_FOLDER: "path_not_found",
        find.BAD_GLOB: "bad_glob",
        ripgrep.BAD_GLOB: "bad_glob",
        ripgrep.BAD_PATTERN: "bad_pattern",
    }
    return next((code for form, code in forms.items() if figures(form, text) is not None), None)


def check_error(wanted: Mapping[str, Any], output: ToolOutput) -> None:
    text = text_of(output)
    assert output.is_error
    if wanted["error"] == "invalid_arguments":
        for path in wanted["paths"]:
            assert path in text
    else:
        assert error_code(text) == wanted["error"], text


# --- bash -------------------------------------------------------------------------------------


def check_bash(case: Case) -> None:
    with place(case.input["files"]) as folder, tempfile.TemporaryDirectory() as outputs:
        cwd = folder / case.input.get("cwd", ".")
        world = LocalWorld(cwd, Disk(), LocalShell(os.environ))
        tool = bash_tool(world, outputs=Path(outputs))
        for given, wanted in zip(case.input["calls"], case.expected, strict=True):
            output = call(tool, given["args"], "bash")
            if "error" in wanted:
                check_error(wanted, output)
            else:
                check_run(filled(wanted, folder), output)


def filled(wanted: Any, folder: Path) -> Any:
    if isinstance(wanted, dict):
        return {k: filled(v, folder) for k, v in wanted.items()}
    return wanted.replace("{CWD}", str(folder)) if isinstance(wanted, str) else wanted


def check_run(wanted: Mapping[str, Any], output: ToolOutput) -> None:
    text, details = text_of(output), output.details
    assert isinstance(details, dict)
    assert output.is_error == wanted["is_error"], text
    assert details["exitCode"] == wanted.get("exit_code")
    ended = figures(bash.TIMED_OUT, text)
    assert (float(ended["seconds"]) if ended else None) == wanted.get("timed_out_after")
    body = body_of_bash(text, wanted["body"])
    if wanted["body"] is None:
        assert body == ""
    else:
        same_text(wanted["body"], body)
    check_cut(wanted, text, body, details)
    whole = body
    if "full_output" in wanted:
        path = Path(str(details["fullOutputPath"]))
        assert str(path) in text
        assert oct(path.stat().st_mode)[-3:] == wanted["full_output"]["mode"]
        data = path.read_bytes()
        assert len(data) == wanted["full_output"]["bytes"]
        assert hashlib.sha256(data).hexdigest() == wanted["full_output"]["sha256"]
        whole = data.decode()
    structured = wanted.get("structured")
    if structured and not structured["truncated"]:
        assert structured["exit_code"] == details["exitCode"]
        same_text(structured["output"], whole)


def check_cut(wanted: Mapping[str, Any], text: str, body: str, details: Figures) -> None:
    notice = wanted.get("notice")
    if notice is None:
        assert "truncation" not in details
        return
    lines = figures(truncate.SHOWN_LINES + ". All", text)
    part = figures(truncate.SHOWN_PART + ". All", text)
    if notice["kind"] == "partial_line":
        assert part is not None
        assert part["side"].endswith(truncate.SIDES["tail"])
        assert part["size"] == notice["shown"]
        assert int(part["line"]) == notice["line"]
    else:
        assert lines is not None
        assert (int(lines["first"]), int(lines["last"])) == (notice["from"], notice["to"])
        total = figures("[Cut: {total} line", text)
        assert total is not None
        assert int(total["total"]) == notice["total"]
        assert truncation(details)["by"] == notice["by"]
    if "details" in wanted:
        assert truncation(details) == wanted["details"]["truncation"]


def body_of_bash(text: str, wanted: Mapping[str, str] | None) -> str:
    """The output without our notes: a blank line and lines in brackets at the end.

    Whether it ended with a newline cannot be seen before notes: as wanted, then.
    """
    body, blank, notes = text.rpartition("\n\n")
    ours = (bash.EXIT_CODE, bash.TIMED_OUT, bash.LEFT, "[Cut: {x}")
    if not blank:
        body, blank, notes = text.rpartition(bash.NO_OUTPUT + "\n")
    if not blank or not any(figures(form, notes) for form in ours):
        return "" if text == bash.NO_OUTPUT else text
    if blank != "\n\n":
        return body
    ends = wanted is not None and (wanted.get("text") or wanted.get("tail", "")).endswith("\n")
    return body if figures("[Cut: {x}", notes) is not None else body + "\n" * ends


def _said(case: Case) -> bytes:
    """All that the command of a case says."""
    chunks = case.input["chunks_b64"]
    return b"".join(base64.b64decode(chunk) * times for chunk, times in chunks)


def check_user_bash(case: Case) -> None:
    class Recorded:
        """A shell that says what the case says."""

        async def run(
            self,
            command: str,
            *,
            cwd: Path,
            limit: float | None,
            on_output: Callable[[bytes], None],
            env: Mapping[str, str] | None = None,
        ) -> Exit:
            for chunk, times in case.input["chunks_b64"]:
                for _ in range(times):
                    on_output(base64.b64decode(chunk))
            return Exit(case.input["exit_code"])

    async def run() -> None:
        said = await user_command(
            Recorded(),
            "x",
            cwd=Path("/"),
            scope=anyio.CancelScope(),
            update=lambda text: None,
        )
        wanted = case.expected
        if b"\r" in _said(case).replace(b"\r\n", b""):
            raise Deviates("pi runs the states of a line that is overwritten together.")
        same_text(wanted["output"], said.output)
        assert said.exit_code == wanted["exit_code"]
        assert said.cancelled == wanted["cancelled"]
        assert said.truncated == wanted["truncated"]
        assert (said.full_output_path is not None) == wanted["full_output_saved"]

    anyio.run(run)


# --- grep and find ----------------------------------------------------------------------------


def check_search(case: Case) -> None:
    with place(case.input["files"]) as folder:
        world = LocalWorld(folder, Disk(), LocalShell(os.environ))
        tool = grep_tool(world) if case.group == "grep" else find_tool(world)
        for given, wanted in zip(case.input["calls"], case.expected, strict=True):
            output = call(tool, filled(given["args"], folder), case.group)
            if "error" in wanted:
                check_error(wanted, output)
            elif case.group == "grep":
                check_lines(wanted, output)
            else:
                check_names(wanted, output)


def split(text: str) -> tuple[str, str]:
    """Body and notices."""
    body, blank, notes = text.rpartition("\n\n[")
    return (body, "[" + notes) if blank else (text, "")


def check_lines(wanted: Mapping[str, Any], output: ToolOutput) -> None:
    assert not output.is_error
    body, notes = split(text_of(output))
    if wanted.get("matches") == 0:
        assert body == search.NOTHING
        return
    if ripgrep.BEFORE in body:
        raise Deviates("Of a long line the part around its match is shown, not always its head.")
    body = body.replace(ripgrep.AFTER, "... [truncated]")
    lines = body.split("\n")
    assert len(lines) == wanted["line_count"], lines
    if "lines" in wanted:
        assert lines == sorted(wanted["lines"], key=lambda line: line_order(line))
    if "body" in wanted:
        same_text(wanted["body"], body)
    told = notices(notes)
    assert told == wanted["notices"]
    details: Any = output.details or {}
    known = {
        "match_limit": details.get("matchLimitReached"),
        "lines_truncated": details.get("linesTruncated"),
        "truncation": truncation(details) if "truncation" in details else None,
    }
    kept = {k: v for k, v in known.items() if v is not None}
    assert kept == wanted.get("details", {})


def notices(text: str) -> list[Figures]:
    """Our notices of a search, in the vectors' form and order."""
    told: list[Figures] = []
    if found := figures(search.MORE, text):
        told.append({"kind": "match_limit", **ints(found)})
    if found := figures(search.CUT, text):
        told.append({"kind": "byte_limit", "limit": found["size"]})
    if found := figures(search.CUT_LINES, text):
        told.append({"kind": "lines_truncated", **ints(found)})
    return told


def ints(found: Mapping[str, str]) -> dict[str, int]:
    return {key: int(value) for key, value in found.items()}


def line_order(line: str) -> tuple[str, int]:
    found = re.match(r"(.*?)([:-])(\d+)\2 ", line)
    assert found is not None
    return found[1], int(found[3])


def check_names(wanted: Mapping[str, Any], output: ToolOutput) -> None:
    if figures(find.OUTSIDE, text_of(output)) and wanted["results"] == []:
        raise Deviates("That a pattern leads out of the folder is told; pi finds nothing.")
    assert not output.is_error
    body, notes = split(text_of(output))
    results = [] if body == find.NOTHING else body.split("\n")
    assert sorted(results) == sorted(wanted["results"])
    assert (notes == "") == (not wanted.get("notices"))


SHELL_CHECKS: Mapping[str, Check] = {
    "bash": check_bash,
    "user_bash": check_user_bash,
    "grep": check_search,
    "find": check_search,
}
"""For the tools family, beside those of the file tools."""
