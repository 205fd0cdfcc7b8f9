"""From the bytes of a program to text that can be stored and sent: valid UTF-8, no control codes.

Escape sequences and control characters go (but U+0085, which ends lines in some texts), bytes that
are no UTF-8 become U+FFFD, and a line that is overwritten by carriage returns (a progress bar)
leaves its first and its last state, a line each. A stream may be cut anywhere, also inside a
character or an escape sequence. Read next: output.py (who uses it).
"""

from __future__ import annotations

import codecs
import re

_ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b\][^\x00-\x1f\x7f]*(?:\x07|\x1b\\)"  # OSC: titles, links
    r"|\x1b[PX^_][^\x1b\x07]*(?:\x07|\x1b\\)"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]+[0-~]"  # character sets
    r"|\x1b[0-OQ-WYZ\\`-~]"  # two characters
    r"|(?P<begun>\x1b(?:\[[0-?]*[ -/]*|\][^\x00-\x1f\x7f]*\x1b?|[PX^_][^\x1b\x07]*\x1b?|[ -/]*)?\Z)"
    r"|\x1b[\[\]PX^_]?"  # broken: what follows is text
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x80-\x84\x86-\x9f\ufff9-\ufffb]")
_UNCLEAN = re.compile(r"[\x00-\x08\x0b-\x1f\x80-\x84\x86-\x9f\ufff9-\ufffb]")
_INTRODUCER = re.compile(r"\x1b[\[\]PX^_]?")

_HELD = 65_536
"""An escape sequence or an unfinished line longer than this is let through as text."""


def clean(data: bytes) -> str:
    """The whole output of a program as text."""
    cleaner = Cleaner()
    return cleaner.feed(data) + cleaner.close()


class Cleaner:
    """Cleans a stream: `feed` gives whole lines as they become certain, `close` the rest.

    `pending` is the unfinished line as it now stands; a carriage return may still replace it.
    """

    def __init__(self) -> None:
        self.pending = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""
        self._return = False
        self._overwritten = False

    def feed(self, data: bytes) -> str:
        """Take bytes; returns the text that will not change any more."""
        return self._collapse(self._strip(self._decoder.decode(data)))

    def close(self) -> str:
        """The end: an unfinished sequence goes, an unfinished line comes."""
        text = self._strip(self._decoder.decode(b"", final=True))
        if "\n" in self._begun:
            text += _CONTROL.sub("", _INTRODUCER.sub("", self._begun, count=1))
        self._begun = ""
        done = self._collapse(text) + self.pending
        self.pending = ""
        return done

    def _strip(self, text: str) -> str:
        text = self._begun + text
        self._begun = ""
        if not _UNCLEAN.search(text):
            return text
        text = text.replace("\x9b", "\x1b[")  # the same in one character
        if "\x1b" in text:
            text = _ESCAPE.sub(self._escape, text)
        return _CONTROL.sub("", text)

    def _escape(self, found: re.Match[str]) -> str:
        begun = found["begun"]
        if begun and len(begun) >= _HELD:
            return _INTRODUCER.sub("", begun, count=1)
        self._begun = begun or ""
        return ""

    def _collapse(self, text: str) -> str:
        if not text:
            return ""
        if self._return or "\r" in text:
            return self._overwrite(text)
        head, newline, tail = text.rpartition("\n")
        done = self.pending + head + newline if newline else ""
        self.pending = tail if newline else self.pending + tail
        self._overwritten = self._overwritten and not newline
        if len(self.pending) > _HELD:
            done += self.pending
            self.pending = ""
        return done

    def _overwrite(self, text: str) -> str:
        done: list[str] = []
        for piece in re.split(r"(\r+\n|\n|\r+)", ("\r" if self._return else "") + text):
            if piece.endswith("\n"):
                done.append(self.pending + "\n")
                self.pending, self._return, self._overwritten = "", False, False
            elif piece.startswith("\r"):
                self._return = True
            elif piece:
                done.append(self._replaced() if self._return else "")
                self.pending += piece
                self._return = False
        if len(self.pending) > _HELD:
            done.append(self.pending)
            self.pending = ""
        return "".join(done)

    def _replaced(self) -> str:
        """What is kept of an unfinished line that another text takes the place of."""
        kept = "" if self._overwritten or not self.pending.strip() else f"{self.pending}\n"
        self._overwritten = self._overwritten or kept != ""
        self.pending = ""
        return kept
