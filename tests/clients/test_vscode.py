"""The extension in the real VS Code: its types, its parts, and what a person sees and clicks."""

from __future__ import annotations

import pytest
from tests.clients.vscode import play, run
from tests.clients.vscode_install import NEEDS, found
from tests.conftest import needs

pytestmark = [pytest.mark.client, needs(NEEDS, found() is not None), pytest.mark.timeout(300)]


def test_types() -> None:
    run("npm", "run", "check")


def test_parts_that_need_no_editor() -> None:
    run("npm", "test")


def test_documents_and_undo_seen_from_the_extension_host() -> None:
    play("inhost")


def test_the_story() -> None:
    play("story")


def test_what_else_a_person_meets() -> None:
    play("faces")
