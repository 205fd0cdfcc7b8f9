"""Which files a conversation read and changed, carried from one summary to the next.

Pure; a path is taken as the model wrote it. Read next: plan.py and branch.py, which collect them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from pydantic import JsonValue

from singletree.context.tags import defuse
from singletree.jsontext import object_in, objects_in
from singletree.messages import AgentMessage, AssistantMessage, ToolResultMessage

READ_TAG = "read-files"
MODIFIED_TAG = "modified-files"


@dataclass(frozen=True, slots=True)
class Touched:
    """Paths by what was done to them; a file that was changed does not count as read."""

    read: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    edited: frozenset[str] = frozenset()

    def __or__(self, other: Touched) -> Touched:
        return Touched(
            self.read | other.read, self.written | other.written, self.edited | other.edited
        )

    @property
    def read_files(self) -> tuple[str, ...]:
        """Read and not changed, sorted."""
        return tuple(sorted(self.read - self.written - self.edited))

    @property
    def modified_files(self) -> tuple[str, ...]:
        """Written or edited, sorted."""
        return tuple(sorted(self.written | self.edited))

    @classmethod
    def by(cls, messages: Iterable[AgentMessage]) -> Self:
        """By the calls in these messages, failed ones too, and those that a tool made by itself."""
        return cls.called(call for message in messages for call in _calls(message))

    @classmethod
    def called(cls, calls: Iterable[tuple[JsonValue, JsonValue]]) -> Self:
        """By tools and the paths they were given."""
        found: dict[JsonValue, set[str]] = {"read": set(), "write": set(), "edit": set()}
        for name, path in calls:
            if isinstance(name, str) and name in found and isinstance(path, str) and path:
                found[name].add(path)
        return cls(*map(frozenset, found.values()))

    @classmethod
    def told(cls, details: JsonValue) -> Self:
        """By the details of an earlier summary; shapes we do not know give nothing."""
        if not isinstance(details, dict):
            return cls()
        return cls(
            read=_paths(details.get("readFiles")), edited=_paths(details.get("modifiedFiles"))
        )

    def block(self) -> str:
        """The lists as they end a summary; empty where nothing was touched."""
        return _listed(READ_TAG, self.read_files) + _listed(MODIFIED_TAG, self.modified_files)


def _calls(message: AgentMessage) -> Iterator[tuple[JsonValue, JsonValue]]:
    """Tools and paths; pi's scripts record what they called with their result."""
    if isinstance(message, AssistantMessage):
        for call in message.tool_calls:
            yield call.name, call.arguments.get("path")
    elif isinstance(message, ToolResultMessage):
        nested = object_in((message.model_extra or {}).get("nestedCalls"))
        for made in objects_in(nested.get("calls")):
            yield made.get("name"), object_in(made.get("arguments")).get("path")


def _listed(tag: str, paths: Iterable[str]) -> str:
    lines = "\n".join(defuse(path.replace("\n", " "), tag) for path in paths)
    return f"\n\n<{tag}>\n{lines}\n</{tag}>" if lines else ""


def _paths(value: JsonValue) -> frozenset[str]:
    if not isinstance(value, list):
        return frozenset()
    return frozenset(path for path in value if isinstance(path, str) and path)
