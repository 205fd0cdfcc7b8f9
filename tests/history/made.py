"""Session files made for tests: small ones line by line, large ones by a seed."""

from __future__ import annotations

import json
import random
import resource
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from singletree.history.entries import Entry, LabelEntry, MessageEntry, SessionInfoEntry
from singletree.history.record import History
from singletree.messages import AssistantMessage, Text, UserMessage

Line = dict[str, Any]
ANSWER: Line = {
    "api": "openai-completions",
    "provider": "p",
    "model": "m",
    "usage": {
        "input": 100,
        "output": 10,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": 110,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
    },
}
WHEN = "2026-01-05T08:00:00.000Z"


def user(text: str) -> Entry:
    return MessageEntry(message=UserMessage(content=text))


def answer(text: str) -> Entry:
    return MessageEntry(message=AssistantMessage(content=[Text(text=text)], model="m"))


def label(history: History, target: str, text: str | None) -> Entry:
    return history.append(LabelEntry(target_id=target, label=text))


def rename(history: History, name: str) -> Entry:
    return history.append(SessionInfoEntry(name=name))


def header(**more: Any) -> Line:
    return {"type": "session", "version": 3, "id": "s1", "timestamp": WHEN, "cwd": "/w", **more}


def entry(id_: str, parent: str | None, type_: str = "custom", **fields: Any) -> Line:
    fields = fields or {"customType": "x"}
    return {"type": type_, "id": id_, "parentId": parent, "timestamp": WHEN, **fields}


def said(id_: str, parent: str | None, text: str, role: str = "user", **more: Any) -> Line:
    content = [{"type": "text", "text": text}] if text else []
    message = {"role": role, "content": content, "timestamp": 1767600000000, **more}
    return entry(id_, parent, "message", message=message)


def encoded(line: Line) -> bytes:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def write(path: Path, lines: Sequence[Line], *, tail: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(encoded, lines)) + tail)
    return path


def write_large(
    path: Path, entries: int, *, seed: int = 1, text: int = 600, path_length: int | None = None
) -> list[str]:
    """A seeded session of so many entries, its texts `text` bytes in the middle; the ids.

    Now and then it branches, and carries labels, model changes and compactions. With `path_length`
    the last so many entries form the active path, and all before them dead branches.
    """
    rng = random.Random(seed)
    words = [f"word{n}" for n in range(500)]
    body = " ".join(rng.choice(words) for _ in range(4000))
    ids: list[str] = []
    leaf: str | None = None
    with path.open("wb") as out:
        out.write(encoded(header()))
        for n in range(entries):
            id_ = f"{n:08x}"
            if path_length is not None and n >= entries - path_length:
                leaf = None if n == entries - path_length else leaf
            elif ids and rng.random() < 0.02:
                leaf = ids[rng.randrange(max(0, len(ids) - 400), len(ids))]
            start = rng.randrange(1000)
            out.write(encoded(_large_line(n, id_, leaf, ids, body[start : start + text], rng)))
            ids.append(id_)
            leaf = id_
    return ids


def write_line(path: Path, entries: int, *, text: int = 600) -> list[str]:
    """So many entries in one line of turns, never compacted; the ids."""
    ids = [f"{n:08x}" for n in range(entries)]
    body = ("one word and another " * (text // 21 + 1))[:text]
    with path.open("wb") as out:
        out.write(encoded(header()))
        for n, (id_, above) in enumerate(zip(ids, [None, *ids], strict=False)):
            role, more = ("assistant", ANSWER) if n % 2 else ("user", {})
            out.write(encoded(said(id_, above, body, role, **more)))
    return ids


def _large_line(
    n: int, id_: str, leaf: str | None, ids: list[str], text: str, rng: random.Random
) -> Line:
    if n % 667 == 666:
        kept = ids[-min(8, len(ids))]
        fields = {"summary": text, "firstKeptEntryId": kept, "tokensBefore": 1000}
        return entry(id_, leaf, "compaction", **fields)
    if n % 97 == 96:
        return entry(id_, leaf, "label", targetId=rng.choice(ids[-40:]), label=f"mark {n}")
    if n % 101 == 100:
        return entry(id_, leaf, "model_change", provider="p", modelId="m")
    role = ("user", "assistant", "toolResult", "assistant")[n % 4]
    if role == "toolResult":
        return said(id_, leaf, text, role, toolCallId=f"c{n}", toolName="read", isError=False)
    if n % 4 == 1:
        call = {"type": "toolCall", "id": f"c{n + 1}", "name": "read", "arguments": {"path": text}}
        line = said(id_, leaf, "", role, **ANSWER, stopReason="toolUse")
        line["message"]["content"] = [call]
        return line
    return said(id_, leaf, text, role, **(ANSWER if role == "assistant" else {}))


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """The system refuses to let a file grow beyond so many bytes, like a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
