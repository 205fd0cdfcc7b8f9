"""Finds extensions and loads them: Python modules with a `setup` function.

They lie in `<agent dir>/extensions` and, once the workspace is trusted, in its `.pi/extensions`: a
file `name.py` or a folder `name/` with an `__init__.py`; settings may name more. Files of other
programs are left alone.
Each session gets modules of its own. An extension that fails to load is told and left out.
Never decides whom to trust. Read next: api.py (what an extension may do), runner.py (who calls it).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import anyio.to_thread

from singletree.errors import ExtensionError, in_words
from singletree.extensions.apart import in_time
from singletree.extensions.api import ExtensionAPI
from singletree.extensions.descriptors import keep, mend
from singletree.extensions.modules import forget, run_module
from singletree.extensions.runner import Failure, Setup, set_up
from singletree.pathtext import at_home, is_file

NO_SETUP = "it has no function `setup(api)`"


@dataclass(frozen=True, slots=True)
class Found:
    """An extension that could be loaded."""

    name: str
    path: Path
    scope: Literal["user", "workspace"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The extensions that came, what went wrong with others, and which were skipped."""

    extensions: tuple[ExtensionAPI, ...] = ()
    problems: tuple[Failure, ...] = ()
    skipped: tuple[Path, ...] = ()


def find_extensions(
    agent_dir: Path,
    workspace: Path | None = None,
    more: Sequence[str] = (),
    more_of_workspace: Sequence[str] = (),
) -> list[Found]:
    """All extensions there are, in the order of loading. Reads folders; loads nothing.

    `more`: those that settings name, from the agent folder or from the workspace on.
    """
    found = _in_folder(agent_dir / "extensions", "user")
    found += [_at(agent_dir, path, "user") for path in more]
    if workspace is None:
        return found
    return found + workspace_extensions(workspace, more_of_workspace)


def workspace_extensions(workspace: Path, more: Sequence[str] = ()) -> list[Found]:
    """Those that a workspace brings along."""
    found = _in_folder(workspace / ".pi" / "extensions", "workspace")
    return found + [_at(workspace, path, "workspace") for path in more]


async def load_extensions(
    found: Sequence[Found], *, trusted: bool, limit: float | None = None
) -> Loaded:
    """Load and set up each extension; those of a workspace only if it is trusted.

    `limit`: seconds that one may take; a thread that hangs is left to itself.
    """
    extensions: list[ExtensionAPI] = []
    problems: list[Failure] = []
    skipped: list[Path] = []
    for extension in found:
        if extension.scope == "workspace" and not trusted:
            skipped.append(extension.path)
            continue
        keep()
        try:
            extensions.append(await in_time(limit, _loaded, extension))
        except Exception as error:
            told = f"{extension.path}: {in_words(error)}"
            problems.append(Failure(extension.name, "load", told))
        finally:
            mend()
    return Loaded(tuple(extensions), tuple(problems), tuple(skipped))


def _in_folder(folder: Path, scope: Literal["user", "workspace"]) -> list[Found]:
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return []
    return [
        Found(_name(path), path, scope)
        for path in paths
        if not path.name.startswith((".", "_"))
        and (path.suffix == ".py" or is_file(path / "__init__.py"))
    ]


def _at(folder: Path, named: str, scope: Literal["user", "workspace"]) -> Found:
    path = folder / at_home(named)
    return Found(_name(path), path, scope)


def _name(path: Path) -> str:
    return path.stem if path.suffix == ".py" else path.name


async def _loaded(extension: Found) -> ExtensionAPI:
    setup, drop = await anyio.to_thread.run_sync(_load, extension, abandon_on_cancel=True)
    return await set_up(extension.name, setup, drop)


def _load(extension: Found) -> tuple[Setup, Callable[[], None]]:
    """An extension's setup function, and how its module is dropped again."""
    module = run_module(extension.path, extension.name)
    drop = partial(forget, module.__name__)
    setup: Callable[[ExtensionAPI], None] | None = getattr(module, "setup", None)
    if not callable(setup):
        drop()
        raise ExtensionError(NO_SETUP)
    return setup, drop
