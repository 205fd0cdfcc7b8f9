"""What a tool of an extension gives, made sure of: it goes to a model and into a session's file.

Read next: api.py (which lets every result through here).
"""

from __future__ import annotations

import json
from functools import lru_cache

from pydantic import JsonValue, TypeAdapter, ValidationError

from singletree.agent.tool import ToolOutput
from singletree.messages import Image, Text

NO_OUTPUT = "A tool gives a ToolOutput, not {kind}."
NO_CONTENT = "The content of a ToolOutput is a tuple of Text and Image."
NO_JSON = "The details of a ToolOutput are no JSON: {why}"


def checked_output(given: object) -> ToolOutput:
    """The same output; a TypeError that says what is wrong with it."""
    if not isinstance(given, ToolOutput):
        raise TypeError(NO_OUTPUT.format(kind=type(given).__name__))
    if not _is_content(given.content):
        raise TypeError(NO_CONTENT)
    try:
        json.dumps(given.details)
        _json().validate_python(given.details)
    except ValidationError as error:
        raise TypeError(NO_JSON.format(why=error.errors(include_url=False)[0]["msg"])) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(NO_JSON.format(why=error)) from None
    return given


def _is_content(content: object) -> bool:
    return isinstance(content, tuple | list) and all(isinstance(b, Text | Image) for b in content)


@lru_cache(maxsize=1)
def _json() -> TypeAdapter[JsonValue]:
    return TypeAdapter(JsonValue)
