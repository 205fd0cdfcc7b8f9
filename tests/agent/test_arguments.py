"""Arguments of calls: small mistakes put right, the rest explained so that a model can act."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator
from pydantic.alias_generators import to_camel

from singletree.agent.arguments.mistakes import GIVEN_LIMIT
from singletree.agent.arguments.repair import number_text, repaired
from singletree.agent.arguments.rules import same
from singletree.agent.arguments.schema import problems
from singletree.agent.tool import AnyArgs, Args, Tool, ToolOutput, parse_args
from singletree.errors import ToolError
from singletree.messages import ToolCall


class Swap(Args):
    """One change."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
    old_text: str
    new_text: str


class ChangeArgs(Args):
    """Arguments of a tool as real ones are."""

    path: str = Field(description="the file")
    edits: list[Swap] = Field(default_factory=list)
    limit: int | None = Field(None, ge=1)
    mode: Literal["fast", "slow"] = "fast"
    deep: bool = False

    @field_validator("path")
    @classmethod
    def _no_nul(cls, path: str) -> str:
        if "\0" in path:
            raise ValueError("a path holds no NUL")
        return path


SQUARE: JsonValue = {"properties": {"kind": {"const": "square"}, "side": {"type": "number"}}}
DOT: JsonValue = {"properties": {"kind": {"const": "dot"}}, "required": ["kind"]}
NAMED: JsonValue = {"properties": {"a": {}, "b": {}, "c": {}}, "required": ["c"]}
B_LACKS = [("/c", "required")]


async def _run(args: BaseModel, tool_run: object) -> ToolOutput:
    return ToolOutput.text("")


CHANGE = Tool("change", "Change", "edit", "Changes a file.", ChangeArgs, _run)


def parsed(**arguments: JsonValue) -> ChangeArgs:
    args = parse_args(CHANGE, ToolCall(id="c1", name="change", arguments=arguments))
    assert isinstance(args, ChangeArgs)
    return args


def refused(tool: Tool = CHANGE, /, **arguments: JsonValue) -> str:
    with pytest.raises(ToolError) as caught:
        parse_args(tool, ToolCall(id="c1", name=tool.name, arguments=arguments))
    return caught.value.message


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"limit": "42"}, {"limit": 42}),
        ({"limit": " 7 "}, {"limit": 7}),
        ({"limit": None}, {}),
        ({"limit": 4.0}, {"limit": 4}),
        ({"deep": "true"}, {"deep": True}),
        ({"deep": 0}, {"deep": False}),
        ({"limit": "0x10"}, {"limit": 16}),
        ({"mode": None}, {}),
        ({"edits": {"oldText": "a", "newText": "b"}}, {"edits": [("a", "b")]}),
        ({"edits": '[{"oldText": "a", "newText": "b"}]'}, {"edits": [("a", "b")]}),
        ({"edits": ['{"oldText": "a", "newText": "b"}']}, {"edits": [("a", "b")]}),
        ({"edits": [{"oldText": 1, "newText": True}]}, {"edits": [("1", "true")]}),
        ({"edits": None, "unknown": [1]}, {}),
    ],
)
def test_small_mistakes_are_put_right(
    arguments: dict[str, JsonValue], expected: Mapping[str, object]
) -> None:
    args = parsed(path="a.txt", **arguments)
    edits = [(swap.old_text, swap.new_text) for swap in args.edits]
    found: dict[str, object] = {
        "limit": args.limit,
        "mode": args.mode,
        "deep": args.deep,
        "edits": edits,
    }
    plain: dict[str, object] = {"limit": None, "mode": "fast", "deep": False, "edits": []}
    assert found == {**plain, **expected}


@pytest.mark.parametrize(
    ("option", "given", "meant"),
    [
        (5, "5", True),
        (True, " True ", True),
        ("5", 5, True),
        ("1.5", 1.5, True),
        ("true", True, True),
        (1, True, False),
        ("a", "A", False),
        (None, "null", False),
    ],
)
def test_an_allowed_value_is_known_by_its_text(
    option: JsonValue, given: JsonValue, meant: bool
) -> None:
    assert same(repaired({"enum": ["other", option]}, given), option if meant else given)
    assert same(repaired({"const": option}, given), option if meant else given)


