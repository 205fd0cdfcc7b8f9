"""Runs an extension's Python files under a name of their own, always from source.

No bytecode is read (a repository could bring some along) and none is written (a workspace is not
ours to litter). Never knows what an extension is. Read next: loader.py.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Never

from singletree.pathtext import is_file

PREFIX = "singletree_extension_"

_numbers = itertools.count(1)


def run_module(path: Path, title: str) -> ModuleType:
    """Run a file, or a folder with `__init__.py`, as a module nobody else has."""
    name = f"{PREFIX}{next(_numbers)}_{''.join(c if c.isalnum() else '_' for c in title)}"
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    spec = _spec(name, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        forget(name)
        raise
    return module


def forget(name: str) -> None:
    """Drop a module and those inside it."""
    for known in [n for n in sys.modules if n == name or n.startswith(f"{name}.")]:
        del sys.modules[known]


class _FromSource(SourceFileLoader):
    """Knows no bytecode: without the source's date there is none to use or to write."""

    def path_stats(self, path: object) -> Never:
        raise OSError


class _Finder(MetaPathFinder):
    """Finds the modules inside an extension that is a folder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(PREFIX) or not path:
            return None
        folder, name = Path(path[0]), fullname.rpartition(".")[2]
        return _spec(fullname, folder / name) or _spec(fullname, folder / f"{name}.py")


def _spec(name: str, path: Path) -> ModuleSpec | None:
    init = path / "__init__.py"
    file = init if is_file(init) else path
    if not is_file(file):
        return None
    return importlib.util.spec_from_file_location(
        name,
        file,
        loader=_FromSource(name, str(file)),
        submodule_search_locations=[str(path)] if file is init else None,
    )
