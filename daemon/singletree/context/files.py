"""Instructions for the model in AGENTS.md and CLAUDE.md, general to particular.

The agent folder comes first, then every folder from the root down to the workspace; one file from
each. Looked for anew before every step. Never knows trust: these files are not gated. Read next:
prompt.py, where they end up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from singletree.context.reading import Problem, Read, absolute, decoded, fetch, from_disk
from singletree.pathtext import is_file, is_folder, read_plain

NAMES = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
"""In one folder the first of these is taken."""

MAX_BYTES = 64 * 1024
CUT_NOTE = "\n\n[Cut here: the file has {size} bytes, only the first {shown} are shown.]"


@dataclass(frozen=True, slots=True)
class ContextFile:
    """One file of instructions; `content` is what the model is given of it."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class ContextFiles:
    """All of them, general to particular, and what was wrong with others."""

    files: tuple[ContextFile, ...] = ()
    warnings: tuple[Problem, ...] = ()


def find_context_files(cwd: Path, agent_dir: Path, read: Read = from_disk) -> ContextFiles:
    """The context files of a workspace. A file reached twice (through a link) counts once."""
    files: list[ContextFile] = []
    warnings: list[Problem] = []
    seen: set[str] = set()
    for folder in _folders(absolute(cwd), absolute(agent_dir)):
        for name in NAMES:
            path = folder / name
            data = fetch(path, read)
            if isinstance(data, Problem):
                warnings.append(data)
            elif data is not None:
                real = os.path.realpath(path)
                if real not in seen:
                    seen.add(real)
                    files.append(_file(path, data, warnings))
                break
    return ContextFiles(tuple(files), tuple(warnings))


def _file(path: Path, data: bytes, warnings: list[Problem]) -> ContextFile:
    shown = _head(data)
    if len(shown) < len(data):
        message = f"{path} has {len(data)} bytes; only the first {len(shown)} are used."
        warnings.append(Problem("too_large", message, str(path)))
    text, is_utf8 = decoded(shown)
    if not is_utf8:
        warnings.append(Problem("not_utf8", f"{path} is not UTF-8; it was guessed.", str(path)))
    if len(shown) < len(data):
        text += CUT_NOTE.format(size=len(data), shown=len(shown))
    return ContextFile(str(path), text)


def _head(data: bytes) -> bytes:
    """As much as is shown, never half a character."""
    if len(data) <= MAX_BYTES:
        return data
    heads = (data[: MAX_BYTES - back] for back in range(4))
    return next((head for head in heads if decoded(head)[1]), data[:MAX_BYTES])


def _folders(cwd: Path, agent_dir: Path) -> Iterator[Path]:
    yield agent_dir
    worktree, main = _nested_worktree(cwd)
    for folder in (*reversed(cwd.parents), cwd):
        if folder == agent_dir:
            continue
        if main is not None and worktree is not None and folder.is_relative_to(main):
            twin = worktree / folder.relative_to(main)
            outside = not folder.is_relative_to(worktree)
            if outside and any(is_file(twin / name) for name in NAMES):
                continue
        yield folder


def _nested_worktree(cwd: Path) -> tuple[Path | None, Path | None]:
    """A git worktree that lies inside its own main checkout: both folders, else None.

    What the checkout says is said by the worktree's own copy.
    """
    for folder in (cwd, *cwd.parents):
        marker = folder / ".git"
        if is_folder(marker):
            return None, None
        if is_file(marker):
            main = _main_checkout(marker)
            inside = main is not None and main != folder and folder.is_relative_to(main)
            return (folder, main) if inside else (None, None)
    return None, None


def _main_checkout(marker: Path) -> Path | None:
    try:
        text = read_plain(marker).decode().strip()
    except (OSError, UnicodeDecodeError):
        return None
    parts = absolute(marker.parent / text.removeprefix("gitdir:").strip()).parts
    if len(parts) < 4 or parts[-3:-1] != (".git", "worktrees"):
        return None
    return Path(*parts[:-3])
