"""One line of a session file <-> one entry: the header, the kinds we know, and those we do not.

Shapes are pi's, version 3: every entry has `type`, `id`, `parentId`, `timestamp`; unknown kinds and
fields are kept. This module never opens a file. Read next: index.py (heads of lines without their
bodies), tree.py (how entries stand together), log.py (how they reach the disk), upgrade.py (older
versions).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    TypeAdapter,
    ValidationError,
)

from singletree.history.jsonl import Json, decode, encode
from singletree.messages import AgentMessage, Content, Usage, Wire

SESSION_VERSION = 3
LEAF_TYPE = "singletree.leaf"
"""`customType` of the entry that stores where the leaf stands; its parent is the target."""


def iso_now() -> str:
    """The present as entries write it: ISO 8601, milliseconds, Z."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso_to_ms(timestamp: str) -> int:
    """Milliseconds since the epoch; 0 where the text is no date."""
    try:
        return round(datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp() * 1000)
    except ValueError:
        return 0


class SessionHeader(Wire):
    """The first line of a file. `parent_session` is a path."""

    type: Literal["session"] = "session"
    version: int = 1
    id: str
    timestamp: str = ""
    cwd: str = ""
    parent_session: str | None = None


class EntryBase(Wire):
    """What every entry has. One made by hand has no place yet: `History.append` gives it one."""

    id: str = ""
    parent_id: str | None = None
    timestamp: str = ""


class MessageEntry(EntryBase):
    """Something said."""

    type: Literal["message"] = "message"
    message: AgentMessage


class ModelChangeEntry(EntryBase):
    """Another model from here on."""

    type: Literal["model_change"] = "model_change"
    provider: str
    model_id: str


class ThinkingLevelChangeEntry(EntryBase):
    """Another thinking level from here on."""

    type: Literal["thinking_level_change"] = "thinking_level_change"
    thinking_level: str


class UsageEntry(EntryBase):
    """Tokens spent outside an answer; counts in cost, not in context."""

    type: Literal["usage"] = "usage"
    kind: str = ""
    provider: str = ""
    model: str = ""
    usage: Usage = Field(default_factory=Usage)
    note: str | None = None


class CompactionEntry(EntryBase):
    """A hand-over: the summary stands for everything before `first_kept_entry_id`.

    Its own id, or one that is not on the path, keeps nothing.
    """

    type: Literal["compaction"] = "compaction"
    summary: str
    first_kept_entry_id: str = ""
    tokens_before: int = 0
    details: JsonValue = None
    usage: Usage | None = None
    from_hook: bool | None = None


class BranchSummaryEntry(EntryBase):
    """What was tried on a branch that was left; `from_id` is its old leaf, or "root"."""

    type: Literal["branch_summary"] = "branch_summary"
    summary: str
    from_id: str = "root"
    details: JsonValue = None
    usage: Usage | None = None
    from_hook: bool | None = None


class ContextEditEntry(EntryBase):
    """Alters what another entry gives to the context: `replacement` null hides it."""

    type: Literal["context_edit"] = "context_edit"
    target_id: str
    replacement: JsonValue = None


class CustomEntry(EntryBase):
    """State of an extension, or of ours; never sent."""

    type: Literal["custom"] = "custom"
    custom_type: str
    data: JsonValue = None


class CustomMessageEntry(EntryBase):
    """A message of an extension; sent as the user's."""

    type: Literal["custom_message"] = "custom_message"
    custom_type: str
    content: Content = Field(default_factory=list)
    display: bool = True
    details: JsonValue = None


class LabelEntry(EntryBase):
    """A bookmark on another entry; missing or empty clears it."""

    type: Literal["label"] = "label"
    target_id: str
    label: str | None = None


class SessionInfoEntry(EntryBase):
    """The session's name."""

    type: Literal["session_info"] = "session_info"
    name: str | None = None


class UnknownEntry(EntryBase):
    """A kind we do not know, or one whose shape is not as it should be: kept and walked through."""

    type: str = ""


KINDS: dict[str, type[EntryBase]] = {
    "message": MessageEntry,
    "model_change": ModelChangeEntry,
    "thinking_level_change": ThinkingLevelChangeEntry,
    "usage": UsageEntry,
    "compaction": CompactionEntry,
    "branch_summary": BranchSummaryEntry,
    "context_edit": ContextEditEntry,
    "custom": CustomEntry,
    "custom_message": CustomMessageEntry,
    "label": LabelEntry,
    "session_info": SessionInfoEntry,
}


