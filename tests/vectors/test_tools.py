"""The tools family: our file tools on folders made from the data; the shell's groups stand beside.

Notices and errors are given as codes with figures: ours are read back from our own constants.
"""

from __future__ import annotations

import base64
import errno
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from tests.tools.worlds import world_of
from tests.vectors.runner import Case, Check, Deviates, run
from tests.vectors.test_tools_shell import (
    SHELL_CHECKS,
    call,
    content,
    figures,
    filled,
    ints,
    same_text,
    truncation,
)

from singletree.agent.tool import Tool, ToolOutput
from singletree.messages import Image, Text
from singletree.tools import edit, ls, missed, paths, pictures, read, write
from singletree.tools.images import picture
from singletree.tools.looks import looks
from singletree.tools.match import EOL
from singletree.tools.paths import resolve
from singletree.tools.truncate import MAX_BYTES, format_size
from singletree.tools.world import World

TOOLS: Mapping[str, Callable[[World], Tool]] = {
    "read": read.read_tool,
    "edit": edit.edit_tool,
    "write": write.write_tool,
    "ls": ls.ls_tool,
}


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
                path.write_bytes(file_content(what))
            if "mode" in what:
                path.chmod(int(str(what["mode"]), 8))
        yield Path(folder)


def file_content(what: Mapping[str, Any]) -> bytes:
    if "numbered" in what:
        lines = [f"line {number}" for number in range(1, what["numbered"] + 1)]
        end = "\n" if what.get("final_newline", True) else ""
        return ("\n".join(lines) + end).encode()
    return content(what)


def split(text: str) -> tuple[str, list[str]]:
    """The body and our notes, which are lines in brackets at the end."""
    body, blank, rest = text.rpartition("\n\n[")
    if not blank and text.startswith("["):
        return "", text.split("\n")
    return (body, f"[{rest}".split("\n")) if blank else (text, [])


def said(output: ToolOutput) -> str:
    return "\n".join(block.text for block in output.content if isinstance(block, Text))


ERRORS: Mapping[str, tuple[str, ...]] = {
    "offset_beyond_end": (read.BEYOND_END,),
    "no_edits": (edit.NO_EDITS,),
    "empty_old_text": (edit.EMPTY_OLD,),
    "overlap": (edit.OVERLAP,),
    "not_found": (missed.NOT_FOUND,),
    "not_unique": (missed.SEVERAL,),
    "path_not_found": (paths.MISSING, paths.DEAD_LINK),
    "ENOENT": (paths.MISSING, paths.DEAD_LINK),
    "EISDIR": (read.FOLDER, edit.FOLDER, write.FOLDER),
    "EEXIST": (paths.TROUBLE[errno.EEXIST],),
    "ENOTDIR": (paths.FILE_AS_FOLDER, paths.TROUBLE[errno.ENOTDIR]),
    "ENAMETOOLONG": (paths.TROUBLE[errno.ENAMETOOLONG],),
    "ELOOP": (paths.TROUBLE[errno.ELOOP],),
}
"""Our words for a code. One that is not here says only that it is an error."""

TOLERANT = (paths.FOUND_INSTEAD, edit.BY_LOOKS, edit.BY_INDENT)
"""What we say where we found the one thing that can be meant, and pi finds nothing."""


NOT_AS_TEXT = (read.DRAWN, read.BINARY, read.UTF_16, pictures.DAMAGED, pictures.NO_PICTURE)
"""What we say where pi shows control characters and bytes as they are."""


def check_error(wanted: Mapping[str, Any], output: ToolOutput) -> None:
    text = said(output)
    assert output.is_error, text
    if wanted["error"] == "invalid_arguments":
        for path in wanted["paths"]:
            assert "/" + path.replace(".", "/") in text, text
        return
    forms = ERRORS.get(wanted["error"])
    if forms is None:
        return
    told = (figures(form, text) for form in forms)
    found = next((figure for figure in told if figure is not None), None)
    assert found is not None, text
    if "offset" in wanted:
        assert int(found["offset"]) == wanted["offset"]
        lines = int(found["lines"].split()[0])
        # pi counts an empty line behind a final newline, and one in an empty file.
        assert lines in (wanted["total_lines"], wanted["total_lines"] - 1)
    if wanted.get("index"):
        assert found["edit"] == f"edits[{wanted['index']}].oldText"
    if "indexes" in wanted:
        assert [int(found["a"]), int(found["b"])] == wanted["indexes"]
    if "count" in wanted:
        assert int(found["count"]) == wanted["count"]


