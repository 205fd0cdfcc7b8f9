"""The tools as a model is told of them."""

from __future__ import annotations

from pathlib import Path

from tests.tools.worlds import world_of

from singletree.tools.kit import default_tools


def test_all_tools_in_their_order(tmp_path: Path) -> None:
    tools = default_tools(world_of(tmp_path))
    assert [tool.name for tool in tools] == [
        "read",
        "bash",
        "edit",
        "write",
        "grep",
        "find",
        "ls",
    ]
    assert [tool.kind for tool in tools] == [
        "read",
        "execute",
        "edit",
        "edit",
        "search",
        "search",
        "search",
    ]


def test_only_the_named_ones(tmp_path: Path) -> None:
    tools = default_tools(world_of(tmp_path), {"ls", "read", "nobody"})
    assert [tool.name for tool in tools] == ["read", "ls"]


def test_every_tool_says_what_it_is_in_few_words(tmp_path: Path) -> None:
    for tool in default_tools(world_of(tmp_path)):
        assert tool.label and tool.snippet and not tool.snippet.endswith(".")
        assert 20 < len(tool.description) < 500
        properties = tool.spec.schema["properties"]
        assert isinstance(properties, dict) and properties
        for about in properties.values():
            assert isinstance(about, dict) and "type" in about and "description" in about, tool.name


def test_the_schemas_of_the_file_tools_are_plain(tmp_path: Path) -> None:
    read, edit = default_tools(world_of(tmp_path), ("read", "edit"))
    assert read.spec.schema == {
        "properties": {
            "path": {
                "description": "The file: relative to the workspace, or absolute",
                "type": "string",
            },
            "offset": {
                "description": "First line to read, counted from 1",
                "type": "integer",
            },
            "limit": {"description": "How many lines to read", "type": "integer"},
        },
        "required": ["path"],
        "type": "object",
    }
    assert edit.spec.schema["required"] == ["path", "edits"]
