"""The family `session`: files, trees, forks, listings, and the context they give."""

from __future__ import annotations

import base64
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.vectors import runner
from tests.vectors.context_edits import edited
from tests.vectors.runner import Case

from singletree.context.projection import Projection, project, selected
from singletree.errors import SessionError, SessionUnreadable, UnknownEntry
from singletree.history.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    Entry,
    MessageEntry,
    SessionHeader,
    entry_of,
    parse,
)
from singletree.history.jsonl import decode, encode
from singletree.history.log import Folders, SessionLog
from singletree.history.names import valid_session_id
from singletree.history.recovery import index_of
from singletree.history.store import History, Store, Summary
from singletree.history.upgrade import upgrade
from singletree.messages import AGENT_MESSAGE
from singletree.session.tree.conversation import Conversation

FAMILY = "session"
CWD = "/code/proj"


@contextmanager
def store() -> Iterator[Store]:
    root = Path(tempfile.mkdtemp())
    try:
        yield Store(root / "agent", root / "sessions")
    finally:
        shutil.rmtree(root)


def write(path: Path, lines: Sequence[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def header(**more: Any) -> dict[str, Any]:
    return {"type": "session", "version": 3, "id": "source", "cwd": CWD, **more}


def opened(at: Store, entries: Sequence[Any]) -> History:
    return at.open(write(at.folder(CWD) / "source.jsonl", [header(), *entries]))


# -- what the model would see


def build_context(case: Case) -> None:
    with store() as at:
        history = opened(at, case.input["entries"])
        for leaf, want in zip(case.input["leaves"], case.expected, strict=True):
            same_context(history, leaf, want)
        history.close()


def same_context(history: History, leaf: dict[str, Any], want: dict[str, Any]) -> None:
    """An id that does not exist is an error with us; pi takes the last entry then.

    System messages of a pi file are history for us and never sent: our prompt is made anew.
    """
    known = leaf.get("leaf") is None or leaf["leaf"] in history.tree.index.row_of
    if not known:
        with pytest.raises(UnknownEntry):
            history.path(leaf["leaf"])
    given = {"leaf": leaf["leaf"]} if "leaf" in leaf and known else {}
    path = history.path(**given)
    seen = context(path)
    assert [entry.id for entry in selected(path)] == want["context_entries"]
    assert context(history.context_path(**given)) == seen
    assert seen["model"] == want["model"]
    assert seen["thinkingLevel"] == want["thinkingLevel"]
    stored = {entry.id: entry for entry in path}
    sent = [item for item in want["messages"] if item[1] != "system"]
    assert seen["messages"] == [as_seen(item, stored) for item in sent]


def context(path: Sequence[Entry]) -> dict[str, Any]:
    seen = project(path)
    rows = zip(seen.sources, seen.messages, strict=True)
    return {
        "model": model_of(seen),
        "thinkingLevel": seen.thinking,
        "messages": [[source, message.role, message.dump()] for source, message in rows],
    }


def model_of(seen: Projection) -> dict[str, str] | None:
    return None if seen.model is None else {"provider": seen.model[0], "modelId": seen.model[1]}


def as_seen(item: list[Any], stored: dict[str, Entry]) -> list[Any]:
    """A message as we hold it; without one, the message of the entry is meant."""
    if len(item) == 3:
        return [*item[:2], AGENT_MESSAGE.validate_python(item[2]).dump()]
    entry = stored[item[0]]
    assert isinstance(entry, MessageEntry)
    return [*item, entry.message.dump()]


# -- trees


def tree(case: Case) -> None:
    with store() as at:
        history = opened(at, case.input["entries"])
        inside, want = history.tree, case.expected
        assert inside.leaf == want["leaf"]
        assert inside.name == want["session_name"]
        assert inside.count == want["entry_count"]
        assert dict(inside.labels) == want["labels"]
        assert nested(history, None) == want["roots"]
        assert inside.path() == want["branch_from_leaf"]
        assert [known(inside.path, one) for one in case.input["branch_from"]] == want["branches"]
        orphans = {one.id for one in history.damage if one.kind == "missing_parent"}
        for one, children in zip(case.input["children_of"], want["children"], strict=True):
            # An orphan is shown as a start with us; pi shows it so as well, but does not count it.
            assert [id_ for id_ in known(inside.children, one) if id_ not in orphans] == children
        history.close()


def nested(history: History, above: str | None) -> list[dict[str, Any]]:
    """Children in file order, which pi's view sorts by time: the same in a file that grew."""
    below = history.tree.children(above)
    if above is not None:
        below = sorted(below, key=lambda one: history.entry(one).timestamp)
    return [
        {"id": one, **labelled(history, one), "children": nested(history, one)} for one in below
    ]


def labelled(history: History, entry_id: str) -> dict[str, Any]:
    label = history.labels.get(entry_id)
    if label is None:
        return {}
    given = history.tree.id_at(history.tree.label_rows[entry_id])
    return {"label": label, "label_time": history.entry(given or "").timestamp}


def known(ask: Callable[[str | None], list[str]], entry_id: str | None) -> list[str]:
    """An unknown id is an error with us; pi answers with nothing."""
    try:
        return ask(entry_id)
    except UnknownEntry:
        return []


def branched_session(case: Case) -> None:
    with store() as at:
        if case.input["persisted"]:
            history = opened(at, case.input["entries"])
        else:
            lines = [encode(one) for one in (header(), *case.input["entries"])]
            path = at.folder(CWD) / "unsaid.jsonl"
            log = SessionLog(path, b"".join(lines), Folders.under(Path()), "source")
            history = History(SessionHeader(id="source", cwd=CWD, version=3), index_of(lines), log)
        before = history.file.read_bytes() if history.on_disk else None
        try:
            fork = at.fork(history, case.input["leaf"], "at").history
        except UnknownEntry:
            assert case.expected == {"error": "not_found"}
            return
        want = case.expected
        assert (history.file.read_bytes() if history.on_disk else None) == before
        assert (
            want["source_unchanged"] is not False
            and (fork.id != history.id) == want["new_id_differs"]
        )
        assert same_header(fork, history) == want["header"]
        made: dict[str, str] = {}
        ids = {one["id"] for one in case.input["entries"]}
        body = [given_names(one, ids, made) for one in lines_of(fork)]
        assert body == want["entries"]
        assert made.get(fork.leaf or "", fork.leaf) == want["leaf"]
        if want["file_written_now"] is not None:
            assert fork.on_disk == want["file_written_now"]
            assert fork.file.name.endswith(f"_{fork.id}.jsonl")
        fork.close()
        history.close()


def same_header(made: History, source: History) -> dict[str, Any]:
    found = made.header.dump()
    assert found.pop("id") and found.pop("timestamp")
    if found.get("parentSession") == str(source.file):
        found["parentSession"] = "{SOURCE}"
    if found["cwd"] == CWD:
        found["cwd"] = "{CWD}"
    return found


def given_names(line: dict[str, Any], ids: set[str], made: dict[str, str]) -> dict[str, Any]:
    """Ids that pi or we made in the step are `$new0`, `$new1`, ..."""
    if line["id"] not in ids:
        made[line["id"]] = f"$new{len(made)}"
    renamed = {name: made.get(line[name], line[name]) for name in ("id", "parentId")}
    return {**line, **renamed}


def lines_of(history: History) -> list[dict[str, Any]]:
    """The session's lines as objects, without the header and what is shown nowhere."""
    rows = list(history.tree.rows())
    at = history.tree.index
    return [data for row in rows if (data := decode(history.line(at.ids[row]))) is not None]


def fork_from(case: Case) -> None:
    with store() as at:
        path = at.folder(CWD) / "source.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(case.input["text"], encoding="utf-8", newline="\n")
        try:
            source = at.open(path, read_only=True)
        except SessionUnreadable:
            assert case.expected == {"error": "invalid_source"}
            return
        want = case.expected
        fork = at.fork(source, source.leaf or "", "at", "/code/other").history
        assert same_header(fork, source) == want["header"]
        assert (fork.id != source.id) == want["new_id_differs"]
        assert (lines_of(fork) == lines_of(source)) == want["body_equals_source_entries"]
        assert len(project(fork.path()).messages) == want["context_message_count"]
        assert fork.leaf == want["leaf"]
        fork.close()
        source.close()


# -- files


def open_file(case: Case) -> None:
    content, want = base64.b64decode(case.input["base64"]), case.expected
    with store() as at:
        path = at.folder(CWD) / "given.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        try:
            history = at.open(path)
        except SessionUnreadable:
            assert want["open"] == {"ok": False, "error": "not_a_session", "file_untouched": True}
            assert want["load"] == [] and path.read_bytes() == content
            return
        missing = bool(content) and not content.endswith(b"\n")
        entries = [{"type": one.get("type"), "id": one["id"]} for one in lines_of(history)]
        head = [{"type": "session", "id": history.id}] if content else []
        lines = path.read_bytes()
        assert lines.startswith(content)
        assert {
            "load": head + entries,
            "load_appends_newline": missing,
            "open": {
                "ok": True,
                "entries": [one["id"] for one in entries],
                "leaf": history.leaf,
                "fresh_id": not content,
                "file_lines": sum(bool(line.strip()) for line in lines.split(b"\n")),
            },
        } == want
        if not history.read_only:  # as a file of a newer version is
            history.append(CustomEntry(custom_type="probe"))
            assert decode(path.read_bytes().split(b"\n")[-2]) is not None
        history.close()


def parse_text(case: Case) -> None:
    text = case.input["text"].removeprefix("\ufeff")  # as the reader of a file does
    lines = [line.encode("utf-8", "surrogatepass") for line in text.split("\n")]
    found = [one for line in lines if (one := parse(line)) is not None]
    want = [{key: str(value or "") for key, value in one.items()} for one in case.expected]
    assert [{"type": one.type, "id": one.id} for one in found] == want


def migrate(case: Case) -> None:
    lines, want = case.input["lines"], case.expected
    made = upgrade(lines)
    assert (made != lines) == want["changed"]
    places = {
        str(one["id"]): f"${at}" for at, one in enumerate(made) if at and "id" not in lines[at]
    }
    assert [named(one, places) for one in made] == want["entries"]
    with store() as at:
        path = write(at.folder(CWD) / "old.jsonl", lines)
        before = path.read_bytes()
        history = at.open(path)
        assert lines_of(history) == made[1:]
        if history.header.version > 3:
            assert history.read_only
            return
        history.append(CustomEntry(custom_type="probe"))
        assert not want["file_rewritten"] or path.read_bytes() == before
        assert (history.file != path) == want["file_rewritten"]
        copy = [decode(line) for line in history.file.read_bytes().splitlines()]
        assert (copy[:-1] == made) == want["file_equals_memory"]
        history.close()


def named(line: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    fields = ("id", "parentId", "firstKeptEntryId", "targetId", "fromId")
    renamed = {f: names.get(line[f], line[f]) for f in fields if isinstance(line.get(f), str)}
    return {**line, **renamed}


# -- a session at work


class Script:
    """Runs the steps of a script; `$1`, `$2` are the ids in the order they were made."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.talk = Conversation(history, lambda event: None, lambda code, text: None)
        self.ids: dict[str, str] = {}

    def run(self, step: dict[str, Any]) -> Any:
        try:
            made = self.do(step)
        except UnknownEntry:
            return {"error": "not_found"}
        except SessionError as error:
            return {"error": error.detail["reason"]}
        return None if made is None else self.name(made)

    def do(self, step: dict[str, Any]) -> Entry | None:
        history, real = self.history, self.real
        match step["do"]:
            case "label":
                return self.talk.label(real(step["target"]), step["label"])
            case "session_info":
                self.talk.rename(step["name"])
                return history.entry(str(history.leaf))
            case "edit":
                return edited(history, real(step["target"]), step["replacement"])
            case "branch":
                history.move(real(step["to"]))
                return None
            case "reset_leaf":
                history.move(None)
                return None
            case "compaction":
                return self.compact(step)
            case "branch_with_summary":
                return self.summarize(step)
        return history.append(plain_entry(step))

    def compact(self, step: dict[str, Any]) -> Entry:
        made = self.history.mint()
        kept = made if step["first_kept"] is None else self.real(step["first_kept"])
        entry = CompactionEntry(
            summary=step["summary"],
            first_kept_entry_id=kept,
            tokens_before=step["tokens_before"],
            details=step.get("details"),
            from_hook=step.get("from_hook"),
        )
        return self.history.append(entry, id=made)

    def summarize(self, step: dict[str, Any]) -> Entry:
        target = None if step["from"] is None else self.real(step["from"])
        entry = BranchSummaryEntry(
            summary=step["summary"],
            from_id=self.history.leaf or "root",
            details=step.get("details"),
        )
        return self.history.append(entry, after=target)

    def real(self, name: str) -> str:
        return next((id_ for id_, given in self.ids.items() if given == name), name)

    def name(self, entry: Entry) -> str:
        return self.ids.setdefault(entry.id, f"${len(self.ids) + 1}")


def plain_entry(step: dict[str, Any]) -> Entry:
    kinds = {"model": "model_change", "thinking": "thinking_level_change"}
    names = {"level": "thinkingLevel", "custom_type": "customType"}
    fields = {names.get(name, name): value for name, value in step.items() if name != "do"}
    return entry_of({"type": kinds.get(step["do"], step["do"]), **fields})


def script(case: Case) -> None:
    with store() as at:
        history = at.create(CWD)
        player, lines, results = Script(history), [], []
        for step in case.input["ops"]:
            results.append(player.run(step))
            lines.append(file_lines(history))
        want = case.expected
        names = player.ids
        found = [named(one, names) for one in lines_of(history)]
        assert results == want["results"]
        assert [untimed(one) for one in found] == [untimed(one) for one in want["entries"]]
        assert names.get(history.leaf or "") == want["leaf"]
        assert history.name == want["session_name"]
        assert {names[one]: text for one, text in history.labels.items()} == want["labels"]
        seen = project(history.context_path())
        context_rows = zip(seen.sources, seen.messages, strict=True)
        assert [[names[s], m.role] for s, m in context_rows] == [c[:2] for c in want["context"]]
        assert (seen.model and dict(zip(("provider", "modelId"), seen.model, strict=True))) == want[
            "model"
        ]
        assert seen.thinking == want["thinkingLevel"]
        if case.input["persisted"]:  # of ours none is kept from the disk
            assert lines == want["file_lines_after_each"]
        history.close()


def untimed(line: dict[str, Any]) -> dict[str, Any]:
    """The entry as we hold it, so that a default left out and one written out are the same."""
    return entry_of({**line, "timestamp": ""}).dump()


def file_lines(history: History) -> int:
    """Lines of the file, without the marks of the leaf."""
    if not history.file.exists():
        return 0
    return sum(b'"singletree.leaf"' not in line for line in history.file.read_bytes().splitlines())


# -- names and lists


def session_dir(case: Case) -> None:
    folder = Store(Path("/agent")).folder(case.input["cwd"])
    assert {"dir_name": folder.name, "under": folder.parent.name} == case.expected


def session_id(case: Case) -> None:
    assert {"valid": valid_session_id(case.input["id"])} == case.expected


def listing(case: Case) -> None:
    with store() as at:
        folder, cwd, want = at.folder(CWD), case.input["cwd"], case.expected
        for file in case.input["files"]:
            path = write(folder / file["name"], file["lines"])
            os.utime(path, (file["mtime"], file["mtime"]))
        own = [one for one in at.list(cwd).sessions if one.cwd == cwd]
        assert [listed(one) for one in own] == shown(want["for_cwd"])
        assert [listed(one) for one in at.list().sessions] == shown(want["all"])
        assert name_of(at.latest(cwd)) == want["most_recent"]
        assert name_of(at.latest("/other")) == want["most_recent_other"]
        assert name_of(at.find("c", "/other")) == want["find_by_id_c_other"]
        assert name_of(at.find("c", cwd)) == want["find_by_id_c_proj"]


def listed(one: Summary) -> dict[str, Any]:
    return {
        "file": one.path.name,
        "id": one.id,
        "name": one.name,
        "cwd": one.cwd,
        "parent": one.parent,
        "message_count": sum(b'"type": "message"' in x for x in one.path.read_bytes().splitlines()),
        "first_message": one.preview or None,
        "modified": one.updated_at,
    }


def shown(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without the text of all messages (a search of ours reads the file), on one line each."""
    kept = [{key: value for key, value in row.items() if key != "all_text"} for row in rows]
    return [{**row, "first_message": one_line(row["first_message"])} for row in kept]


def one_line(text: str | None) -> str | None:
    return text and " ".join(text.split())


def name_of(path: Path | None) -> str | None:
    return None if path is None else path.name


CHECKS = {
    "build_context": build_context,
    "build_context_edit": build_context,
    "build_context_system": build_context,
    "tree": tree,
    "branched_session": branched_session,
    "fork_from": fork_from,
    "open_file": open_file,
    "parse_text": parse_text,
    "migrate": migrate,
    "script": script,
    "script_edit": script,
    "lazy_persist": script,
    "session_dir": session_dir,
    "session_id": session_id,
    "list": listing,
}


def test_session() -> None:
    failed = runner.run(FAMILY, CHECKS)
    assert failed == [], "\n".join(failed[:8])
