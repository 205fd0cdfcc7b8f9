"""Schemas as a model sees them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from singletree.agent.arguments.plain import plain_schema


class Inner(BaseModel):
    """Not for the model."""

    title: str = Field(description="a property may be called title")
    kind: Literal["a", "b"] = "a"


class Outer(BaseModel):
    """Not for the model."""

    inner: list[Inner] = Field(description="many")
    one: Inner = Field(description="just one")
    count: int | None = Field(default=None, description="how many")
    either: int | str | None = None
    size: int = 5


class Node(BaseModel):
    """A tree."""

    children: list[Node] = []


def test_a_schema_has_what_a_model_needs_and_no_more() -> None:
    inner = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "a property may be called title"},
            "kind": {"type": "string", "enum": ["a", "b"], "default": "a"},
        },
        "required": ["title"],
    }
    assert plain_schema(Outer) == {
        "type": "object",
        "properties": {
            "inner": {"type": "array", "items": inner, "description": "many"},
            "one": {**inner, "description": "just one"},
            "count": {"type": "integer", "description": "how many"},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
            "size": {"type": "integer", "default": 5},
        },
        "required": ["inner", "one"],
    }


def test_a_model_that_contains_itself_ends() -> None:
    assert plain_schema(Node) == {
        "type": "object",
        "properties": {"children": {"type": "array", "default": [], "items": {}}},
    }
