"""What is wrong with a call's arguments, in words that a model can act on.

One line for each problem: where (a JSON pointer), the rule with its name, what was given. Pure.
Read next: schema.py (where problems come from), ../tool.py (who tells them).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import JsonValue, ValidationError

from singletree.agent.arguments.schema import Problem, pointer

DO_NOT_FIT = "Not run: the arguments of this call to {name} do not fit.\n{lines}\n{advice}"
ADVICE = "Send the call again with this put right."
MORE = "- and {count} more"
WHOLE = "(all arguments)"
SEVERAL = "must fit exactly one of the allowed forms and fits several"

SHOWN = 12
GIVEN_LIMIT = 120

_WORDS = {
    "type": "must be of type {limit}",
    "required": "is required and was not given",
    "dependentRequired": "is required together with {limit} and was not given",
    "enum": "must be one of {limit}",
    "const": "must be {limit}",
    "false": "is not taken",
    "additionalProperties": "is not taken",
    "$ref": "has a type that this tool does not define ({limit})",
    "pattern": "must match the pattern {limit}",
    "format": "must have the format {limit}",
    "minimum": "must be at least {limit}",
    "maximum": "must be at most {limit}",
    "exclusiveMinimum": "must be greater than {limit}",
    "exclusiveMaximum": "must be less than {limit}",
    "multipleOf": "must be a multiple of {limit}",
    "minLength": "must have at least {limit} characters",
    "maxLength": "must have at most {limit} characters",
    "minItems": "must have at least {limit} items",
    "maxItems": "must have at most {limit} items",
    "minProperties": "must have at least {limit} properties",
    "maxProperties": "must have at most {limit} properties",
    "uniqueItems": "must not hold the same item twice",
    "contains": "must hold an item like {limit}",
    "anyOf": "must be one of {limit}",
    "oneOf": "must be one of {limit}",
    "propertyNames": "is no name that is taken",
    "not": "must not be like {limit}",
}


def explain(name: str, problems: Sequence[Problem]) -> str:
    """The whole text for a call to the tool of this name."""
    lines = [f"- {_line(problem)}" for problem in problems[:SHOWN]]
    if len(problems) > SHOWN:
        lines.append(MORE.format(count=len(problems) - SHOWN))
    return DO_NOT_FIT.format(name=name, lines="\n".join(lines), advice=ADVICE)


def as_problems(error: ValidationError) -> list[Problem]:
    """The problems a tool's own type has beyond its schema."""
    found: list[Problem] = []
    for detail in error.errors(include_url=False):
        path = ""
        for part in detail["loc"]:
            path = pointer(path, part)
        given: JsonValue = _plain(detail["input"])
        found.append(Problem(path, "", detail["msg"].removeprefix("Value error, "), given))
    return found


def _line(problem: Problem) -> str:
    limit = problem.limit
    if problem.keyword == "type" and isinstance(limit, list):
        told = " or ".join(str(name) for name in limit)
    elif isinstance(limit, str):
        told = limit
    else:
        told = _short(limit)
    form = SEVERAL if problem.keyword == "oneOf" and limit is None else _WORDS.get(problem.keyword)
    words = (form or "{limit}").format(limit=told)
    rule = f" ({problem.keyword})" if problem.keyword else ""
    return f"{problem.path or WHOLE}: {words}{rule}; {_given(problem)}"


def _given(problem: Problem) -> str:
    if problem.keyword in ("required", "dependentRequired") and isinstance(problem.given, list):
        names = ", ".join(str(name) for name in problem.given)
        return f"given here: {_cut(names)}" if names else "nothing was given here"
    return f"given: {_short(problem.given)}"


def _short(value: JsonValue) -> str:
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    if len(text) <= GIVEN_LIMIT:
        return text
    return f"{text[:GIVEN_LIMIT]}… ({len(text)} characters)"


def _plain(value: object) -> JsonValue:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value)