@pytest.mark.parametrize("name", ["integer", "number", "boolean", "array"])
def test_an_empty_text_is_nothing_where_nothing_is_allowed(name: str) -> None:
    assert repaired({"type": [name, "null"]}, "") is None
    assert repaired({"type": ["string", "null"]}, "") == ""


def test_a_missing_argument_is_named_with_what_was_given() -> None:
    assert refused(file="a.txt", limit=3) == (
        "Not run: the arguments of this call to change do not fit.\n"
        "- /path: is required and was not given (required); given here: file, limit\n"
        "Send the call again with this put right."
    )


def test_nothing_given_is_said_so() -> None:
    assert "- /path: is required and was not given (required); nothing was given here" in refused()


def test_each_wrong_place_has_its_own_line() -> None:
    text = refused(
        path=["a.txt"],
        edits=[{"oldText": "a"}, {"oldText": {}, "newText": "b"}],
        limit=0,
        mode="quick",
        deep="perhaps",
    )
    assert text.splitlines()[1:-1] == [
        '- /path: must be of type string (type); given: ["a.txt"]',
        "- /edits/0/newText: is required and was not given (required); given here: oldText",
        "- /edits/1/oldText: must be of type string (type); given: {}",
        "- /limit: must be at least 1 (minimum); given: 0",
        '- /mode: must be one of ["fast", "slow"] (enum); given: "quick"',
        '- /deep: must be of type boolean (type); given: "perhaps"',
    ]


def test_a_rule_of_the_tools_own_type_is_told_too() -> None:
    assert '- /path: a path holds no NUL; given: "a\\u0000b"' in refused(path="a\0b")


def test_long_values_and_many_problems_are_cut() -> None:
    text = refused(path=["x" * 5_000])
    assert "… (5004 characters)" in text
    assert len(text) < GIVEN_LIMIT + 250
    many: list[JsonValue] = [{} for _ in range(20)]
    text = refused(path="a", edits=many)
    assert text.splitlines()[-2] == "- and 28 more"


def test_unreadable_arguments_are_not_guessed() -> None:
    call = ToolCall(id="c", name="change", arguments={"path": "a"}, arguments_error="cut short")
    with pytest.raises(
        ToolError, match=r"this call to change could not be read\. cut short\. Send"
    ):
        parse_args(CHANGE, call)


def test_a_tool_may_shape_what_it_gets_first() -> None:
    def prepare(raw: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        return {"path": raw.get("file_path", raw.get("path")), "limit": raw.get("limit")}

    tool = Tool("change", "", "edit", "", ChangeArgs, _run, prepare=prepare)
    args = parse_args(tool, ToolCall(id="c", name="change", arguments={"file_path": "a"}))
    assert isinstance(args, ChangeArgs)
    assert args.path == "a"


def test_a_schema_of_its_own_is_what_an_extensions_tool_is_checked_by() -> None:
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"n": {"type": "integer", "maximum": 3}, "who": {"$ref": "#/$defs/name"}},
        "required": ["n"],
        "$defs": {"name": {"type": "string", "minLength": 2}},
    }
    tool = Tool("count", "", "other", "", AnyArgs, _run, schema=schema)
    args = parse_args(tool, ToolCall(id="c", name="count", arguments={"n": "2", "more": [1]}))
    assert isinstance(args, AnyArgs)
    assert args.values() == {"n": 2, "more": [1]}
    assert tool.spec.schema == schema
    assert "- /who: must have at least 2 characters (minLength)" in refused(tool, n=1, who="x")
    assert "- /n: must be at most 3 (maximum); given: 9" in refused(tool, n=9)


def test_what_a_model_is_told_has_no_idle_words() -> None:
    text = json.dumps(CHANGE.spec.schema)
    assert '"title"' not in text
    assert '"description": "the file"' in text


