"""A real Neovim with the plugin, as docs/editors/neovim.md says, on the real daemon.

It is driven over its own RPC, as a person's keys and as Lua; what it shows is read from its
buffers. The daemon is the shared one of a folder of the test's own, which `singletree attach` on
PATH starts.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clients.msgpack import pack, unpack
from tests.clients.nvim_install import found

REPOSITORY = Path(__file__).parents[2]
PATIENCE = 30.0


def snippet() -> str:
    """The Lua that docs/editors/neovim.md tells a person to put into init.lua."""
    page = (REPOSITORY / "docs" / "editors" / "neovim.md").read_text("utf-8")
    shown = re.search(r"```lua\n(.*?)```", page, re.S)
    assert shown is not None
    return shown[1]


@dataclass
class Home:
    """A home folder: the sources where the page says, a `singletree` on PATH, a workspace."""

    root: Path
    arguments: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.root / "work"

    def furnish(self, *turns: object) -> None:
        """Make everything a person has, and the script that the model plays."""
        (self.root / "src").mkdir(parents=True)
        (self.root / "src" / "singletree").symlink_to(REPOSITORY)
        config = self.root / ".config" / "nvim"
        config.mkdir(parents=True)
        (config / "init.lua").write_text(snippet(), "utf-8")
        (self.folder / ".git").mkdir(parents=True)
        self.play(*turns)
        script = f"--model 'scripted:{self.root / 'script.jsonl'}'"
        more = " ".join(self.arguments)
        program = self.root / "bin" / "singletree"
        program.parent.mkdir()
        program.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -m singletree "$@" {script} {more}\n', "utf-8"
        )
        program.chmod(0o755)

    def play(self, *turns: object) -> None:
        """What the next daemon's model says."""
        text = "".join(json.dumps(turn) + "\n" for turn in turns)
        (self.root / "script.jsonl").write_text(text, "utf-8")

    def settings(self, **keys: object) -> None:
        """Write the user's settings.json."""
        agent = self.root / ".pi" / "agent"
        agent.mkdir(parents=True, exist_ok=True)
        (agent / "settings.json").write_text(json.dumps(keys), "utf-8")

    def environment(self) -> dict[str, str]:
        """Nothing of the machine's but its locale and its programs."""
        return {
            "HOME": str(self.root),
            "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "PI_CODING_AGENT_DIR": str(self.root / ".pi" / "agent"),
            "PYTHONPATH": str(REPOSITORY / "daemon"),
        }

    def signal(self, number: int) -> None:
        """Send the shared daemon a signal, if it lives."""
        for lock in (self.root / ".pi" / "agent" / "singletree" / "run").glob("*.lock"):
            told = re.search(r"pid=(\d+)", lock.read_text("utf-8"))
            command = Path(f"/proc/{told[1]}/cmdline") if told else None
            if told and command and command.exists() and b"singletree" in command.read_bytes():
                os.kill(int(told[1]), number)

    def stop(self) -> None:
        """End the shared daemon, as `singletree stop` does, without starting a Python for it."""
        self.signal(signal.SIGTERM)


class Neovim:
    """One Neovim, with a person in front of it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process = process
        self._in, self._out = process.stdin, process.stdout
        self._asked = 0

    def call(self, method: str, *params: object) -> Any:
        """Call a function of its API; an AssertionError with what it says if that fails."""
        self._asked += 1
        self._in.write(pack([0, self._asked, method, list(params)]))
        self._in.flush()
        while True:
            message = unpack(self._out)
            if message[:2] == [1, self._asked]:
                assert message[2] is None, f"{method}: {message[2]}"
                return message[3]

    def lua(self, code: str, *arguments: object) -> Any:
        return self.call("nvim_exec_lua", code, list(arguments))

    def keys(self, keys: str) -> None:
        self.call("nvim_input", keys)

    def run(self, command: str) -> None:
        self.call("nvim_command", command)

    def until(self, code: str, *arguments: object, patience: float = PATIENCE) -> Any:
        """Wait for Lua to give something true; what it gave."""
        end = time.monotonic() + patience
        while not (given := self.lua(code, *arguments)):
            if time.monotonic() > end:
                raise AssertionError(
                    f"not within {patience} s: {code}\n{self.transcript()[-2000:]}"
                )
            time.sleep(0.02)
        return given

    def buffer(self, name: str) -> str:
        """The text of one of our buffers of the (only) workspace: transcript or prompt."""
        said = self.lua(
            "for _, chat in pairs(require('singletree.chat').all) do "
            " local buf = ({transcript = chat.transcript, prompt = chat.input})[...].buf "
            " if vim.api.nvim_buf_is_valid(buf) then "
            "  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\\n') "
            " end "
            "end return ''",
            name,
        )
        assert isinstance(said, str)
        return said

    def transcript(self) -> str:
        return self.buffer("transcript")

    def sees(self, words: str, patience: float = PATIENCE) -> str:
        """Wait for words in the transcript; the whole of it."""
        end = time.monotonic() + patience
        while words not in (shown := self.transcript()):
            if time.monotonic() > end:
                raise AssertionError(f"{words!r} is not within {patience} s in:\n{shown[-2000:]}")
            time.sleep(0.02)
        return shown

    def idle(self) -> None:
        """Wait for the end of everything."""
        self.until(
            "for _, chat in pairs(require('singletree.chat').all) do "
            " return chat.store.session and chat.store.info.phase == 'idle' end"
        )

    def say(self, words: str) -> None:
        """Open the conversation and say something from the prompt buffer."""
        self.run("Singletree open")
        self.until("return vim.bo.filetype == 'singletree-prompt'")
        self.keys("<Esc>ggcG" + words + "<C-s><Esc>")


@contextmanager
def neovim(home: Home, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[Neovim]:
    """Neovim in the workspace of a home, headless."""
    program = found()
    assert program is not None
    with subprocess.Popen(
        [str(program), "--embed", "--headless", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=home.folder,
        env={**home.environment(), **(env or {})},
    ) as process:
        try:
            yield Neovim(process)
        finally:
            process.kill()
