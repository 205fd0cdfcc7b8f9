"""A terminal in tmux that a test types into and looks at; what it shows can be kept as a page.

A picture of a page: `chromium --headless --screenshot=a.png a.html`, or any browser.
"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 30.0
CONFIG = """
set -g default-terminal tmux-256color
set -as terminal-features ",*:RGB"
set -g status off
set -sg escape-time 5
"""
SGR = re.compile(r"\x1b\[([0-9;]*)m")
FLAGS = {"1": "font-weight:bold", "3": "font-style:italic", "4": "text-decoration:underline"}


def there() -> bool:
    """Whether tmux is installed."""
    return shutil.which("tmux") is not None


@dataclass
class Screen:
    """One terminal of 120 columns and 36 lines."""

    socket: Path
    env: Mapping[str, str]

    def tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self.socket), *arguments]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=20)
        return done.stdout

    def keys(self, *keys: str) -> None:
        """Press keys: names of tmux's, or texts."""
        self.tmux("send-keys", *keys)

    def text(self) -> str:
        return self.tmux("capture-pane", "-p")

    def sees(self, words: str) -> str:
        """Wait for words on the screen; all that it shows. Never a question to press Enter."""
        end = time.monotonic() + PATIENCE
        while words not in (shown := self.text()):
            assert "Press ENTER" not in shown, shown
            assert time.monotonic() < end, f"{words!r} is not in:\n{shown}"
            time.sleep(0.05)
        return shown

    def keep(self, page: Path, paper: str, ink: str) -> str:
        """Write what is shown as a page with its colours; the page."""
        page.parent.mkdir(parents=True, exist_ok=True)
        written = as_page(self.tmux("capture-pane", "-p", "-e", "-N"), paper, ink)
        page.write_text(written, "utf-8")
        return written


@contextmanager
def screen(folder: Path, cwd: Path, env: Mapping[str, str], *command: str) -> Iterator[Screen]:
    """A program in a terminal of its own."""
    config = folder / "tmux.conf"
    config.write_text(CONFIG, "utf-8")
    colours = {**env, "COLORTERM": "truecolor"}
    made = Screen(folder / "tmux.sock", colours)
    size = ("-x", "120", "-y", "36")
    made.tmux("-f", str(config), "new-session", "-d", *size, "-c", str(cwd), *command)
    try:
        yield made
    finally:
        made.tmux("kill-server")


@dataclass
class _Look:
    """How the next characters look."""

    ink: str
    paper: str
    flags: set[str] = field(default_factory=set)
    turned: bool = False

    def style(self) -> str:
        ink, paper = (self.paper, self.ink) if self.turned else (self.ink, self.paper)
        return ";".join([f"color:{ink}", f"background:{paper}", *sorted(self.flags)])


def as_page(shown: str, paper: str, ink: str) -> str:
    """Text with SGR colours (of 24 bits; others are left out) as HTML."""
    parts, look, at = [], _Look(ink, paper), 0
    for match in [*SGR.finditer(shown), None]:
        piece = shown[at : match.start() if match else None]
        parts.append(f'<span style="{look.style()}">{html.escape(piece)}</span>')
        if match:
            at = match.end()
            look = _after(look, match[1].split(";"), paper, ink)
    font = f"font:14px/18px monospace;background:{paper}"
    return f'<meta charset="utf-8"><body style="{font}"><pre>{"".join(parts)}</pre>\n'


def _after(look: _Look, codes: list[str], paper: str, ink: str) -> _Look:
    while codes:
        code = codes.pop(0)
        if code in ("", "0"):
            look = _Look(ink, paper)
        elif code in FLAGS:
            look.flags.add(FLAGS[code])
        elif code == "7":
            look.turned = True
        elif code in ("39", "49"):
            look.ink, look.paper = (ink, look.paper) if code == "39" else (look.ink, paper)
        elif code in ("38", "48") and codes[:1] == ["2"]:
            colour = "#" + "".join(f"{int(part):02x}" for part in codes[1:4])
            look.ink, look.paper = (colour, look.paper) if code == "38" else (look.ink, colour)
            del codes[:4]
    return look
