"""Collects the parts of the prompt from the agent folder and the workspace.

What the workspace itself brings (its prompt, its skills, its templates) is read only where it is
trusted; what was passed over is told. Context files are not gated. Never asks anybody. Read next:
places.py, prompt.py, files.py, skills.py, templates.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from singletree.context.files import ContextFiles, find_context_files
from singletree.context.places import Overrides, prompt_places, skill_places, to_repository
from singletree.context.prompt import PromptParts
from singletree.context.reading import Problem, Read, absolute, decoded, fetch, from_disk
from singletree.context.skills import Skills, find_skills
from singletree.context.templates import Templates, find_templates
from singletree.pathtext import at_home, is_file, is_folder, is_there

SYSTEM_FILE, APPEND_FILE = "SYSTEM.md", "APPEND_SYSTEM.md"
_GATED = (SYSTEM_FILE, APPEND_FILE, "skills", "prompts")


@dataclass(frozen=True, slots=True)
class Gathered:
    """The parts, the commands, what was wrong, and what was not read for want of trust.

    `read`: how the files were read, and are when a command unfolds.
    """

    parts: PromptParts
    skills: Skills
    templates: Templates
    system_path: str | None = None
    warnings: tuple[Problem, ...] = ()
    skipped: tuple[str, ...] = ()
    read: Read = from_disk

    def expand(self, text: str) -> str:
        """The input with a skill command or a template put in."""
        if text.startswith("/skill:"):
            return self.skills.expand(text, self.read)
        return self.templates.expand(text)


def gather(
    cwd: Path,
    agent_dir: Path,
    trusted: bool,
    read: Read = from_disk,
    overrides: Overrides | None = None,
    home: Path | None = None,
) -> Gathered:
    """The parts of the prompt of a workspace, as the files are now. `home` holds `.agents`."""
    given = overrides or Overrides()
    cwd, agent_dir = absolute(cwd), absolute(agent_dir)
    warnings: list[Problem] = []
    folders = [cwd / ".pi", agent_dir] if trusted else [agent_dir]
    system, system_path = _first(given.system, SYSTEM_FILE, folders, read, warnings)
    if given.append:
        append = [_text_or_file(value, read, warnings)[0] for value in given.append if value]
    else:
        found = _first(None, APPEND_FILE, folders, read, warnings)[0]
        append = [] if found is None else [found]
    context = find_context_files(cwd, agent_dir, read) if given.context_files else ContextFiles()
    skills = find_skills(skill_places(cwd, agent_dir, trusted, given, home), read)
    templates = find_templates(prompt_places(cwd, agent_dir, trusted, given), read)
    return Gathered(
        parts=PromptParts(
            cwd=str(cwd),
            custom=system,
            append=tuple(append),
            context_files=context.files,
            skills=skills.items,
        ),
        skills=skills,
        templates=templates,
        system_path=system_path,
        warnings=(*warnings, *context.warnings, *skills.warnings, *templates.warnings),
        skipped=() if trusted else tuple(_gated(cwd, home)),
        read=read,
    )


def _first(
    given: str | None, name: str, folders: Iterable[Path], read: Read, warnings: list[Problem]
) -> tuple[str | None, str | None]:
    """The text that was given, or that of the first folder with such a file, and its path."""
    if given is not None:
        return _text_or_file(given, read, warnings) if given else (None, None)
    for folder in folders:
        text = _text(folder / name, read, warnings)
        if text is not None:
            return text, str(folder / name)
    return None, None


def _text_or_file(value: str, read: Read, warnings: list[Problem]) -> tuple[str, str | None]:
    """The content of the file a value names, or the value itself."""
    if "\n" not in value and len(value) < 4096:
        path = at_home(value)
        if is_file(path):
            text = _text(absolute(path), read, warnings)
            if text is not None:
                return text, str(path)
    return value, None


def _text(path: Path, read: Read, warnings: list[Problem]) -> str | None:
    data = fetch(path, read)
    if isinstance(data, Problem):
        warnings.append(data)
        return None
    return None if data is None else decoded(data)[0]


def _gated(cwd: Path, home: Path | None) -> Iterable[str]:
    """What a trusted workspace would have brought."""
    for name in _GATED:
        if is_there(cwd / ".pi" / name):
            yield str(cwd / ".pi" / name)
    for folder in to_repository(cwd, home):
        if is_folder(folder / ".agents" / "skills"):
            yield str(folder / ".agents" / "skills")