def check_tolerance(tool: Tool, args: Mapping[str, Any], output: ToolOutput) -> None:
    """Whether we do what pi refuses, and say why."""
    if not output.is_error and any(figures(form, said(output)) for form in TOLERANT):
        raise Deviates("The one thing that looks like what was asked for is taken.")
    if not output.is_error and tool.prepare is not None and tool.prepare(args) != args:
        raise Deviates("Arguments under other tools' names and in their shapes are taken.")


def check_calls(case: Case, check: Callable[[Mapping[str, Any], ToolOutput, Path], None]) -> None:
    with place(case.input["files"]) as folder:
        for given, wanted in zip(case.input["calls"], case.expected, strict=True):
            tool = TOOLS[given["tool"]](world_of(folder))
            output = call(tool, filled(given["args"], folder), given["tool"])
            if "error" in wanted:
                check_tolerance(tool, given["args"], output)
                check_error(wanted, output)
            else:
                assert not output.is_error, said(output)
                check(filled(wanted, folder), output, folder)


def check_read(case: Case) -> None:
    check_calls(case, lambda wanted, output, folder: check_read_output(case, wanted, output))


def check_read_output(case: Case, wanted: Mapping[str, Any], output: ToolOutput) -> None:
    if "image" in wanted:
        check_image(wanted, output, file_content(next(iter(case.input["files"].values()))))
        return
    body, notes = split(said(output))
    notice = wanted.get("notice", {})
    text = "\n".join(notes)
    if notice.get("kind") == "first_line_too_big":
        # Where pi shows nothing of an over-long line, we show its beginning.
        found = figures(read.LONG_LINE, text)
        assert found is not None
        assert int(found["line"]) == notice["line"]
        assert found["size"] == notice["line_size"]
        assert found["part"] == notice["limit"]
        assert 0 <= notice["head_bytes"] - len(body.encode()) < 4  # never half a character
        return
    if any(figures(note, text) is not None for note in NOT_AS_TEXT):
        raise Deviates("Control characters are drawn, and a binary file is not dumped as text.")
    if notes and not notice and str(wanted["body"].get("text")).endswith("\n"):
        body += "\n"  # before notes we leave the final newline away
    same_text(wanted["body"], body)
    if notice.get("kind") == "more":
        found = figures(read.MORE, text)
        assert found is not None
        assert int(found["next"]) == notice["next_offset"]
        assert int(found["more"].split()[0]) in (notice["remaining"], notice["remaining"] - 1)
    elif notice:
        found = figures(read.CUT, text)
        assert found is not None
        numbers = ints({key: found[key] for key in ("first", "last", "next", "total")})
        assert numbers["first"] == notice["from"]
        assert numbers["last"] == notice["to"]
        assert numbers["next"] == notice["next_offset"]
        assert numbers["total"] in (notice["total"], notice["total"] - 1)
        assert found["limit"] == notice.get("limit", "2000 lines")
    else:
        assert figures(read.MORE, text) is None
        assert figures(read.CUT, text) is None
    if (wanted.get("details") or {}).get("truncation"):
        assert truncation(output.details) == wanted["details"]["truncation"]
    else:
        assert output.details is None


def check_image(wanted: Mapping[str, Any], output: ToolOutput, data: bytes) -> None:
    text, image = said(output), wanted["image"]
    again = pictures.CONVERTED if not image["converted"] else pictures.SMALLER
    noted = any(figures(form, text) is not None for form in (pictures.SMALLER, again))
    assert noted == image["dimension_note"]
    if image["omitted"]:
        assert image["mime"] in text
        assert len(output.content) == 1
        return
    block, shown = output.content[-1], wanted["image_block"]
    assert isinstance(block, Image)
    sent = base64.b64decode(block.data)
    assert (sent == data) == shown["same_bytes_as_file"]
    found = picture(sent)
    assert found is not None
    assert block.mime_type == found.mime
    assert found.mime in text
    if sent != data and found.mime != shown["mime"]:
        raise Deviates("A picture made smaller is a PNG unless it was a photograph.")
    assert found.mime == image["mime"] == shown["mime"]
    if "width" in shown:
        assert (found.width, found.height) == (shown["width"], shown["height"])