def test_a_property_may_be_called_title() -> None:
    class Titled(Args):
        title: str

    tool = Tool("t", "", "other", "", Titled, _run)
    assert tool.spec.schema["properties"] == {"title": {"type": "string"}}


@pytest.mark.parametrize(
    ("schema", "value", "places"),
    [
        ({"type": "integer"}, 3.5, [("", "type")]),
        ({"type": "integer"}, True, [("", "type")]),
        ({"enum": [1]}, True, [("", "enum")]),
        ({"const": 1.0}, 1, []),
        ({"items": False}, [1], [("/0", "false")]),
        ({"additionalProperties": False}, {"a/b": 1}, [("/a~1b", "additionalProperties")]),
        ({"properties": {"a~b": False}}, {"a~b": 1}, [("/a~0b", "false")]),
        ({"contains": {"type": "string"}}, [1], [("", "contains")]),
        ({"contains": {"type": "string"}, "minContains": 2}, ["a", "b"], []),
        ({"if": {"type": "string"}, "then": {"minLength": 2}}, "a", [("", "minLength")]),
        ({"if": {"type": "string"}, "else": {"minimum": 2}}, 1, [("", "minimum")]),
        ({"allOf": [{"minimum": 2}, {"multipleOf": 2}]}, 1, [("", "minimum"), ("", "multipleOf")]),
        ({"oneOf": [{"type": "string"}, {"type": "number"}]}, [], [("", "type")]),
        (
            {"exclusiveMinimum": 1, "exclusiveMaximum": 1},
            1,
            [("", "exclusiveMinimum"), ("", "exclusiveMaximum")],
        ),
        ({"multipleOf": 0.01}, 19.99, []),
        ({"multipleOf": 0}, 1, []),
        ({"multipleOf": 1e-300}, 1e300, []),
        ({"pattern": "("}, "x", []),
        ({"pattern": "^a$"}, "a\n", [("", "pattern")]),
        ({"pattern": "^[\\d$]+$"}, "1$", []),
        ({"pattern": "^\\d\\D$"}, "1٢", []),
        ({"pattern": "^\\w$"}, "é", [("", "pattern")]),
        ({"pattern": "^\\/[[\\w]$"}, "/[", []),
        ({"pattern": "^(?<q>['\"]).*\\k<q>$"}, "'a'", []),
        ({"pattern": "^(?<q>['\"]).*\\k<q>$"}, "'a\"", [("", "pattern")]),
        ({"items": [{"type": "string"}]}, ["a", 1], []),
        (
            {"items": [{"type": "string"}], "additionalItems": False},
            [1, 2],
            [("/0", "type"), ("/1", "false")],
        ),
        ({"propertyNames": {"pattern": "^a"}}, {"a": 1, "b": 1}, [("/b", "propertyNames")]),
        ({"dependencies": {"a": ["b"]}}, {"a": 1}, [("/b", "dependentRequired")]),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}, [("/b", "required")]),
        ({"anyOf": [SQUARE, DOT]}, {"side": "x"}, [("/kind", "anyOf")]),
        ({"oneOf": [SQUARE, DOT]}, {"kind": "square", "side": "x"}, [("/side", "type")]),
        ({"anyOf": [{"properties": {"a": {"type": "string"}}}, NAMED]}, {"a": 1, "b": 1}, B_LACKS),
        ({"type": "strange"}, 1, []),
        ({"$ref": "#/nowhere"}, 1, [("", "$ref")]),
        ({"$ref": "other.json"}, 1, [("", "$ref")]),
        ({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"type": "string"}}}, 1, [("", "type")]),
        ({"uniqueItems": True}, [{"a": 1}, {"a": True}], []),
        ({"uniqueItems": True}, [True, 1, ["bool", 1], "bool", [], {}, None, 0, False], []),
        ({"uniqueItems": True}, list(range(50_000)), []),
        ({"uniqueItems": True}, [[1, {"a": None}], [1.0, {"a": None}]], [("", "uniqueItems")]),
    ],
)
def test_rules(schema: JsonValue, value: JsonValue, places: list[tuple[str, str]]) -> None:
    assert [(p.path, p.keyword) for p in problems(schema, value)] == places


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("email", "a.b+c@d-e.cc", "a@b..c"),
        ("email", "a@localhost", "ü@b.de"),
        ("hostname", "a.b-c", "a_b.c"),
        ("hostname", "localhost", "-a"),
        ("uri", "file:///x", "no scheme"),
        ("uri", "x:", "http://a b"),
        ("uri-reference", "../a#b", "a b"),
        ("date", "2026-02-28", "2026-02-30"),
        ("time", "10:11:12Z", "10:11:12"),
        ("time", "23:59:60.5+02:00", "25:00:00Z"),
        ("date-time", "2026-02-28T10:11:12+00:00", "2026-02-28"),
        ("date-time", "2026-02-28t10:11:12z", "2026-02-28 10:11:12Z"),
        ("duration", "P1DT2H", "1d"),
        ("uuid", "01234567-89ab-cdef-0123-456789abcdef", "01234567"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("ipv6", "::1", "fe80::1%eth0"),
        ("json-pointer", "/a/~1", "/~2"),
        ("regex", "a+", "("),
    ],
)
def test_formats(name: str, good: str, bad: str) -> None:
    assert problems({"format": name}, good) == []
    assert [p.keyword for p in problems({"format": name}, bad)] == ["format"]


