"""Prompt templates: `/name words` in the input becomes the text of a markdown file.

Places for words: `$1`, `$@`, `$ARGUMENTS`, `${1:-default}`, `${@:-default}`, `${@:2}`, `${@:2:3}`.
What is put in is never looked at again. Never knows skills. Read next: gather.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from singletree.context.frontmatter import BadHead, parse
from singletree.context.reading import Problem, Read, decoded, fetch, from_disk
from singletree.context.skills import Scope, Source
from singletree.messages import utf16_head
from singletree.pathtext import is_file

MAX_LINE = 60


@dataclass(frozen=True, slots=True)
class Template:
    """One template; `content` has the places for words still in it."""

    name: str
    content: str
    description: str = ""
    hint: str | None = None
    path: str = ""
    scope: Scope = "user"


@dataclass(frozen=True, slots=True)
class Templates:
    """The templates in order, and what was wrong with others."""

    items: tuple[Template, ...] = ()
    warnings: tuple[Problem, ...] = ()

    def expand(self, text: str) -> str:
        """`/name words` as the template of that name with the words put in; else as it is."""
        found = re.match(r"/(\S+)\s*", text)
        template = next((t for t in self.items if found and t.name == found[1]), None)
        if found is None or template is None:
            return text
        return substitute(template.content, arguments(text[found.end() :]))


def find_templates(sources: Iterable[Source], read: Read = from_disk) -> Templates:
    """The templates of these sources: a folder's *.md files, or one file. The first name wins."""
    templates: dict[str, Template] = {}
    warnings: list[Problem] = []
    hidden: list[Problem] = []
    for source in sources:
        for path in filter(source.wants, _candidates(source, warnings)):
            template = _load(path, source, read, warnings)
            if template is None:
                continue
            winner = templates.setdefault(template.name, template)
            if winner is not template and winner.path != template.path:
                message = f"{path} is hidden by {winner.path}: both are named {template.name}."
                hidden.append(
                    Problem("name_collision", message, str(path), template.name, winner.path)
                )
    return Templates(tuple(templates.values()), (*warnings, *hidden))


_WORD = re.compile(
    r"""
      (?P<quote>["'])(?P<held>(?:\\(?P=quote)|(?!(?P=quote)|\\(?P=quote)).)*)(?P=quote)(?P<rest>\S*)
    | \S+
    """,
    re.VERBOSE | re.DOTALL,
)


def arguments(text: str) -> list[str]:
    """The words of a line. Quotes hold together what is between them where they begin a word.

    A backslash before such a quote keeps it as text; a quote that nothing closes is text as well.
    """
    return [_word(found) for found in _WORD.finditer(text)]


def _word(found: re.Match[str]) -> str:
    if (quote := found["quote"]) is None:
        return found[0]
    return found["held"].replace(f"\\{quote}", quote) + found["rest"]


_PLACE = re.compile(
    r"""
      \$\{(?P<default_of>\d+|@|ARGUMENTS):-(?P<default>[^}]*)\}
    | \$\{@:(?P<start>\d+)(?::(?P<length>\d+))?\}
    | \$(?P<all>@|ARGUMENTS)
    | \$(?P<number>\d+)
    """,
    re.VERBOSE | re.ASCII,
)


def substitute(content: str, words: Sequence[str]) -> str:
    """The content with the words in their places."""

    def nth(number: str) -> str:
        at = _count(number)
        return words[at - 1] if 0 < at <= len(words) else ""

    def put(found: re.Match[str]) -> str:
        if (of := found["default_of"]) is not None:
            value = nth(of) if of.isdigit() else " ".join(words)
            return value or found["default"]
        if found["start"] is not None:
            start = max(_count(found["start"]) - 1, 0)
            length = found["length"]
            end = None if length is None else start + _count(length)
            return " ".join(words[start:end])
        return " ".join(words) if found["all"] else nth(found["number"])

    return _PLACE.sub(put, content)


def _count(figures: str) -> int:
    """A number of words; one of many figures is more than there are."""
    return int(figures[:9])


def _candidates(source: Source, warnings: list[Problem]) -> list[Path]:
    place = source.path
    if is_file(place):
        return [place] if place.suffix == ".md" else []
    try:
        names = sorted(entry.name for entry in os.scandir(place))
    except OSError:
        if source.required:
            warnings.append(Problem("path_missing", f"{place} does not exist.", str(place)))
        return []
    return [place / name for name in names if name.endswith(".md") and is_file(place / name)]


def _load(path: Path, source: Source, read: Read, warnings: list[Problem]) -> Template | None:
    data = fetch(path, read)
    if not isinstance(data, bytes):
        if data is not None:
            warnings.append(data)
        return None
    try:
        document = parse(decoded(data)[0])
    except BadHead as error:
        warnings.append(Problem("bad_yaml", f"{path}: {error}", str(path)))
        return None
    description, hint = document.data.get("description"), document.data.get("argument-hint")
    said = description if isinstance(description, str) else ""
    return Template(
        name=path.name.removesuffix(".md"),
        content=document.body,
        description=said or _first_line(document.body),
        hint=hint if isinstance(hint, str) and hint else None,
        path=str(path),
        scope=source.scope,
    )


def _first_line(body: str) -> str:
    line = next((line for line in body.split("\n") if line.strip()), "")
    head = utf16_head(line, MAX_LINE)
    return line if head == line else f"{head}..."
