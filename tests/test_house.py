"""The rules of the house, as tests: floors, module headers, what importing does."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import singletree
from singletree.rpc.protocol.errors import CODES

PACKAGE = Path(singletree.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def test_every_module_opens_with_what_it_is() -> None:
    bare = [m.name for m in MODULES if not ast.get_docstring(ast.parse(m.read_text("utf-8")))]
    assert bare == []


def test_what_a_module_or_the_map_points_to_is_there() -> None:
    root = PACKAGE.parent.parent
    map_ = root / "daemon" / "ARCHITECTURE.md"
    there = [f"/{m.relative_to(root).as_posix()}" for m in (*MODULES, Path(__file__))]
    told = [(m, ast.get_docstring(ast.parse(m.read_text("utf-8"))) or "") for m in MODULES]
    lost = [
        f"{where.relative_to(root)}: {name}"
        for where, text in [*told, (map_, map_.read_text("utf-8"))]
        for name in re.findall(r"[\w./]+\.py\b", text)
        if name != "name.py" and not any(one.endswith(f"/{name.lstrip('./')}") for one in there)
    ]
    assert lost == []


def test_where_to_read_next_is_told_from_where_one_stands() -> None:
    lost = [
        f"{module.relative_to(PACKAGE)}: {name}"
        for module in MODULES
        for name in read_next(ast.get_docstring(ast.parse(module.read_text("utf-8"))) or "")
        if not (module.parent / name).exists()
    ]
    assert lost == []


def read_next(docstring: str) -> list[str]:
    """The files and folders that a docstring sends its reader to."""
    _, _, told = " ".join(docstring.split()).partition("Read next:")
    return re.findall(r"[\w./]+\.py\b|[\w.]+(?:/[\w.]+)*/(?=[\s,.;()])", told)


def test_asyncio_stands_only_in_rpc() -> None:
    guilty = [
        str(m.relative_to(PACKAGE))
        for m in MODULES
        if m.relative_to(PACKAGE).parts[0] != "rpc" and "import asyncio" in m.read_text("utf-8")
    ]
    assert guilty == []


def test_importing_the_package_does_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import singletree;"
        "print(sorted(set(sys.modules) - before))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "['singletree']"
    assert out.stderr == ""


def test_changelog_tells_of_this_version() -> None:
    changelog = (PACKAGE.parents[1] / "CHANGELOG.md").read_text("utf-8")
    newest = next(line for line in changelog.splitlines() if line.startswith("## "))
    assert newest.split()[1] == singletree.__version__


def test_every_code_that_is_raised_is_published() -> None:
    text = "\n".join(module.read_text("utf-8") for module in MODULES)
    raised = set(re.findall(r"\bcode ?= ?\"([a-z_]+)\"", text))
    assert raised - set(CODES) == set()