def test_a_schema_that_holds_itself_ends() -> None:
    tree: JsonValue = {"properties": {"in": {"$ref": "#"}, "n": {"type": "integer"}}}
    deep: JsonValue = {"n": "1"}
    for _ in range(20):
        deep = {"in": deep}
    mended = repaired(tree, deep)
    assert problems(tree, mended) == []
    loop: JsonValue = {"$ref": "#"}
    assert repaired(loop, 1) == 1
    assert problems(loop, 1) == []


def test_forms_inside_forms_are_tried_once_each() -> None:
    inner: JsonValue = {"type": "object", "properties": {"in": {"$ref": "#"}}}
    form: JsonValue = {"anyOf": [{"type": "string"}, inner]}
    deep: JsonValue = []
    for _ in range(20):
        deep = {"in": deep}
    assert repaired(form, deep) == deep
    shallow: JsonValue = {"in": {"in": []}}
    assert [(p.path, p.keyword) for p in problems(form, shallow)] == [("/in/in", "type")]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (4.0, "4"),
        (-0.5, "-0.5"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e-7, "1.5e-7"),
        (0.00001, "0.00001"),
        (10**30, "1e+30"),
    ],
)
def test_numbers_become_text_as_models_know_it(number: float, text: str) -> None:
    assert number_text(number) == text


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from([0.5, 1e21])
    | st.text('a1{}[]" ', max_size=4)
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from("xyz"), below),
    max_leaves=6,
)
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "null", "array", "object"])
SCHEMAS: st.SearchStrategy[JsonValue] = st.recursive(
    st.booleans()
    | st.builds(lambda name: {"type": name}, TYPES)
    | st.builds(lambda names: {"type": names}, st.lists(TYPES, min_size=1, max_size=2))
    | st.builds(lambda options: {"enum": options}, st.lists(SCALARS, min_size=1, max_size=3)),
    lambda below: (
        st.builds(
            lambda parts, required: {"type": "object", "properties": parts, "required": required},
            st.dictionaries(st.sampled_from("xyz"), below, max_size=3),
            st.lists(st.sampled_from("xyz"), max_size=2, unique=True),
        )
        | st.builds(lambda item: {"type": "array", "items": item}, below)
        | st.builds(lambda parts: {"anyOf": parts}, st.lists(below, min_size=1, max_size=3))
    ),
    max_leaves=5,
)


@given(schema=SCHEMAS, value=VALUES)
def test_repairing_helps_or_changes_nothing(schema: JsonValue, value: JsonValue) -> None:
    before = copy.deepcopy(value)
    wrong = problems(schema, value)
    mended = repaired(schema, value)
    assert same(value, before)
    if not wrong:
        assert same(mended, value)
    assert same(repaired(schema, mended), mended)
