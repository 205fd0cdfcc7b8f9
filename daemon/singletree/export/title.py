"""What an exported session is called. Read next: page.py, markdown.py."""

from __future__ import annotations

from singletree.history.reading import Reading


def title_of(history: Reading) -> str:
    """The session's name, or the first thing that was said, or its id."""
    if history.name:
        return history.name
    first = next(iter(history.rows("userOnly", limit=1).rows), None)
    return first.preview if first is not None and first.preview else history.id
