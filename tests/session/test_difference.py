"""What two places of a tree do not have in common, and the files that either side touched."""

from __future__ import annotations

import random
from pathlib import Path

from tests.history.made import ANSWER, Line, entry, header, said, write

from singletree.compaction.branch import prepare_branch
from singletree.history.store import Store
from singletree.session.tree.difference import difference

DETAILS = {"readFiles": ["told/read"], "modifiedFiles": ["told/modified"]}


def tree(count: int, chance: random.Random) -> list[Line]:
    """Entries of all sorts, each below any of those before it."""
    lines: list[Line] = []
    for n in range(count):
        above = chance.choice(lines[-4:])["id"] if lines else None
        lines.append(one_of_any_sort(f"e{n}", above, chance))
    return lines


def one_of_any_sort(id_: str, above: str | None, chance: random.Random) -> Line:
    hook = chance.choice([{}, {"fromHook": True}, {"fromHook": False}])
    match chance.randrange(8):
        case 0:
            return said(id_, above, 'a "toolCall" with a "path"')
        case 1:
            told = {"firstKeptEntryId": above or id_, "tokensBefore": 1}
            return entry(id_, above, "compaction", summary="S", **told, **hook, details=DETAILS)
        case 2:
            told = {"fromId": above or "root"}
            return entry(id_, above, "branch_summary", summary="S", **told, **hook, details=DETAILS)
        case 3:
            result = {"toolCallId": "c", "toolName": "read", "isError": False}
            return said(id_, above, "found", "toolResult", **result)
        case _:
            calls = [call(chance) for _ in range(chance.randrange(3))]
            line = said(id_, above, "I look", "assistant", **ANSWER, stopReason="toolUse")
            line["message"]["content"] += calls
            return line


def call(chance: random.Random) -> Line:
    path = chance.choice(["a.py", "b c.py", "é.py", "", None, 7, {"path": "x"}])
    name = chance.choice(["read", "write", "edit", "bash", "ls"])
    return {"type": "toolCall", "id": "c", "name": name, "arguments": {"path": path}}


def test_files_are_those_that_a_summary_of_the_side_would_name(tmp_path: Path) -> None:
    chance, seen = random.Random(7), set[str]()
    for number in range(40):
        lines = tree(30, chance)
        path = write(tmp_path / f"{number}.jsonl", [header(), *lines])
        history = Store(tmp_path).open(path, read_only=True)
        here, there = (line["id"] for line in chance.sample(lines, 2))
        found = difference(history, here, there)
        for side in (found.abandoned, found.gained):
            told = prepare_branch(history.entries(ids=side.entry_ids).entries, None).files
            assert (side.read_files, side.modified_files) == (told.read_files, told.modified_files)
            seen.update(side.read_files, side.modified_files)
        history.close()
    assert seen == {"a.py", "b c.py", "é.py", "told/read", "told/modified"}
