"""The contract, printed: as JSON Schema, as protocol.md's tables, as TypeScript, as LuaCATS.

`singletree describe --out DIR` writes the four files; with a form's name it prints one. Never
needed at run time. Read next: described/shapes.py.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from singletree.rpc.described.jsonschema import schema as schema_object
from singletree.rpc.described.luacats import luacats
from singletree.rpc.described.markdown import fill, markdown
from singletree.rpc.described.shapes import served
from singletree.rpc.described.typescript import typescript

__all__ = ["describe_main", "fill", "luacats", "markdown", "refresh", "schema", "typescript"]

USAGE = """\
usage: singletree describe [--out DIR] [schema | markdown | typescript | lua]
       singletree describe --refresh [ROOT]

Print the protocol in one form, or write it into DIR. --refresh is for a checkout of the project:
it writes every made file, and the made parts of protocol.md, to where they stand.
"""


def schema() -> str:
    """The published schema as text."""
    return json.dumps(schema_object(), indent=1, ensure_ascii=False) + "\n"


FORMS: dict[str, tuple[str, Callable[[], str]]] = {
    "schema": ("protocol.schema.json", schema),
    "markdown": ("protocol.tables.md", markdown),
    "typescript": ("protocol.ts", typescript),
    "lua": ("protocol.lua", luacats),
}

PUBLISHED = '''\
"""What `initialize` tells of the contract. Made by `singletree describe --refresh`; do not edit."""

from __future__ import annotations

SCHEMA_HASH = "{digest}"
METHODS = (
{methods}
)
'''


def published() -> str:
    """The file `published.py`: what the first answer needs, with nothing to import."""
    digest = hashlib.sha256(schema().encode()).hexdigest()[:32]
    asked = [m.name for m in served() if m.direction == "clientToServer"]
    methods = "\n".join(f'    "{name}",' for name in asked)
    return PUBLISHED.format(digest=f"sha256:{digest}", methods=methods)


HOMES: dict[str, Callable[[], str]] = {
    "daemon/singletree/protocol.schema.json": schema,
    "daemon/singletree/rpc/published.py": published,
    "vscode-extension/src/protocol.ts": typescript,
    "clients/nvim/lua/singletree/protocol.lua": luacats,
}
"""Where made files stand in the repository."""


def describe_main(args: Sequence[str]) -> int:
    """`singletree describe`; the exit code."""
    try:
        code = _describe(list(args))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        sys.stderr.write(f"singletree describe: cannot write {error.filename}: {error.strerror}\n")
        return 1
    return code


def _describe(args: list[str]) -> int:
    match args:
        case ["--help" | "-h"]:
            sys.stdout.write(USAGE)
            return 0
        case ["--refresh", *root] if len(root) < 2:
            sys.stdout.writelines(f"{path}\n" for path in refresh(Path(*root)))
            return 0
        case ["--out", folder, *forms] | [*forms, "--out", folder] if _known(forms):
            return _write_all(Path(folder), forms or list(FORMS))
        case [*forms] if len(forms) < 2 and _known(forms):
            sys.stdout.write(FORMS[forms[0] if forms else "schema"][1]())
            return 0
        case wrong:
            sys.stderr.write(f"singletree describe: cannot do: {' '.join(wrong)}\n{USAGE}")
            return 2


def _known(forms: Sequence[str]) -> bool:
    return all(form in FORMS for form in forms)


def _write_all(folder: Path, forms: Sequence[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    for form in forms:
        name, make = FORMS[form]
        (folder / name).write_text(make(), "utf-8")
    return 0


def refresh(root: Path) -> list[str]:
    """Write every made file of the repository anew; the ones that were another before."""
    changed: list[str] = []
    for home, make in HOMES.items():
        changed += _write(root / home, make())
    document = root / "protocol.md"
    return changed + _write(document, fill(document.read_text("utf-8")))


def _write(path: Path, text: str) -> list[str]:
    if path.exists() and path.read_text("utf-8") == text:
        return []
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return [str(path)]


if __name__ == "__main__":
    sys.exit(describe_main(sys.argv[1:]))
