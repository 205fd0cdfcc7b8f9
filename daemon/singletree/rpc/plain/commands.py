"""The commands of `workspace/executeCommand`: each stands for a method of the protocol.

So a host that knows nothing but LSP is a full user, and there is one place where things are done.
Arguments come as such hosts can give them: plain values in order, or one object with names. Never
does anything itself. Read next: ../handlers/commands.py (which runs them), pointing.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from singletree.errors import SingletreeError
from singletree.rpc.buffers.documents import path_of
from singletree.rpc.faults import RpcError, invalid_params, parse_as
from singletree.rpc.peer import Peer
from singletree.rpc.plain.pointing import Pointed, said
from singletree.rpc.protocol.base import JsonObject
from singletree.rpc.protocol.errors import INVALID_PARAMS

UNKNOWN: Final = "There is no command {name}; the answer to initialize lists all."
TOO_MANY: Final = "{name} takes no more than these arguments: {takes}."
ONLY_NAMED: Final = "{name} takes only one object with names, or nothing."
NO_TEXT: Final = (
    "{name} needs a text as its first argument. Where this editor cannot give one, write it in any "
    "document, select it and choose the code action “Agent: send what is selected”."
)


@dataclass(frozen=True, slots=True)
class Command:
    """What runs: a method. `takes`: the names of plain arguments, in order. `fixed`: if not given.

    `text` must be given: only a keyboard has it. What a command `needs` besides is chosen by the
    person or found in the session (../choosing.py).
    """

    method: str
    does: str
    takes: tuple[str, ...] = ()
    fixed: Mapping[str, JsonValue] = field(default_factory=dict)
    text: str | None = None
    needs: str | None = None


OPEN: Final = "open"
"""In the place of a method: show a text in the editor."""
PROMPT: Final = "agent/prompt"
QUEUED: Final = {"whenBusy": "followUp"}
POINTING: Final[Mapping[str, Command]] = {
    "agent.explain": Command(PROMPT, "Explain a piece of a document, or a problem.", fixed=QUEUED),
    "agent.fixDiagnostic": Command(PROMPT, "Fix a problem the editor shows.", fixed=QUEUED),
    "agent.rewrite": Command(PROMPT, "Rewrite a piece of a document.", fixed=QUEUED),
    "agent.send": Command(PROMPT, "Say what is selected in a document.", fixed=QUEUED),
}
"""Their argument is an object: `uri`, `range`, and `version`, `diagnostic` or `instructions`."""

COMMANDS: Final[Mapping[str, Command]] = {
    "agent.prompt": Command(
        PROMPT, "Say something; while a turn runs, it waits.", ("content",), QUEUED, "content"
    ),
    **POINTING,
    "agent.steer": Command(
        "agent/steer", "Put a text into the running turn.", ("content",), text="content"
    ),
    "agent.followUp": Command(
        "agent/followUp", "Say something behind the running turn.", ("content",), text="content"
    ),
    "agent.abort": Command("agent/abort", "Stop.", ("scope",)),
    "agent.clearQueue": Command("agent/queue/clear", "Take back what waits."),
    "agent.bash": Command("agent/bash", "Run a command of your own.", ("command",), text="command"),
    "agent.compact": Command(
        "agent/compact", "Sum up the older part of the conversation.", ("instructions",)
    ),
    "agent.transcript": Command(OPEN, "Show what was said.", fixed={"document": "transcript"}),
    "agent.tree": Command(OPEN, "Show the session as a tree.", fixed={"document": "tree"}),
    "agent.diff": Command(
        OPEN, "Show what the last turn changed in files.", fixed={"document": "diff"}
    ),
    "agent.open": Command(
        OPEN, "Show the text behind an address.", ("document",), {"document": "transcript"}
    ),
    "agent.navigate": Command(
        "agent/tree/navigate",
        "Go on from another place of the session; `summarize` true sums up what is left.",
        ("entryId", "summarize"),
        needs="entryId",
    ),
    "agent.label": Command(
        "agent/tree/label",
        "Put a bookmark on an entry, else on where the session stands; `null` takes it away.",
        ("label", "entryId"),
        text="label",
        needs="entryId",
    ),
    "agent.fork": Command(
        "agent/session/fork",
        "Go on from a place in a session of its own.",
        ("entryId", "position"),
        needs="entryId",
    ),
    "agent.new": Command("agent/session/new", "Begin a new session.", ("name",)),
    "agent.switch": Command(
        "agent/session/switch", "Go on with another session.", ("sessionId",), needs="sessionId"
    ),
    "agent.rename": Command("agent/session/rename", "Name the session.", ("name",), text="name"),
    "agent.export": Command(
        "agent/session/export",
        "Write the session to a file (`md`, `html`, `jsonl`).",
        ("path", "format"),
        {"format": "md"},
        needs="path",
    ),
    "agent.model": Command("agent/model/set", "Choose who answers.", ("model",), needs="model"),
    "agent.thinking": Command(
        "agent/thinking/set", "Choose how hard the model thinks.", ("level",), needs="level"
    ),
    "agent.mode": Command(
        "agent/permission/setMode", "Choose what is asked first.", ("mode",), needs="mode"
    ),
    "agent.forget": Command(
        "agent/permission/remove", "Forget an answer that is remembered.", ("ids",), needs="ids"
    ),
    "agent.trust": Command(
        "agent/trust/set",
        "Decide whether what the folder brings along counts; it is always asked.",
        needs="trusted",
    ),
    "agent.undoTurn": Command(
        "agent/edits/revert",
        "Take back the edits of a turn; without an argument, of the last one that made any.",
        ("turnId",),
        needs="turnId",
    ),
}


def find(name: str) -> Command:
    """The command of this name. Raises -32602."""
    if (command := COMMANDS.get(name)) is None:
        raise RpcError(INVALID_PARAMS, UNKNOWN.format(name=name))
    return command


def params_of(name: str, arguments: Sequence[JsonValue], peer: Peer) -> JsonObject:
    """The params of the method, from what the host gave. Raises -32602, or `input_empty`."""
    command = find(name)
    given = {**command.fixed, **_named(name, command, arguments)}
    if command.text is not None and given.get(command.text, "") == "":
        raise SingletreeError(NO_TEXT.format(name=name), code="input_empty")
    if name not in POINTING:
        return given
    pointed = parse_as(Pointed, given)
    about: JsonObject = {key: given[key] for key in ("sessionId", "workspace") if key in given}
    if not about and (folder := _folder_with(pointed.uri, peer)) is not None:
        about = {"workspace": folder}
    return {**command.fixed, **about, "content": [*said(name, pointed, peer.documents)]}


def _named(name: str, command: Command, arguments: Sequence[JsonValue]) -> JsonObject:
    given: JsonObject = {}
    names = iter(command.takes)
    for argument in arguments:
        if isinstance(argument, dict):
            given |= argument
        elif (key := next(names, None)) is not None:
            given[key] = argument
        else:
            form = TOO_MANY if command.takes else ONLY_NAMED
            text = form.format(name=name, takes=", ".join(command.takes))
            raise invalid_params([{"pointer": "/arguments", "message": text}])
    return given


def _folder_with(uri: str, peer: Peer) -> str | None:
    """Of several folders the one the document is in, the innermost first."""
    path, folders = path_of(uri), peer.client.folders
    if path is None or len(folders) < 2:
        return None
    holding = [f for f in folders if (root := path_of(f)) and f"{path}/".startswith(f"{root}/")]
    return max(holding, key=len, default=None)
