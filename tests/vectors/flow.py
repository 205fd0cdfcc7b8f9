"""A whole session on the entries of a vector, with a model that plays the vector's answers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.model.talk import failed
from tests.session.stage import Stage, stage

from singletree.compaction.prompts import SECTIONS, SYSTEM
from singletree.history.store import Store
from singletree.messages import Usage
from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.scripted import ScriptedModel, Turn, fail, say
from singletree.session.settings.keys import Settings

SESSION = "0198b2c8-0000-7000-8000-000000000000"
PADDING = "\n" + "\n".join(SECTIONS)
"""What our form asks of a summary, put behind the text a vector gives as one."""


@dataclass
class Answers:
    """Tells summary requests from turns and gives each its own next answer."""

    turns: Iterator[Any]
    summaries: Iterator[Any]
    requests: list[tuple[str, ModelRequest]] = field(default_factory=list)

    def cue(self, request: ModelRequest) -> Turn:
        kind = "summary" if request.system == SYSTEM else "turn"
        self.requests.append((kind, request))
        raw = next(self.summaries if kind == "summary" else self.turns)
        return answer(raw, PADDING if kind == "summary" and raw.get("text") else "")


def answer(raw: Any, padding: str) -> Turn:
    """An answer of a vector as a turn."""
    if raw.get("stop") == "error":
        return fail(failed(raw["error"]))
    usage = Usage.model_validate(raw.get("usage") or {"input": 10, "output": 5})
    turn = say(f"{raw.get('text', '')}{padding}").but(usage=usage)
    return turn.but(stop=raw["stop"]) if "stop" in raw else turn


@asynccontextmanager
async def played(
    entries: Sequence[Any], answers: Answers, info: ModelInfo, settings: Settings
) -> AsyncIterator[Stage]:
    """The session, open; `stage.session` says things, `answers` plays them."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        folder = root / "work"
        path = Store(root / "agent").folder(str(folder)) / f"x_{SESSION}.jsonl"
        path.parent.mkdir(parents=True)
        head = {"type": "session", "version": 3, "id": SESSION, "cwd": str(folder)}
        lines = [json.dumps(item) + "\n" for item in (head, *entries)]
        path.write_text("".join(lines), encoding="utf-8")
        model = ScriptedModel([answers.cue] * 50, info)
        async with stage(root, model, settings=settings, session_id=SESSION) as made:
            yield made
