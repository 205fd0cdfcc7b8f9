"""What is made from the contract is up to date, and what is written about it by hand is true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from lsprotocol import converters, types
from pydantic import JsonValue
from tests.rpc.contract import fits, wrong

from singletree.host.options import Options
from singletree.rpc import describe
from singletree.rpc.daemon import Daemon
from singletree.rpc.declared import declare
from singletree.rpc.described.markdown import MARK, blocks
from singletree.rpc.described.shapes import Alias, Record, definitions, served
from singletree.rpc.described.types import Exactly, Many, Map, Named, OneOf, Plain, Type, read
from singletree.rpc.described.typescript import show
from singletree.rpc.protocol import check, find, methods
from singletree.rpc.protocol.capabilities import ClientAgent, ServerAgent
from singletree.rpc.protocol.errors import CODES, NUMBERS, ErrorData
from singletree.rpc.server import Topics

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "protocol.md").read_text("utf-8")
SCHEMA = json.loads(describe.schema())
EXAMPLES = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)]
ASKED = {e["id"]: e["method"] for e in EXAMPLES if "id" in e and "method" in e}
LATER = [m.name for m in methods().values() if not m.served]
HOW = "run: python -m singletree.rpc.describe --refresh"


@pytest.mark.parametrize("home", describe.HOMES)
def test_made_files_are_up_to_date(home: str) -> None:
    assert (ROOT / home).read_text("utf-8") == describe.HOMES[home](), HOW


def test_the_made_parts_of_the_document_are_up_to_date() -> None:
    assert describe.fill(DOCUMENT) == DOCUMENT, HOW


def test_the_document_shows_every_made_part_once() -> None:
    shown = [found["name"] for found in MARK.finditer(DOCUMENT)]
    assert sorted(shown) == sorted(blocks())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: str(e.get("method", "answer")))
def test_every_example_is_valid(example: dict[str, JsonValue]) -> None:
    assert example["jsonrpc"] == "2.0"
    if "error" in example:
        valid_error(example["error"])
    elif "result" in example:
        valid_result(ASKED[example["id"]], example["result"])
    else:
        valid_params(str(example["method"]), example)


def valid_params(name: str, message: dict[str, JsonValue]) -> None:
    params = message["params"]
    assert isinstance(params, dict)
    method = find(name)
    if method is not None:
        assert method.served
        assert ("id" in message) == (method.kind == "request")
        check(method.params, params, forbid_unknown=True)
        fits(method.params.__name__, params)
        return
    converters.get_converter().structure(message, types.METHOD_TO_TYPES[name][0])
    if isinstance(options := params.get("initializationOptions"), dict):
        agent = options["agent"]
        assert isinstance(agent, dict)
        check(ClientAgent, agent, forbid_unknown=True)
        fits("ClientAgent", agent)


def valid_result(name: str, result: JsonValue) -> None:
    assert isinstance(result, dict)
    method = find(name)
    if method is not None:
        assert method.result is not None
        check(method.result, result, forbid_unknown=True)
        fits(method.result.__name__, result)
        return
    assert name == "initialize"
    told = converters.get_converter().structure(result, types.InitializeResult)
    experimental = told.capabilities.experimental
    assert experimental is not None
    agent = experimental["agent"]
    check(ServerAgent, agent, forbid_unknown=True)
    fits("ServerAgent", agent)


def test_what_initialize_declares_is_of_the_contract() -> None:
    agent = {"protocolVersion": 1, "supported": [1], **declare()}
    check(ServerAgent, agent, forbid_unknown=True)
    fits("ServerAgent", json.loads(json.dumps(agent)))
    filters = {d.name: d for d in definitions()}["TreeFilter"]
    assert isinstance(filters, Alias)
    told = agent["tree"]
    assert isinstance(told, dict)
    assert Exactly(tuple(told["filters"])) == filters.type


def test_what_is_served_is_what_has_a_handler() -> None:
    asked = {m.name: m.params for m in served() if m.direction == "clientToServer"}
    daemon = Daemon(Options(agent_dir=ROOT, environment={}))
    own = {name: route for name, route in Topics(daemon).items() if name.startswith("agent/")}
    assert {name: route.params for name, route in own.items()} == asked


def test_what_the_daemon_says_by_itself_is_said_somewhere() -> None:
    said = {m.name: m.served for m in methods().values() if m.direction == "serverToClient"}
    written = "".join(
        path.read_text("utf-8")
        for path in (ROOT / "daemon/singletree/rpc").rglob("*.py")
        if path.name != "published.py" and path.parent.name not in ("protocol", "described")
    )
    assert {name: name in written for name in said} == said


def valid_error(error: JsonValue) -> None:
    assert isinstance(error, dict)
    assert error["code"] in NUMBERS
    data = error["data"]
    assert isinstance(data, dict)
    assert check(ErrorData, data, forbid_unknown=True).code in {*CODES, None}
    fits("ErrorData", data)


def test_there_are_examples_of_each_kind() -> None:
    told = {e.get("method") for e in EXAMPLES}
    assert {"agent/prompt", "agent/event", "agent/delta", "agent/tree/navigate"} <= told
    assert len(EXAMPLES) >= 25


def test_the_document_names_all_methods_and_no_others() -> None:
    named = set(re.findall(r"`(agent/[a-zA-Z/]*[a-zA-Z])[ `{]", DOCUMENT))
    assert named == set(methods())


@pytest.mark.parametrize("name", LATER)
def test_what_is_not_served_stands_only_under_planned(name: str) -> None:
    before, _, after = DOCUMENT.partition("\n## Planned\n")
    assert f"`{name}`" not in before
    assert f"`{name}`" in after
    assert f'"{name}"' not in describe.typescript()
    assert f'"{name}"' not in describe.luacats()
    assert name not in SCHEMA["methods"]


def test_the_schema_refuses_what_does_not_fit() -> None:
    event: dict[str, JsonValue] = {
        "type": "leaf",
        "leafId": None,
        "treeVersion": 1,
        "cause": "append",
    }
    assert wrong("SessionEvent", event) == []
    assert wrong("SessionEvent", {**event, "cause": "wind"})
    assert wrong("SessionEvent", {**event, "other": 1})
    assert wrong("SessionEvent", {k: v for k, v in event.items() if k != "leafId"})
    assert wrong("EntriesParams", {"limit": 0})


def test_the_schema_points_nowhere_in_vain() -> None:
    named = set(re.findall(r'"#/\$defs/(\w+)"', describe.schema()))
    assert named == set(SCHEMA["$defs"])


def test_every_name_is_defined_once_and_before_the_languages_use_it() -> None:
    names = [d.name for d in definitions()]
    assert len(names) == len(set(names))
    made = describe.typescript()
    for definition in definitions():
        if isinstance(definition, Record):
            for parent in definition.parents:
                assert parent in names
    assert set(re.findall(r"\bsingletree\.([A-Z]\w+)", describe.luacats())) == {
        *names,
        "ErrorNumber",
    }
    assert all(re.search(rf"^export (interface|type) {n}\b", made, re.MULTILINE) for n in names)


def test_a_field_with_a_default_may_be_left_out_only_by_who_writes_it() -> None:
    fields = {
        (d.name, f.name): f.optional
        for d in definitions()
        if isinstance(d, Record)
        for f in d.fields
    }
    assert fields["PromptParams", "whenBusy"]
    assert fields["PermissionAnswer", "feedback"]
    assert not fields["AbortResult", "forced"]
    assert fields["AbortResult", "queue"]
    assert not fields["EntryBase", "parentId"]


def test_unions_of_texts_have_names() -> None:
    named = {d.name: d.type for d in definitions() if isinstance(d, Alias)}
    assert named["Phase"] == Exactly(
        ("idle", "running", "requires_action", "compacting", "retrying")
    )
    assert "phase: Phase;" in describe.typescript()
    assert "---@field phase singletree.Phase" in describe.luacats()


TYPES: list[tuple[object, Type, str]] = [
    (str, Plain("string"), "string"),
    (int | None, OneOf((Plain("integer"), Plain("null"))), "number | null"),
    (list[str], Many(Plain("string")), "string[]"),
    (list[str | None], Many(OneOf((Plain("string"), Plain("null")))), "(string | null)[]"),
    (dict[str, int], Map(Plain("integer")), "{ [key: string]: number }"),
    (dict[str, JsonValue], Plain("object"), "JsonObject"),
    (ClientAgent, Named("ClientAgent"), "ClientAgent"),
]


@pytest.mark.parametrize(("annotation", "tree", "shown"), TYPES, ids=lambda x: str(x)[:30])
def test_annotations_become_types(annotation: object, tree: Type, shown: str) -> None:
    assert read(annotation, (), {}) == tree
    assert show(tree) == shown


def test_an_annotation_without_a_word_is_an_error() -> None:
    with pytest.raises(TypeError):
        read(bytes, (), {})


def test_forms_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert describe.describe_main([]) == 0
    assert capsys.readouterr().out == describe.schema()
    assert describe.describe_main(["lua"]) == 0
    assert capsys.readouterr().out == describe.luacats()


def test_forms_are_written(tmp_path: Path) -> None:
    assert describe.describe_main(["--out", str(tmp_path / "made")]) == 0
    assert {p.name for p in (tmp_path / "made").iterdir()} == {
        "protocol.schema.json",
        "protocol.tables.md",
        "protocol.ts",
        "protocol.lua",
    }
    assert describe.describe_main(["typescript", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "protocol.ts").read_text("utf-8") == describe.typescript()


def test_a_checkout_is_made_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marks = "before\n<!-- made: planned -->\nold\n<!-- end -->\nafter\n"
    (tmp_path / "protocol.md").write_text(marks)
    assert describe.describe_main(["--refresh", str(tmp_path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(describe.HOMES) + 1
    text = (tmp_path / "protocol.md").read_text()
    assert text.startswith("before\n<!-- made: planned -->\n")
    assert text.endswith("<!-- end -->\nafter\n")
    assert "old" not in text
    assert describe.refresh(tmp_path) == []


@pytest.mark.parametrize("args", [["cobol"], ["lua", "schema"], ["--out"]])
def test_other_arguments_are_refused(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert describe.describe_main(args) == 2
    assert "usage" in capsys.readouterr().err
