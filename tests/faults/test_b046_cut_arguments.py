"""A call whose arguments were cut is never run; the model hears why and the loop goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.scenario import check_accepted
from tests.session.stage import stage

from singletree.agent.calls import CUT
from singletree.messages import ToolResultMessage, text_of
from singletree.model.script import CallPart
from singletree.model.scripted import ScriptedModel, Turn, call, say

HALF = '{"path":"a.txt","content":"line1\\nli'


@pytest.mark.parametrize(
    ("turn", "stop"),
    [
        (Turn((CallPart("write", raw=HALF),)), "length"),
        (Turn((CallPart("write", raw=HALF),)), "toolUse"),
        (call("write", path="a.txt"), "length"),
    ],
)
async def test_half_a_call_is_no_call(tmp_path: Path, turn: Turn, stop: str) -> None:
    model = ScriptedModel([turn.but(stop=stop), say("smaller then")])
    async with stage(tmp_path, model) as on:
        await on.say("write it")
        assert not (on.folder / "a.txt").exists()
        sent = model.requests[1].messages
        check_accepted(sent)
        json.dumps([message.dump() for message in sent])
        result = sent[-1]
        assert isinstance(result, ToolResultMessage)
        assert result.is_error
        text = text_of(result.content)
        assert text == CUT or text.startswith("Not run: this call to write could not be read.")
