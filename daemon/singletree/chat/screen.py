"""What a person sees: streamed text, tool calls in one line each, notices. Standard library.

Text from a model, a tool or a file never reaches the terminal as it is: bytes that would steer it
are shown, not obeyed. Colours only where they are wanted. Never asks anything. Read next: talk.py.
"""

from __future__ import annotations

import os
import shutil
from typing import TextIO

from singletree.chat.link import Object, number, part, rows, text

COLOURS = {"dim": "2", "bold": "1", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
WAITING = "… waiting for the answer "
MARKS = {"completed": ("✓", "green"), "failed": ("✗", "red"), "rejected": ("✗", "yellow")}
HIDDEN = {ord(c): None for c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\r"}
VISIBLE = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t\r"}
REPLACED = dict.fromkeys(range(128, 160), 65533) | {0x7F: 0x2421}
HARMLESS = VISIBLE | REPLACED | HIDDEN


def clean(words: str) -> str:
    """The text with everything that could steer a terminal made visible or left out."""
    return words.translate(HARMLESS)


def one_line(words: str) -> str:
    """The text in one clean line."""
    return " ".join(clean(words).split())


def cut(words: str, most: int) -> str:
    """The text, or its beginning and a mark: at most so many characters."""
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


class Screen:
    """Writes for a person, or plainly into a pipe when `lively` is false.

    `beside`: where warnings go that have no place among the answers in a pipe.
    """

    def __init__(self, out: TextIO, lively: bool, beside: TextIO | None = None) -> None:
        self._out = out
        self._beside = out if lively or beside is None else beside
        self._lively = lively
        self._colours = lively and not os.environ.get("NO_COLOR")
        self._fresh = True
        self._status = ""
        self._shown: dict[tuple[str, str, float], str] = {}
        self._tools: dict[str, Object] = {}

    def paint(self, words: str, colour: str) -> str:
        """The words in a colour, if there are colours."""
        return f"\x1b[{COLOURS[colour]}m{words}\x1b[0m" if self._colours else words

    def say(self, words: str, colour: str = "") -> None:
        """A line of our own."""
        self._break()
        self._write((self.paint(clean(words), colour) if colour else clean(words)) + "\n")

    def row(self, words: str, colour: str = "") -> None:
        """One of many lines: cut where the terminal ends."""
        self.say(self._fit(clean(words), 0), colour)

    def warn(self, words: str) -> None:
        """Something a person should know of that stops nothing."""
        line = f"! {one_line(words)}"
        if self._beside is self._out:
            self.say(line, "yellow")
        else:
            self._beside.write(f"{line}\n")

    def fault(self, message: str, code: str = "", hint: str = "") -> None:
        """Something went wrong: what, its code, and what to do."""
        self.say(f"✗ {one_line(message)}" + (f" ({code})" if code else ""), "red")
        if hint and hint not in message:
            self.say(f"  {one_line(hint)}", "yellow")

    def aside(self, words: str) -> None:
        """A line that is not worth a pipe's while."""
        if self._lively:
            self.say(words, "dim")

    def delta(self, params: Object) -> None:
        """A piece of an answer or of its reasoning, as it comes."""
        kind = text(params, "kind")
        if kind not in ("text", "thinking"):
            return
        key = (text(params, "itemId"), kind, number(params, "part"))
        shown = self._shown.get(key, "")
        self._stream(kind, text(params, "text"), first=not shown)
        self._shown[key] = shown + text(params, "text")

    def ended(self, event: Object) -> None:
        """A part is whole: what is missing is shown; what was shown wrongly is shown anew."""
        kind = text(event, "kind")
        if kind not in ("text", "thinking"):
            return
        shown = self._shown.pop((text(event, "itemId"), kind, number(event, "part")), "")
        whole = text(event, "content", kind)
        if event.get("content") is None:
            self.say("(that attempt failed and is thrown away)", "dim")
        elif whole.startswith(shown):
            self._stream(kind, whole[len(shown) :], first=not shown)
        else:
            self.say("(once more, whole)", "dim")
            self._stream(kind, whole, first=True)
        self._break()

    def tool(self, event: Object) -> None:
        """A tool call: a passing line while it runs, one line for good when it has ended."""
        call = text(event, "toolCallId")
        known = self._tools[call] = {**self._tools.get(call, {}), **event}
        title = one_line(text(known, "title") or text(known, "name"))
        status = text(event, "status")
        if status in ("running", "pending"):
            self._pass(f"… {title}")
        if status in ("completed", "failed", "rejected", "cancelled"):
            mark, colour = MARKS.get(status, ("–", "dim"))
            del self._tools[call]
            self.say(f"{mark} {title} → {self._fit(outcome(known), len(title) + 6)}", colour)

    def waits(self) -> None:
        """Nothing comes, though something runs."""
        if not self._status:
            self._pass(WAITING)

    def flush(self) -> None:
        """Let everything be seen."""
        self._out.flush()

    def rest(self) -> None:
        """Before a person is asked: on a line of its own."""
        self._break()
        self.flush()

    def _stream(self, kind: str, words: str, first: bool) -> None:
        if not words or (kind == "thinking" and not self._lively):
            return
        if first:
            self._break()
        self._unpass()
        shown = clean(words)
        self._write(self.paint(shown, "dim") if kind == "thinking" else shown)

    def _pass(self, words: str) -> None:
        if self._lively and self._fresh:
            self._unpass()
            self._status = self._fit(words, 1)
            self._out.write(self.paint(self._status, "dim"))

    def _unpass(self) -> None:
        if self._status:
            self._out.write("\r\x1b[K")
            self._status = ""

    def _break(self) -> None:
        self._unpass()
        if not self._fresh:
            self._write("\n")

    def _write(self, words: str) -> None:
        self._out.write(words)
        self._fresh = words.removesuffix("\x1b[0m").endswith("\n")

    def _fit(self, words: str, used: int) -> str:
        room = (shutil.get_terminal_size().columns if self._lively else 160) - used
        return cut(words, max(room, 11))


def outcome(event: Object) -> str:
    """What a tool answered, in one line: its first line, and how many more there are."""
    said = "\n".join(text(block, "text") for block in rows(event, "result", "content")).strip()
    lines = said.splitlines() or ["nothing"]
    more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
    took = number(event, "durationMs")
    seconds = f" [{took / 1000:.1f} s]" if took >= 1000 else ""
    return f"{one_line(lines[0])}{more}{seconds}"


def tokens(usage: Object) -> str:
    """Tokens of a turn and what they cost, in a few words."""
    cost = number(part(usage, "cost"), "total")
    price = f" · ${cost:.4f}" if cost else ""
    return f"{number(usage, 'input'):,.0f} in · {number(usage, 'output'):,.0f} out{price}"
