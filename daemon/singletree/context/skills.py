"""Skills: found on disk, listed for the model by name and description, read on demand.

A folder with a SKILL.md is a skill; below it nothing is looked for. Never decides trust: it is told
which folders may be read. Read next: frontmatter.py (their head), prompt.py (their list).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from singletree.context.choice import SKILL_FILE, Choice
from singletree.context.frontmatter import BadHead, parse
from singletree.context.ignore import Ignored
from singletree.context.reading import Problem, Read, decoded, fetch, from_disk
from singletree.context.tags import defuse, escape
from singletree.pathtext import is_file, is_folder, is_there

MAX_NAME, MAX_DESCRIPTION, MAX_DEPTH = 64, 1024, 12
RELATIVE = "Paths in this skill are relative to"

Scope = Literal["user", "project", "temporary"]


@dataclass(frozen=True, slots=True)
class Skill:
    """What the model is told of a skill. A `hidden` one is used only when the user names it."""

    name: str
    description: str
    path: str
    scope: Scope = "user"
    hidden: bool = False

    @property
    def folder(self) -> str:
        """Where its own files lie."""
        return str(Path(self.path).parent)


@dataclass(frozen=True, slots=True)
class Source:
    """Where to look: a folder of skills, or one file. A `required` one must exist.

    A file that is no SKILL.md counts at the top of a folder, in a `shared` one only below the top.
    """

    path: Path
    scope: Scope
    required: bool = False
    shared: bool = False
    choice: Choice | None = None

    def wants(self, path: Path) -> bool:
        """Whether a file found here is to be used."""
        return self.choice is None or self.choice.wants(path)


@dataclass(frozen=True, slots=True)
class Skills:
    """The skills in order, and what was wrong with others."""

    items: tuple[Skill, ...] = ()
    warnings: tuple[Problem, ...] = ()

    def expand(self, text: str, read: Read = from_disk) -> str:
        """`/skill:name words` as the skill's whole text and the words; other text as it is."""
        found = re.match(r"/skill:(\S+)(?:\s+|\Z)", text)
        skill = next((s for s in self.items if found and s.name == found[1]), None)
        if found is None or skill is None:
            return text
        data = fetch(Path(skill.path), read)
        if not isinstance(data, bytes):
            return text
        try:
            body = parse(decoded(data)[0]).body.strip()
        except BadHead:
            return text
        words = text[found.end() :].strip()
        head = f'<skill name="{escape(skill.name)}" location="{escape(skill.path)}">'
        block = f"{head}\n{RELATIVE} {skill.folder}\n\n{defuse(body, 'skill')}\n</skill>"
        return f"{block}\n\n{words}" if words else block


def find_skills(sources: Iterable[Source], read: Read = from_disk) -> Skills:
    """The skills of these sources. Of two with one name the first is used; one file counts once."""
    skills: dict[str, Skill] = {}
    warnings: list[Problem] = []
    covered: list[Problem] = []
    seen: set[str] = set()
    for source in sources:
        for path in _candidates(source, warnings):
            real = os.path.realpath(path)
            if real in seen or not source.wants(path):
                continue
            seen.add(real)
            skill = _load(path, source, read, warnings)
            if skill is None:
                continue
            winner = skills.setdefault(skill.name, skill)
            if winner is not skill:
                message = f"{skill.path} is hidden by {winner.path}: both are named {skill.name}."
                covered.append(
                    Problem("name_collision", message, skill.path, skill.name, winner.path)
                )
    return Skills(tuple(skills.values()), (*warnings, *covered))


def listing(skills: Sequence[Skill]) -> str:
    """The list for the model; empty where there is nothing to list."""
    shown = [skill for skill in skills if not skill.hidden]
    if not shown:
        return ""
    rows = "\n".join(
        "  <skill>\n"
        f"    <name>{_text(skill.name)}</name>\n"
        f"    <description>{_text(skill.description)}</description>\n"
        f"    <location>{_text(skill.path)}</location>\n"
        "  </skill>"
        for skill in shown
    )
    return f"<available_skills>\n{rows}\n</available_skills>"


def _text(text: str) -> str:
    return "\n".join(escape(line) for line in text.split("\n"))


def _candidates(source: Source, warnings: list[Problem]) -> list[Path]:
    """Files that may be skills: a file itself, or all in a folder, in order of their paths."""
    place = source.path
    if is_folder(place):
        return _walk(place, Ignored(), 0, set(), source.shared)
    if is_file(place) and place.suffix == ".md":
        return [place]
    if source.required and is_there(place):
        message = f"{place} is neither a folder nor a markdown file."
        warnings.append(Problem("not_markdown", message, str(place)))
    elif source.required:
        warnings.append(Problem("path_missing", f"{place} does not exist.", str(place)))
    return []


def _walk(folder: Path, ignored: Ignored, depth: int, seen: set[str], shared: bool) -> list[Path]:
    """As `_candidates`; a folder that links lead to again is not looked into again."""
    real = os.path.realpath(folder)
    if real in seen:
        return []
    seen.add(real)
    ignored = ignored.inside(folder)
    own = folder / SKILL_FILE
    if is_file(own) and not ignored.hides(own, is_folder=False):
        return [own]
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return []
    found: list[Path] = []
    for name in names:
        path = folder / name
        if name.startswith(".") or name == "node_modules":
            continue
        if is_folder(path):
            if depth < MAX_DEPTH and not ignored.hides(path, is_folder=True):
                found.extend(_walk(path, ignored, depth + 1, seen, shared))
        elif (
            (depth > 0) is shared
            and name.endswith(".md")
            and not ignored.hides(path, is_folder=False)
        ):
            found.append(path)
    return found


def _load(path: Path, source: Source, read: Read, warnings: list[Problem]) -> Skill | None:
    """The skill in a file. A loose file that is none is passed over in silence."""
    loose = path.name != SKILL_FILE
    data = fetch(path, read)
    if not isinstance(data, bytes):
        if data is not None:
            warnings.append(data)
        return None
    try:
        head = parse(decoded(data)[0]).data
    except BadHead as error:
        if not loose:
            warnings.append(Problem("bad_yaml", f"{path}: {error}", str(path)))
        return None
    said = head.get("description")
    description = said if isinstance(said, str) and said.strip() else ""
    if loose and not description:
        return None
    name = head.get("name")
    if not isinstance(name, str) or not name:
        name = path.parent.name
    warnings.extend(_oddities(name, description, path))
    if not description:
        return None
    hidden = head.get("disable-model-invocation") is True
    return Skill(name, description, str(path), source.scope, hidden)


def _oddities(name: str, description: str, path: Path) -> list[Problem]:
    """What should be put right; without a description the skill is not used."""
    odd = {
        "description_missing": (not description, "it has no description and is left out"),
        "description_too_long": (
            len(description) > MAX_DESCRIPTION,
            f"the description has more than {MAX_DESCRIPTION} characters",
        ),
        "name_too_long": (len(name) > MAX_NAME, f"the name has more than {MAX_NAME} characters"),
        "name_bad_chars": (
            re.fullmatch(r"[a-z0-9-]+", name) is None,
            "a name is made of a-z, 0-9 and hyphens",
        ),
        "name_hyphen_edge": (
            name.startswith("-") or name.endswith("-"),
            "a name does not begin or end with a hyphen",
        ),
        "name_double_hyphen": ("--" in name, "a name has no two hyphens in a row"),
    }
    return [
        Problem(code, f"{path}: {why}.", str(path), name)
        for code, (is_so, why) in odd.items()
        if is_so
    ]
