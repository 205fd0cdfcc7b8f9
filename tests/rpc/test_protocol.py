"""The contract itself: every method said once, found by name, its shapes as they promise."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from pydantic import ValidationError

from singletree.rpc import protocol
from singletree.rpc.protocol import check, find, methods
from singletree.rpc.protocol.base import Method, Shape
from singletree.rpc.protocol.capabilities import (
    ClientAgent,
    ClientEditor,
    ClientEvents,
    ClientUi,
    ServerAgent,
)
from singletree.rpc.protocol.errors import CODES
from singletree.rpc.protocol.events import DeltaParams, ToolEvent
from singletree.rpc.protocol.queue import QueueItem
from singletree.rpc.protocol.session import EntriesParams, OpenParams, SessionName, WaitParams
from singletree.rpc.protocol.turn import PromptParams

ALL = methods()


def shapes() -> list[type[Shape]]:
    return [s for m in ALL.values() for s in (m.params, m.result) if s is not None]


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_method_is_found_by_its_name(name: str) -> None:
    assert find(name) is ALL[name]


@pytest.mark.parametrize("name", ["", "agent", "agent/", "agent/nothing", "agent/base", "x/prompt"])
def test_other_names_are_not_found(name: str) -> None:
    assert find(name) is None


def test_names_stand_once() -> None:
    said = [m.name for topic in protocol.TOPICS for m in protocol.topic_methods(topic)]
    assert sorted(said) == sorted(set(said))


def test_every_file_with_methods_is_a_topic() -> None:
    folder = Path(protocol.__file__).parent
    having = {
        p.stem
        for p in folder.glob("*.py")
        if p.stem != "__init__"
        and hasattr(import_module(f"{protocol.__name__}.{p.stem}"), "METHODS")
    }
    assert having == set(protocol.TOPICS)


@pytest.mark.parametrize("method", ALL.values(), ids=lambda m: m.name)
def test_special_errors_are_published_codes(method: Method) -> None:
    assert set(method.errors) <= set(CODES)


@pytest.mark.parametrize("shape", shapes(), ids=lambda s: s.__name__)
def test_every_shape_has_a_validator_and_words(shape: type[Shape]) -> None:
    assert shape.model_rebuild() is not False
    assert shape.__doc__ and shape.__doc__ != Shape.__doc__


def test_names_travel_in_camel_case() -> None:
    params = check(PromptParams, {"content": "hi", "whenBusy": "steer", "clientMessageId": "m1"})
    assert params.when_busy == "steer"
    assert params.dump() == {
        "content": [{"type": "text", "text": "hi"}],
        "whenBusy": "steer",
        "clientMessageId": "m1",
    }


def test_unknown_fields_are_ignored_unless_forbidden() -> None:
    value = {"content": [{"type": "text", "text": "hi", "colour": "red"}], "later": 1}
    assert check(PromptParams, value).dump()["content"] == [{"type": "text", "text": "hi"}]
    with pytest.raises(ValidationError) as caught:
        check(PromptParams, value, forbid_unknown=True)
    assert len(caught.value.errors()) == 2


def test_inner_names_are_unknown_outside() -> None:
    with pytest.raises(ValidationError):
        check(PromptParams, {"content": "hi", "when_busy": "steer"}, forbid_unknown=True)


@pytest.mark.parametrize("method", ALL.values(), ids=lambda m: m.name)
def test_meta_is_welcome_everywhere(method: Method) -> None:
    with pytest.raises(ValidationError) as caught:
        check(method.params, {"_meta": {"traceparent": "00-1"}, "x": 1}, forbid_unknown=True)
    wrong = [e["loc"] for e in caught.value.errors() if e["type"] == "extra_forbidden"]
    assert wrong == [("x",)]


def test_no_params_are_an_empty_object() -> None:
    assert check(OpenParams, None) == OpenParams()
    assert OpenParams().history.limit == 100


def test_a_required_field_may_be_null_and_is_then_written() -> None:
    assert SessionName(name=None).dump() == {"name": None}


def test_an_optional_field_is_left_out_while_it_is_none() -> None:
    event = ToolEvent(type="tool", tool_call_id="c1", status="running")
    assert event.dump() == {"type": "tool", "toolCallId": "c1", "status": "running"}


def test_nested_shapes_follow_the_same_rule() -> None:
    item = QueueItem(queue_id="q1", kind="steer", content=[])
    assert item.dump() == {"queueId": "q1", "kind": "steer", "content": [], "paused": False}


def test_words_of_python_keep_their_names_outside() -> None:
    assert check(WaitParams, {"for": "idle"}).dump() == {"for": "idle"}
    delta = check(
        DeltaParams,
        {
            "sessionId": "s",
            "after": 3,
            "itemId": "e1",
            "kind": "text",
            "part": 0,
            "from": 0,
            "to": 2,
            "text": "hi",
        },
    )
    assert (delta.from_, delta.to) == (0, 2)
    assert delta.dump()["from"] == 0


@pytest.mark.parametrize("limit", [0, 1001])
def test_pages_have_limits(limit: int) -> None:
    with pytest.raises(ValidationError):
        check(EntriesParams, {"limit": limit})


def test_a_client_may_declare_nothing() -> None:
    agent = check(ClientAgent, {})
    assert agent.protocol_versions == [1]
    assert agent.events.max_latency_ms == 33
    assert agent.permissions is None


def test_a_client_may_declare_everything() -> None:
    value = {
        "protocolVersions": [1],
        "clientId": "nvim-1",
        "events": {"delta": True, "maxLatencyMs": 16, "kinds": ["entry"]},
        "permissions": {},
        "ui": {"dialogs": ["select", "form"], "status": {}, "widgets": {}, "notify": {}},
        "editor": {"applyEdit": "all", "read": {}, "save": {}},
        "experimental": True,
    }
    agent = check(ClientAgent, value, forbid_unknown=True)
    assert agent.permissions is not None
    assert agent.editor.apply_edit == "all"


def test_what_a_client_may_declare_is_read() -> None:
    room = Path(protocol.__file__).parents[1]
    text = "\n".join(
        module.read_text("utf-8")
        for module in room.rglob("*.py")
        if module.parent.name not in ("protocol", "described")
    )
    for shape in (ClientAgent, ClientEvents, ClientUi, ClientEditor):
        names = [str(field.alias) for field in shape.model_fields.values()]
        assert [name for name in names if f'"{name}"' not in text] == []


def test_no_common_version_is_told() -> None:
    fields = ServerAgent.model_fields
    assert fields["protocol_version"].is_required()


def test_importing_the_contract_brings_no_editor_library() -> None:
    code = (
        "import sys; from singletree.rpc.protocol import methods; methods();"
        "print([m for m in ('pygls', 'lsprotocol', 'asyncio', 'httpx') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_topic_is_imported_when_it_is_asked_for() -> None:
    code = (
        "import sys; from singletree.rpc.protocol import find; find('agent/session/open');"
        "print('singletree.rpc.protocol.events' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
