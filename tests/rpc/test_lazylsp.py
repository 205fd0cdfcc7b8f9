"""Postponed classes are the classes; and where they can't be, the plain import is done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

DESCRIBE = """
import attrs, json, lsprotocol.types as t
from lsprotocol import converters
converter = converters.get_converter()
shapes = {}
for name, cls in sorted(t.ALL_TYPES_MAP.items()):
    if attrs.has(cls):
        fields = attrs.fields(cls)
        shapes[name] = [[f.name, str(f.type), f.default is attrs.NOTHING] for f in fields]
place = t.Position(1, 2)
assert place == t.Position(line=1, character=2) and place != t.Position(1, 3)
assert place < t.Position(1, 3) and repr(place) == "1:2"
try:
    t.Position(1)
except TypeError:
    pass
else:
    raise SystemExit("a missing field")
fix = {"title": "y", "kind": "quickfix", "edit": {"changes": {}}}
message = {"jsonrpc": "2.0", "id": 1, "result": [{"title": "x", "command": "c"}, fix]}
answer = converter.structure(message, t.CodeActionResponse)
assert [type(a).__name__ for a in answer.result] == ["Command", "CodeAction"]
assert converter.unstructure(answer) == message
print(json.dumps(shapes))
"""


def shapes(before: str, **env: str) -> tuple[dict[str, Any], str]:
    run = subprocess.run(
        [sys.executable, "-c", before + DESCRIBE],
        capture_output=True,
        text=True,
        env=os.environ | env,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1]), run.stderr


INSTALL = "from singletree.rpc.lsp.lazylsp import install; done = install(); assert done is {}\n"
SHADOW = """
import sys, types
sys.modules["lsprotocol._hooks"] = types.ModuleType("lsprotocol._hooks")
"""


def test_all_classes_are_as_they_were() -> None:
    plain, _ = shapes("")
    assert len(plain) > 500
    postponed, errors = shapes(INSTALL.format(True))
    assert postponed == plain
    assert errors == ""


def test_it_can_be_switched_off() -> None:
    switched_off, _ = shapes(INSTALL.format(False), SINGLETREE_LAZY_LSP="0")
    assert switched_off == shapes("")[0]


def test_a_surprise_leads_to_the_plain_import() -> None:
    fallen_back, errors = shapes(SHADOW + INSTALL.format(False))
    assert fallen_back == shapes("")[0]
    assert "imported plainly" in errors


COUNT = """
import lsprotocol.types as t
from singletree.rpc.lsp.lazylsp import _Pending
kinds = {c for c in t.ALL_TYPES_MAP.values() if isinstance(c, type)}
print(sum(isinstance(c.__dict__.get("__attrs_attrs__"), _Pending) for c in kinds))
"""


def test_a_class_that_nobody_uses_is_not_built() -> None:
    code = INSTALL.format(True) + COUNT
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 400
