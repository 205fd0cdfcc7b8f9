"""Where skills and templates are looked for: settings, the usual folders, the command line.

What belongs to the workspace counts only where it is trusted. Never reads a file. Read next:
choice.py (what settings leave out), skills.py and templates.py (who look there).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from singletree.context.choice import Choice, is_mark
from singletree.context.reading import absolute
from singletree.context.skills import Scope, Source
from singletree.pathtext import at_home, is_there


@dataclass(frozen=True, slots=True)
class Overrides:
    """What settings and the command line say. A prompt is text, or the path of a file with it.

    What settings name is relative to their folder: `user_` to the agent folder, `project_` to the
    workspace's `.pi`; `skills` and `prompts` are relative to the workspace itself.
    """

    system: str | None = None
    append: tuple[str, ...] = ()
    context_files: bool = True
    user_skills: tuple[str, ...] = ()
    user_prompts: tuple[str, ...] = ()
    project_skills: tuple[str, ...] = ()
    project_prompts: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()


def skill_places(
    cwd: Path, agent_dir: Path, trusted: bool, given: Overrides, home: Path | None
) -> list[Source]:
    """Where skills are looked for; of two with one name the first counts."""
    sources: list[Source] = []
    if trusted:
        said = given.project_skills
        sources += _usual(said, cwd / ".pi", "skills", "project")
        sources += [_shared(folder, said, "project") for folder in to_repository(cwd, home)]
    sources += _usual(given.user_skills, agent_dir, "skills", "user")
    if home is not None:
        sources.append(_shared(home, given.user_skills, "user"))
    return [*sources, *chosen(given.skills, cwd, agent_dir, "skills")]


def _shared(folder: Path, said: Iterable[str], scope: Scope) -> Source:
    """Skills that other programs share with us."""
    place = folder / ".agents"
    return Source(place / "skills", scope, shared=True, choice=Choice.of(said, place))


def prompt_places(cwd: Path, agent_dir: Path, trusted: bool, given: Overrides) -> list[Source]:
    """Where templates are looked for; of two with one name the first counts."""
    sources: list[Source] = []
    if trusted:
        sources += _usual(given.project_prompts, cwd / ".pi", "prompts", "project")
    sources += _usual(given.user_prompts, agent_dir, "prompts", "user")
    return [*sources, *chosen(given.prompts, cwd, agent_dir, "prompts")]


def _usual(said: Sequence[str], folder: Path, kind: str, scope: Scope) -> list[Source]:
    """The places that settings in a folder name, then the usual one beside them."""
    choice = Choice.of(said, folder)
    named = [absolute(folder / at_home(one.strip())) for one in said if not is_mark(one)]
    return [Source(place, scope, choice=choice) for place in (*named, folder / kind)]


def chosen(paths: Iterable[str], cwd: Path, agent_dir: Path, kind: str) -> list[Source]:
    """Places named otherwise; one inside a usual folder has that folder's scope."""
    sources: list[Source] = []
    for given in paths:
        path = absolute(cwd / at_home(given.strip()))
        if path.is_relative_to(agent_dir / kind):
            sources.append(Source(path, "user", required=True))
        elif path.is_relative_to(cwd / ".pi" / kind):
            sources.append(Source(path, "project", required=True))
        else:
            sources.append(Source(path, "temporary", required=True))
    return sources


def to_repository(cwd: Path, home: Path | None) -> Iterable[Path]:
    """The workspace and its parents up to the root of the repository, or of the disk.

    What lies in the home folder is the person's own.
    """
    for folder in (cwd, *cwd.parents):
        if folder != home:
            yield folder
        if is_there(folder / ".git"):
            return
