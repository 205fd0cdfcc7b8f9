"""Does a JSON value fit a JSON schema? What does not is named by its place and the rule it broke.

The part of JSON Schema 2020-12 that tools use: types, objects, arrays, numbers, texts, enum and
const, allOf/anyOf/oneOf/not, if/then/else, local $ref. Rules it does not know are passed over.
Pure; knows no tool and changes nothing. Read next: rules.py, repair.py (what is put right before),
../tool.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import unquote

from pydantic import JsonValue

from singletree.agent.arguments.rules import RULES, identity, is_type, matches, same

Schema: TypeAlias = JsonValue
Fields: TypeAlias = Mapping[str, JsonValue]
DEPTH = 64
"""Deeper than this a value counts as fitting; real arguments never are."""


@dataclass(frozen=True, slots=True)
class Problem:
    """`path` is a JSON pointer, `keyword` the rule, `limit` what the rule says."""

    path: str
    keyword: str
    limit: JsonValue = None
    given: JsonValue = None


def problems(schema: Schema, value: JsonValue) -> list[Problem]:
    """All that does not fit, in the order of the value; the same thing once."""
    found: dict[tuple[str, str], Problem] = {}
    for problem in Checker(schema).check(schema, value, ""):
        found.setdefault((problem.path, problem.keyword), problem)
    return list(found.values())


def types_of(schema: Fields) -> list[JsonValue]:
    """The types a schema names; none: any."""
    names = schema.get("type")
    return names if isinstance(names, list) else [] if names is None else [names]


def pointer(path: str, part: str | int) -> str:
    """A JSON pointer one step deeper."""
    return f"{path}/{str(part).replace('~', '~0').replace('/', '~1')}"


class Checker:
    """Checks against schemas that may point into one root."""

    def __init__(self, root: Schema) -> None:
        self._root = root

    def fits(self, schema: Schema, value: JsonValue, depth: int = 0) -> bool:
        """Whether there is no problem."""
        return next(self.check(schema, value, "", depth), None) is None

    def resolve(self, ref: JsonValue) -> Schema:
        """What a local reference points to; None if there is nothing."""
        if not isinstance(ref, str) or not ref.startswith("#"):
            return None
        place: JsonValue = self._root
        for part in ref[1:].split("/")[1:]:
            part = unquote(part).replace("~1", "/").replace("~0", "~")
            if not isinstance(place, dict) or part not in place:
                return None
            place = place[part]
        return place

    def check(
        self, schema: Schema, value: JsonValue, path: str, depth: int = 0
    ) -> Iterator[Problem]:
        """The problems of a value at a place."""
        if schema is False:
            yield Problem(path, "false", given=value)
        if not isinstance(schema, dict) or depth > DEPTH:
            return
        if "$ref" in schema:
            target = self.resolve(schema["$ref"])
            if target is None:
                yield Problem(path, "$ref", schema["$ref"], value)
            else:
                yield from self.check(target, value, path, depth + 1)
        types = types_of(schema)
        if types and not any(is_type(value, name) for name in types):
            yield Problem(path, "type", schema["type"], value)
            return
        yield from _plain(schema, value, path)
        yield from self._combined(schema, value, path, depth + 1)
        if isinstance(value, dict):
            yield from self._object(schema, value, path, depth + 1)
        if isinstance(value, list):
            yield from self._array(schema, value, path, depth + 1)

    def _combined(
        self, schema: Fields, value: JsonValue, path: str, depth: int
    ) -> Iterator[Problem]:
        for part in _schemas(schema, "allOf"):
            yield from self.check(part, value, path, depth)
        for keyword in ("anyOf", "oneOf"):
            forms = _schemas(schema, keyword)
            told = [list(self.check(form, value, path, depth)) for form in forms]
            fitting = sum(not own for own in told)
            if keyword == "oneOf" and fitting > 1:
                yield Problem(path, "oneOf", given=value)
            if forms and not fitting:
                yield from _meant(keyword, list(map(self._known, forms)), told, value, path)
        if "not" in schema and self.fits(schema["not"], value, depth):
            yield Problem(path, "not", schema["not"], value)
        if "if" in schema:
            branch = "then" if self.fits(schema["if"], value, depth) else "else"
            yield from self.check(schema.get(branch, True), value, path, depth)

    def _known(self, form: Schema) -> Fields:
        """The properties that a form, or what it refers to, describes."""
        if isinstance(form, dict) and "$ref" in form:
            form = self.resolve(form["$ref"])
        return _mapping(_mapping(form).get("properties"))

    def _object(self, schema: Fields, value: Fields, path: str, depth: int) -> Iterator[Problem]:
        for name in _names(schema.get("required")):
            if name not in value:
                yield Problem(pointer(path, name), "required", given=list(value))
        yield from self._dependent(schema, value, path, depth)
        for name, inner in value.items():
            if not self.fits(schema.get("propertyNames", True), name, depth):
                yield Problem(pointer(path, name), "propertyNames", given=name)
            for part in self.parts_of(schema, name):
                keyword = "additionalProperties" if part is False else ""
                if keyword and name not in _mapping(schema.get("properties")):
                    yield Problem(pointer(path, name), keyword, given=inner)
                else:
                    yield from self.check(part, inner, pointer(path, name), depth)

    def _dependent(self, schema: Fields, value: Fields, path: str, depth: int) -> Iterator[Problem]:
        """What holds only where another property is given."""
        for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
            for name, needs in _mapping(schema.get(keyword)).items():
                if name not in value:
                    continue
                if not isinstance(needs, list):
                    yield from self.check(needs, dict(value), path, depth)
                for other in _names(needs):
                    if other not in value:
                        yield Problem(pointer(path, other), "dependentRequired", name, list(value))

    def parts_of(self, schema: Fields, name: str) -> list[Schema]:
        """The schemas that hold for a property."""
        known = _mapping(schema.get("properties"))
        found = [known[name]] if name in known else []
        for pattern, part in _mapping(schema.get("patternProperties")).items():
            if matches(pattern, name):
                found.append(part)
        if not found and "additionalProperties" in schema:
            found.append(schema["additionalProperties"])
        return found

    def _array(
        self, schema: Fields, value: list[JsonValue], path: str, depth: int
    ) -> Iterator[Problem]:
        for index, inner in enumerate(value):
            yield from self.check(item_schema(schema, index), inner, pointer(path, index), depth)
        if schema.get("uniqueItems") is True and _repeats(value):
            yield Problem(path, "uniqueItems", given=value)
        if "contains" in schema:
            count = sum(self.fits(schema["contains"], inner, depth) for inner in value)
            if count < _number(schema.get("minContains"), 1):
                yield Problem(path, "contains", schema["contains"], value)


def _meant(
    keyword: str,
    known: list[Fields],
    told: list[list[Problem]],
    value: JsonValue,
    path: str,
) -> list[Problem]:
    """The problems with that of several forms for which the value was most likely meant.

    The one whose tag it has (a property with another constant in each form), else the one that
    knows most of its properties, and among those where its first problem lies deepest.
    """
    names = _mapping(value)
    for tag in known[0] if isinstance(value, dict) else ():
        options = [_mapping(own.get(tag)).get("const") for own in known]
        if None not in options and not _repeats(options):
            for option, problems in zip(options, told, strict=True):
                if same(names.get(tag), option):
                    return problems
            return [Problem(pointer(path, tag), keyword, options, names.get(tag))]
    best = max(
        range(len(told)),
        key=lambda at: (len(names.keys() & known[at].keys()), len(told[at][0].path)),
    )
    return told[best]


def item_schema(schema: Fields, index: int) -> Schema:
    """The schema of the item at an index."""
    older = isinstance(schema.get("items"), list)
    first = _schemas(schema, "items" if older else "prefixItems")
    rest = schema.get("additionalItems" if older else "items", True)
    return first[index] if index < len(first) else rest


def _plain(schema: Fields, value: JsonValue, path: str) -> Iterator[Problem]:
    """The rules that look at a value as a whole."""
    options = schema.get("enum")
    if isinstance(options, list) and not any(same(value, option) for option in options):
        yield Problem(path, "enum", options, value)
    if "const" in schema and not same(value, schema["const"]):
        yield Problem(path, "const", schema["const"], value)
    for keyword, broken in RULES.items():
        limit = schema.get(keyword)
        if limit is not None and broken(value, limit):
            yield Problem(path, keyword, limit, value)


def _schemas(schema: Fields, keyword: str) -> list[Schema]:
    parts = schema.get(keyword)
    return parts if isinstance(parts, list) else []


def _mapping(value: JsonValue) -> Fields:
    return value if isinstance(value, dict) else {}


def _names(value: JsonValue) -> list[str]:
    return [n for n in value if isinstance(n, str)] if isinstance(value, list) else []


def _number(value: JsonValue, default: float) -> float:
    return value if isinstance(value, int | float) else default


def _repeats(value: list[JsonValue]) -> bool:
    return len(set(map(identity, value))) < len(value)
