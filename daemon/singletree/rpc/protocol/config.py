"""What can be switched while a session runs, as one list of options in ACP's shape.

And the commands a text may begin with. Read next: settings.py (what stands in files).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from singletree.rpc.protocol.base import Method, Result, SessionParams, Shape


class ConfigValue(Shape):
    """One value that can be chosen."""

    value: str
    name: str
    description: str | None = None


class ConfigOption(Shape):
    """A switch. `list`: any number of the options (the active tools, for example).

    Categories: `mode`, `model`, `model_config`, `thought_level`, and ours that begin with `_`.
    """

    id: str
    name: str
    description: str | None = None
    category: str | None = None
    type: Literal["select", "boolean", "list"]
    current_value: str | bool | list[str]
    options: list[ConfigValue] = Field(default_factory=list)


class ConfigResult(Result):
    """All switches as they are now."""

    config_options: list[ConfigOption]


class ConfigSetParams(SessionParams):
    """Which, and to what. Scopes `workspace` and `user` also write it to the settings file."""

    id: str
    value: str | bool | list[str]
    scope: Literal["session", "workspace", "user"] = "session"


class SlashCommand(Shape):
    """A text `/name …` that does something. `inputHint`: what may follow."""

    name: str
    description: str
    source: Literal["builtin", "extension", "prompt", "skill"]
    input_hint: str | None = None
    path: str | None = None


class CommandList(Result):
    """All commands of the session."""

    commands: list[SlashCommand]


class CompleteParams(SessionParams):
    """The text so far, without the slash, up to the cursor."""

    prefix: str


class Completion(Shape):
    """One way to go on: `value` replaces the prefix. `inputHint`: what may follow it."""

    value: str
    description: str | None = None
    input_hint: str | None = None


class Completions(Result):
    """What may follow, best first."""

    items: list[Completion]


METHODS = (
    Method(
        "agent/config/list",
        SessionParams,
        ConfigResult,
        "All switches of the session: model, thinking level, permission mode, active tools.",
        errors=("session_not_found",),
    ),
    Method(
        "agent/config/set",
        ConfigSetParams,
        ConfigResult,
        "Turn one switch.",
        errors=("session_not_found", "not_found", "untrusted_workspace"),
    ),
    Method(
        "agent/command/list",
        SessionParams,
        CommandList,
        "The slash commands; ask again after the event `commands`.",
        errors=("session_not_found",),
    ),
    Method(
        "agent/command/complete",
        CompleteParams,
        Completions,
        "How a slash command may go on: its name, then a model or a thinking level.",
        errors=("session_not_found",),
    ),
)
