"""Words of a plain request: quotations, paths and places.

Quoted text ("…", '…', `…`, “…”, «…») is taken as it is, so that paths and texts with spaces work.
Never knows a tool. Read next: demo_grammar.py.
"""

from __future__ import annotations

import re


class Quotes:
    """Puts a mark in place of every quoted text, and the text in place of its mark."""

    def __init__(self) -> None:
        self._kept: list[tuple[str, str]] = []

    def hide(self, text: str) -> str:
        """The text with marks for what is quoted."""
        return _QUOTED.sub(self._mark, text)

    def show(self, text: str) -> str:
        """The text with what was quoted, without its quotation marks."""
        return MARK.sub(lambda m: self._kept[int(m[1])][0], text)

    def back(self, text: str) -> str:
        """As it was typed: a command keeps its quotes."""
        return MARK.sub(lambda m: self._kept[int(m[1])][1], text)

    def only(self, text: str) -> str | None:
        """What was quoted, if the text is one quotation."""
        match = MARK.fullmatch(text.strip())
        return self._kept[int(match[1])][0] if match else None

    def _mark(self, match: re.Match[str]) -> str:
        inner = next(group for group in match.groups() if group is not None)
        self._kept.append((inner, match[0]))
        return f"\x00{len(self._kept) - 1}\x00"


MARK = re.compile("\x00(\\d+)\x00")
_QUOTED = re.compile(
    r"```(?:\w*\n)?(.+?)```|`([^`]+)`|\"([^\"]*)\"|“([^”]*)”|«\s*([^»]*?)\s*»|‘([^’]*)’"
    r"|(?<![\w])'([^'\n]*)'(?!\w)",
    re.DOTALL,
)


def value(text: str, quotes: Quotes) -> str:
    """What is meant by a text, quoted or not."""
    quoted = quotes.only(text.strip().rstrip(".!"))
    return quoted if quoted is not None else quotes.show(text.strip()).rstrip(",")


_FILLER = re.compile(
    r"^(?:(?:me|the|file|files|contents?|text|folder|directory|dir|of|in|inside|from|named|called|"
    r"at|path|full|whole|entire|out|up)\s+)+",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\s+(?:file|folder|directory|dir|project|repo|repository)$", re.IGNORECASE)


def bare(text: str) -> str:
    """A path without the words round it."""
    return _AFTER.sub("", _FILLER.sub("", text.strip())).strip(" ,:")


def place(text: str, quotes: Quotes) -> str:
    """The folder meant, "" for the workspace."""
    quoted = quotes.only(text)
    if quoted is not None:
        return quoted
    path = bare(quotes.show(text)).rstrip("?!")
    if path.strip("./"):
        path = path.rstrip(".?!")
    return "" if path.lower() in _HERE else path


_HERE = {
    "",
    ".",
    "./",
    "here",
    "it",
    "this",
    "the",
    "project",
    "folder",
    "directory",
    "workspace",
    "everywhere",
    "everything",
    "all",
    "this project",
    "this folder",
    "this directory",
    "this repo",
    "this repository",
    "the project",
    "the code",
    "code",
    "repo",
    "my project",
    "all files",
    "there",
    "current",
    "current folder",
    "the current",
}


def paths(phrase: str, quotes: Quotes) -> list[str]:
    """Readings of a phrase as a path, the likeliest first."""
    mark = MARK.search(phrase)
    if mark:
        return [quotes.show(mark[0])]
    whole = bare(phrase).rstrip(".")
    words = [w.rstrip(".,:") for w in whole.split()]
    likely = [w for w in words if is_pathlike(w)][:1]
    return list(dict.fromkeys([*likely, whole]))


def several(phrase: str) -> list[str]:
    """ "a.py, b.py and c.py" is three; "salt and pepper.txt" is one."""
    parts = [p for p in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", phrase) if p]
    each = all(MARK.search(p) or any(map(is_pathlike, p.split())) for p in parts)
    return parts if len(parts) > 1 and each else [phrase]


NAMES = {"README", "LICENSE", "CHANGELOG", "Makefile", "Dockerfile", "AGENTS", "CONTRIBUTING"}
"""Words that are files though they have no ending; some have one after all."""


def is_pathlike(word: str) -> bool:
    """A word that can hardly be anything but a path."""
    core = word.strip(",:;?!").rstrip(".")
    return bool(re.search(r"[\w)\]*~.-]/|/[\w*.]|\w\.\w+$|^\.\w", core) or core in NAMES)


def is_name(what: str) -> bool:
    """A glob, or a word that ends like a file."""
    return " " not in what and bool(
        re.search(r"[*?]", what) or re.fullmatch(r"[\w./-]*\w\.[a-z][a-z0-9]{0,4}", what)
    )