def _tag(value: object) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if isinstance(kind, str) and kind in KINDS else "unknown"


Entry = Annotated[
    Annotated[MessageEntry, Tag("message")]
    | Annotated[ModelChangeEntry, Tag("model_change")]
    | Annotated[ThinkingLevelChangeEntry, Tag("thinking_level_change")]
    | Annotated[UsageEntry, Tag("usage")]
    | Annotated[CompactionEntry, Tag("compaction")]
    | Annotated[BranchSummaryEntry, Tag("branch_summary")]
    | Annotated[ContextEditEntry, Tag("context_edit")]
    | Annotated[CustomEntry, Tag("custom")]
    | Annotated[CustomMessageEntry, Tag("custom_message")]
    | Annotated[LabelEntry, Tag("label")]
    | Annotated[SessionInfoEntry, Tag("session_info")]
    | Annotated[UnknownEntry, Tag("unknown")],
    Discriminator(_tag),
]

ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry, config=ConfigDict(defer_build=True))


def prepare() -> None:
    """Build what reads and writes entries: some 40 ms, for which the first entry would wait."""
    ENTRY.rebuild()
    SessionHeader.model_rebuild()
    for kind in KINDS.values():
        kind.model_rebuild()


def dump(item: SessionHeader | EntryBase) -> bytes:
    """One line with its LF.

    The key order type, id, parentId, timestamp lets index.py read heads without decoding.
    """
    data = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    head: Json = {"type": data.pop("type"), "id": data.pop("id")}
    if isinstance(item, EntryBase):
        head["parentId"] = data.pop("parentId", None)
        head["timestamp"] = data.pop("timestamp")
        if isinstance(item, ContextEditEntry):
            data.setdefault("replacement", None)
    return encode({**head, **data})


def parse(line: bytes) -> SessionHeader | Entry | None:
    """What a line says; None where it is blank or no JSON object."""
    data = decode(line)
    if data is None:
        return None
    return header_of(data) or entry_of(data)


def header_of(data: Json) -> SessionHeader | None:
    """The header, if this is one: `type` session and a text as id. Odd other fields are dropped."""
    if data.get("type") != "session" or not isinstance(data.get("id"), str) or not data["id"]:
        return None
    kept = dict(data)
    for name in ("timestamp", "cwd", "parentSession", "parent_session"):
        if name in kept and not isinstance(kept[name], str):
            del kept[name]
    version = kept.pop("version", None)
    if isinstance(version, float) and version.is_integer():
        version = int(version)
    if version is not None:
        newer = not isinstance(version, int) or isinstance(version, bool)
        kept["version"] = SESSION_VERSION + 1 if newer else version
    return SessionHeader.model_validate(kept)


def entry_of(data: Json) -> Entry:
    """The entry of a JSON object: of its kind, or unknown where its shape is not of that kind."""
    try:
        return ENTRY.validate_python(data)
    except ValidationError:
        pass
    try:
        return ENTRY.validate_python(_mended(data))
    except ValidationError:
        return _unknown(data)


def id_text(value: JsonValue) -> str | None:
    """An id as text: numbers count as their digits; None where there is none."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value) or None


def _mended(data: Json) -> Json:
    """Without nulls, which stand for absent; a message without content has an empty one."""
    bare = _without_nulls(data)
    message = bare.get("message")
    if isinstance(message, dict):
        bare["message"] = {"content": [], **message}
    return bare


def _without_nulls(data: Json) -> Json:
    return {key: _bare(value) for key, value in data.items() if value is not None}


def _bare(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return _without_nulls(value) if isinstance(value, dict) else value


def _unknown(data: Json) -> UnknownEntry:
    """All fields as they are; only those every entry has are brought to their types."""
    kind, when = data.get("type"), data.get("timestamp")
    base: Json = {
        "type": kind if isinstance(kind, str) else "",
        "id": id_text(data.get("id")) or "",
        "parentId": id_text(data.get("parentId")),
        "timestamp": when if isinstance(when, str) else "",
    }
    return UnknownEntry.model_validate({**data, **base})
