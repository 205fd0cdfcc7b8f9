"""What a program says of a session, in one form: leaf, entries, tree, labels, messages.

Where the leaf stands is a mark in the file that we show nowhere, and an extension's entry that pi
knows nothing of: of pi's view the marks are taken away, and what hung on one hangs on its parent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.interop.pi import Pi
from tests.rpc.client import RawClient

from singletree.context.projection import project
from singletree.history.entries import LEAF_TYPE
from singletree.history.store import Store

Entry = dict[str, Any]
NOWHERE = ""


@dataclass(frozen=True)
class View:
    """A session as a program tells it."""

    leaf: str | None
    name: str | None
    entries: list[Entry]
    children: dict[str, list[str]]
    labels: dict[str, str]
    messages: list[Entry]


async def view_of_pi(pi: Pi) -> View:
    """What pi says."""
    listed = await pi.call("get_entries")
    nested = await pi.call("get_tree")
    said = (await pi.call("get_messages"))["messages"]
    state = await pi.call("get_state")
    assert nested["leafId"] == listed["leafId"]
    shown = _Shown(listed["entries"])
    children: dict[str, list[str]] = {}
    labels: dict[str, str] = {}
    waiting = [(NOWHERE, node) for node in reversed(nested["tree"])]
    while waiting:
        above, node = waiting.pop()
        entry = node["entry"]
        if entry["id"] in shown.ids:
            children.setdefault(above, []).append(entry["id"])
            above = entry["id"]
        if "label" in node:
            labels[entry["id"]] = node["label"]
        waiting += [(above, child) for child in reversed(node["children"])]
    return View(
        shown.standing(listed["leafId"]),
        state.get("sessionName"),
        shown.entries,
        children,
        labels,
        [one for one in said if one["role"] != "system"],
    )


async def view_of_ours(client: RawClient, session_id: str, agent_dir: Path) -> View:
    """What the daemon says."""
    which = {"sessionId": session_id}
    state = await client.call("agent/session/state", which)
    page = {**which, "branch": "all", "limit": 1000}
    listed = await client.call("agent/session/entries", page)
    rows = (await client.call("agent/tree/get", {**which, "filter": "all", "limit": 5000}))["rows"]
    children: dict[str, list[str]] = {}
    for row in rows:
        children.setdefault(row["parentId"] or NOWHERE, []).append(row["entryId"])
    return View(
        state["leafId"],
        state["name"],
        listed["entries"],
        children,
        {row["entryId"]: row["label"] for row in rows if row["label"]},
        _messages(agent_dir, session_id),
    )


def _messages(agent_dir: Path, session_id: str) -> list[Entry]:
    """The conversation as the next request is made from it."""
    history = Store(agent_dir).open_id(session_id, read_only=True)
    try:
        return [message.dump() for message in project(history.context_path()).messages]
    finally:
        history.close()


class _Shown:
    """pi's entries without our marks."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        given = list(entries)
        self._above = {e["id"]: e["parentId"] for e in given if e.get("customType") == LEAF_TYPE}
        self.entries = [
            {**e, "parentId": self.standing(e["parentId"])}
            for e in given
            if e["id"] not in self._above
        ]
        self.ids = {entry["id"] for entry in self.entries}

    def standing(self, entry_id: str | None) -> str | None:
        """The entry itself, or the one a mark stands for."""
        while entry_id in self._above:
            entry_id = self._above[entry_id]
        return entry_id
