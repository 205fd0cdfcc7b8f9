"""A tool call and its answer, as they travel: what an editor wants to show of them.

Never knows how a call stands; translate.py does. Read next: ../protocol/events.py (ToolEvent).
"""

from __future__ import annotations

from pathlib import PurePosixPath
from posixpath import normpath

from singletree.agent.tool import ToolOutput
from singletree.excerpt import cut
from singletree.messages import ToolCall
from singletree.rpc.protocol.base import JsonObject
from singletree.rpc.telling.failures import one_line

TOOL_KINDS = {
    "read": "read",
    "ls": "search",
    "grep": "search",
    "find": "search",
    "edit": "edit",
    "write": "edit",
    "bash": "execute",
}
"""Kinds of the tools of the house; an extension's tool is `other`."""

TITLE_LENGTH = 200


def tool_call(call: ToolCall, cwd: PurePosixPath) -> JsonObject:
    """What is known of a call before it runs."""
    made: JsonObject = {
        "name": call.name,
        "kind": TOOL_KINDS.get(call.name, "other"),
        "title": title(call),
        "input": call.arguments,
    }
    path = call.arguments.get("path")
    if isinstance(path, str) and path and not path.startswith(("~", "@", "file:")):
        made["locations"] = [{"uri": PurePosixPath(normpath(cwd / path)).as_uri()}]
    return made


def title(call: ToolCall) -> str:
    """One line that says what the call does: its name and what it is about."""
    about = next(
        (call.arguments[k] for k in ("command", "pattern", "path") if k in call.arguments), ""
    )
    text = one_line(f"{call.name} {about}") if isinstance(about, str) else call.name
    return cut(text, TITLE_LENGTH)


def tool_result(output: ToolOutput) -> JsonObject:
    """What a tool answered, with what editors want to have at hand: diff and truncation."""
    result: JsonObject = {
        "content": [block.dump() for block in output.content],
        "isError": output.is_error,
    }
    made: JsonObject = {"result": result}
    if output.details is not None:
        result["details"] = output.details
    if isinstance(output.details, dict):
        diff = output.details.get("diff")
        if isinstance(diff, str):
            made["diff"] = diff
        cut = _truncation(output.details)
        if cut:
            made["truncation"] = cut
    return made


def _truncation(details: JsonObject) -> JsonObject:
    told = details.get("truncation")
    made: JsonObject = {}
    if isinstance(told, dict):
        names = {"totalLines": "lines", "totalBytes": "bytes", "outputLines": "shown"}
        made = {new: told[old] for old, new in names.items() if isinstance(told.get(old), int)}
    path = details.get("fullOutputPath")
    if isinstance(path, str) and path.startswith("/"):
        made["fullOutputUri"] = PurePosixPath(path).as_uri()
    return made
