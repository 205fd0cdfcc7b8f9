"""Forgetting on request: sum up the older part of the path."""

from __future__ import annotations

from singletree.rpc.protocol.base import LongParams, Method, Result, Shape
from singletree.rpc.protocol.usage import Usage


class CompactParams(LongParams):
    """`instructions`: what the summary should look at."""

    instructions: str | None = None


class FileLists(Shape):
    """The files the summed-up part read and changed."""

    read_files: list[str]
    modified_files: list[str]


class Compacted(Result):
    """The new entry. Everything before `firstKeptEntryId` is seen by the model as the summary."""

    entry_id: str
    summary: str
    first_kept_entry_id: str
    tokens_before: int
    tokens_after_estimate: int
    usage: Usage
    details: FileLists


METHODS = (
    Method(
        "agent/compact",
        CompactParams,
        Compacted,
        "Sum up the older part of the path with a call of the model. Cancelled or failed, nothing "
        "has changed.",
        errors=("session_busy", "nothing_to_compact", "no_model", "cancelled_by_extension"),
    ),
)
