"""B085: files, diffs or questions jump into view while a person types."""

from __future__ import annotations

import re

import pytest
from tests.clients.vscode import play
from tests.clients.vscode_install import EXTENSION, NEEDS, found
from tests.conftest import needs

SHOWS = re.compile(r"showTextDocument|vscode\.diff|\.reveal\(|\.focus`|\.show\((true|!)")
BY_A_PERSON = {
    "code.ts": "commands of the palette",
    "commands.ts": "commands of the palette",
    "documents.ts": "clicks in the view",
    "jumps.ts": "clicks in the tree",
    "sidebar.ts": "reveal itself, which only commands call",
}


@pytest.mark.client
@pytest.mark.timeout(300)
@needs(NEEDS, found() is not None)
def test_every_key_stays_where_it_was_typed() -> None:
    play("quiet")


def test_nothing_but_what_a_person_chose_brings_something_into_view() -> None:
    files = sorted((EXTENSION / "src" / "host").glob("*.ts"))
    assert {file.name for file in files if SHOWS.search(file.read_text("utf-8"))} == set(
        BY_A_PERSON
    )
