"""Validation of tool arguments against what was measured: values after repair, places and rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue
from tests.vectors.runner import Case, Check, run

from singletree.agent.arguments.repair import repaired
from singletree.agent.arguments.rules import same
from singletree.agent.arguments.schema import problems
from singletree.agent.tool import AnyArgs, Tool, ToolOutput, parse_args
from singletree.errors import ToolError
from singletree.messages import ToolCall

FAMILY = "validation"


def outcome(schema: JsonValue, value: JsonValue) -> dict[str, JsonValue]:
    """What we make of a value, in the vectors' form."""
    mended = repaired(schema, value)
    wrong = problems(schema, mended)
    if wrong:
        return {"ok": False, "errors": [{"path": p.path, "keyword": p.keyword} for p in wrong]}
    return {"ok": True, "value": mended}


def alike(got: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Same value, or the same places and rules: in any order, each once."""
    if got["ok"] or expected["ok"]:
        return same(got, expected)
    one, other = ({(e["path"], e["keyword"]) for e in side["errors"]} for side in (got, expected))
    return one == other


def type_grid(case: Case) -> None:
    for index, given in enumerate(case.input["values"]):
        if given["key"] in case.suspect_keys:
            continue
        for need in ("required", "optional"):
            schema: JsonValue = {
                "type": "object",
                "properties": {"x": case.input["property_schema"]},
                "required": ["x"] if need == "required" else [],
            }
            got = outcome(schema, {"x": given["value"]})
            expected = case.expected[need][index]
            assert alike(got, expected), f"{need} {given['key']}: {got}, expected {expected}"


async def _run(args: object, tool_run: object) -> ToolOutput:
    return ToolOutput.text("")


def whole(case: Case) -> None:
    schema, value = case.input["schema"], case.input["arguments"]
    if "argumentsError" in case.input:
        tool = Tool("t", "t", "other", "", AnyArgs, _run, schema=schema)
        call = ToolCall(
            id="c", name="t", arguments=value, arguments_error=case.input["argumentsError"]
        )
        try:
            parse_args(tool, call)
        except ToolError:
            assert case.expected == {"ok": False, "arguments_error": True}
            return
        raise AssertionError("unreadable arguments were taken")
    got = outcome(schema, value)
    assert alike(got, case.expected), f"{got}, expected {case.expected}"


CHECKS: Mapping[str, Check] = {"type_grid": type_grid, "object": whole, "builtin_tool": whole}


def test_validation() -> None:
    failed = run(FAMILY, CHECKS)
    assert failed == [], "\n".join(failed[:20])