def check_edit(case: Case) -> None:
    before: dict[str, bytes] = {
        name: file_content(what)
        for name, what in case.input["files"].items()
        if "link" not in what and "dir" not in what
    }

    def check(wanted: Mapping[str, Any], output: ToolOutput, folder: Path) -> None:
        found = figures(edit.DONE, said(output))
        assert found is not None
        assert int(found["blocks"].split()[0]) == wanted["blocks"]
        assert found["path"] == wanted["path"]
        check_edited(wanted, before, folder)
        details = output.details
        assert isinstance(details, dict)
        assert details["firstChangedLine"] == wanted["details"]["first_changed_line"]
        (name,) = wanted["files_after"]
        check_patch(str(details["patch"]), before[name], (folder / name).read_bytes())

    check_calls(case, check)


def check_edited(wanted: Mapping[str, Any], before: Mapping[str, bytes], folder: Path) -> None:
    """The files as they should be; or what the edit left alone in them is still as it was."""
    for name, after in wanted["files_after"].items():
        ours, pis = (folder / name).read_bytes(), file_content(after)
        if ours != pis and seen(ours) == seen(pis):
            assert kept(before[name], ours) > kept(before[name], pis)
            raise Deviates("Quotes, blanks and line ends that an edit does not change stay.")
        assert ours == pis


def seen(data: bytes) -> list[str]:
    """What the lines of a file look like."""
    return [looks(line).rstrip() for line in EOL.split(data.decode())]


def kept(before: bytes, after: bytes) -> float:
    """How much of a file is still there."""
    return SequenceMatcher(None, before.decode(), after.decode(), autojunk=False).ratio()


def check_patch(patch: str, before: bytes, after: bytes) -> None:
    """Our patch makes the old text the new one (line ends are not in it)."""

    def lines(data: bytes) -> list[str]:
        text = data.decode().removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        return re.findall(r"[^\n]*\n|[^\n]+$", text)

    out, at, old = list[str](), 0, lines(before)
    rows = re.findall(r"[^\n]*\n(?:\\ No newline at end of file\n)?", patch)
    for row in rows[2:]:
        if row.startswith("@@"):
            start, count = map(int, row.split()[1][1:].split(","))
            out += old[at : start - (1 if count else 0)]
            at = start - (1 if count else 0)
            continue
        line = row[1:].removesuffix("\n\\ No newline at end of file\n")
        if row.startswith(("-", " ")):
            assert old[at] == line
            at += 1
        if row.startswith(("+", " ")):
            out.append(line)
    assert out + old[at:] == lines(after)


def check_files(wanted: Mapping[str, Any], folder: Path) -> None:
    for name, after in wanted["files_after"].items():
        assert (folder / name).read_bytes() == file_content(after)


def check_write(case: Case) -> None:
    def check(wanted: Mapping[str, Any], output: ToolOutput, folder: Path) -> None:
        found = figures(write.DONE, said(output))
        assert found is not None
        assert found["path"] == wanted["path"]
        check_files(wanted, folder)
        (after,) = wanted["files_after"].values()
        assert f", {format_size(len(file_content(after)))}." in said(output)

    check_calls(case, check)


def check_ls(case: Case) -> None:
    def check(wanted: Mapping[str, Any], output: ToolOutput, folder: Path) -> None:
        body, notes = split(said(output))
        if "entries" in wanted:
            assert (body.split("\n") if body else []) == wanted["entries"]
        else:
            same_text(wanted["body"], body)
        found = figures(ls.LIMITED, "\n".join(notes))
        told: list[Mapping[str, Any]] = []
        if found is not None:
            told = [
                {
                    "kind": "entry_limit",
                    "limit": int(found["shown"]),
                    "suggest": int(found["suggest"]),
                }
            ]
        details = output.details or {}
        assert isinstance(details, dict)
        if "truncation" in details:
            told.append({"kind": "byte_limit", "limit": format_size(MAX_BYTES)})
        assert told == wanted.get("notices", [])
        assert details.get("entryLimitReached") == wanted.get("details", {}).get("entry_limit")

    check_calls(case, check)


def check_resolve(case: Case) -> None:
    wanted = case.expected["path"].replace("{HOME}", os.environ["HOME"])
    assert str(resolve(case.input["path"], Path(case.input["cwd"]))) == wanted


CHECKS: Mapping[str, Check] = {
    "read": check_read,
    "read_image": check_read,
    "edit": check_edit,
    "edit_args": check_edit,
    "write": check_write,
    "ls": check_ls,
    "resolve_path": check_resolve,
    **SHELL_CHECKS,
}


def test_tools_vectors() -> None:
    failed = run("tools", CHECKS)
    assert failed == [], "\n".join(failed[:10])
