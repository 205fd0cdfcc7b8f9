"""The reader of command lines against bash itself: nothing runs that was not named."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from singletree.tools.command import parse_command

STUBS = ("aa", "bb", "cc", "dd")
REAL = ("bash", "sh", "env", "nohup", "xargs", "timeout", "nice")
STUB = """#!/bin/sh
echo "${0##*/}" >> "$PWD.log"
"""

NAMES = st.sampled_from(["aa", "bb", "cc", "dd", "a\\a", "'b'b", '"cc"', "$'dd'", "x", "1", "-n"])
PIECES = (
    " ∙ ∙ ∙\t∙\n∙;∙&∙|∙&&∙||∙|&∙(∙)∙{ ∙; }∙!∙$(∙)∙`∙'∙\"∙\\∙$∙#∙ #∙<∙>∙>>∙<<<∙2>&1∙>&2∙&>∙<(∙>("
    "∙<<E\n∙\nE\n∙<<'E'\n∙<<-E\n\t∙${y:-∙}∙$((∙))∙if ∙; then ∙; fi∙until ∙; do ∙; done∙eval ∙env "
    "∙bash -c ∙sh -c '∙y=∙y+=∙*∙?∙[∙~∙\\\n∙$x∙${x}∙$'\\n'∙$\"∙=∙time ∙exec ∙command ∙nohup ∙\r"
    "∙xargs ∙timeout 1 ∙nice ∙:∙builtin ∙,∙{∙}∙..∙${y/∙//∙@∙^"
    "∙$\\\n(∙\"${y:-'∙'}\"∙${y:-$'\\''"
)
GLUE = st.sampled_from(PIECES.split("∙"))
LINES = st.lists(st.one_of(NAMES, GLUE), min_size=1, max_size=12).map("".join)


class Stage:
    """A folder of commands that only tell that they ran, and one to run in."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="singletree-test-"))
        for name in STUBS:
            path = self.root / "bin" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(STUB)
            path.chmod(0o755)
        for name in REAL:
            found = shutil.which(name)
            assert found
            (self.root / "bin" / name).symlink_to(found)

    def run(self, line: str) -> tuple[set[str], set[str]]:
        """What ran, and which files were made."""
        with tempfile.TemporaryDirectory(dir=self.root) as cwd:
            subprocess.run(
                ["/bin/bash", "-c", line],
                cwd=cwd,
                env={"PATH": str(self.root / "bin"), "HOME": "/nowhere"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=5,
                check=False,
            )
            made = {path.name for path in Path(cwd).iterdir()}
            log = Path(f"{cwd}.log")
            return set(log.read_text().split()) if log.exists() else set(), made


@pytest.fixture(scope="module")
def stage() -> Stage:
    return Stage()


@pytest.mark.slow
@pytest.mark.timeout(300)
@settings(max_examples=1500)
@given(LINES)
@example("aa <<E\n$(bb)\nE\ncc")
@example("aa <<E | bb\nx\nE\ncc")
@example("aa ${y:-'}'} bb; cc")
@example("time y=1 aa; time -p { bb; }")
@example('aa "${y:-"$(bb)"}"')
@example("aa `bb \\`cc\\``")
@example("aa \\\n bb")
@example("aa #\nbb")
@example("aa $'\\'' bb '; cc")
@example('aa "$\\\n(bb)"')
@example("aa <<E\n$\\\n(bb)\nE\n")
@example("aa \"${y:-'$(bb)'}\"")
@example("aa <<E\n${y:-'$(bb)'}\nE\n")
@example("aa ${y:-$'\\'\\''$(bb)'}'}")
def test_nothing_runs_that_was_not_named(stage: Stage, line: str) -> None:
    if "until" in line:
        line = f"timeout 0.2 bash -c {shlex.quote(line)}"
    parsed = parse_command(line)
    if parsed.doubts:
        return  # a person is asked
    ran, made = stage.run(line)
    named = {argv[0] for argv in parsed.commands}
    assert ran <= named, (ran, parsed)
    assert made == set(), (made, parsed)


@pytest.mark.slow
@pytest.mark.timeout(300)
@settings(max_examples=700)
@given(LINES)
@example("aa &>/dev/null bb")
@example("aa $'\\'; bb; aa '")
@example('aa "${y:-\'}" ; bb; aa "\'}"')
def test_nothing_else_runs_in_another_shell(stage: Stage, line: str) -> None:
    test_nothing_runs_that_was_not_named.hypothesis.inner_test(stage, f"sh -c {shlex.quote(line)}")
