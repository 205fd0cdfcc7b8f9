"""What can be switched while a session runs, and the commands a text may begin with."""

from __future__ import annotations

from functools import partial

from pydantic import JsonValue, TypeAdapter

from singletree.errors import SingletreeError
from singletree.messages import LEVELS, ThinkingLevel
from singletree.rpc.daemon import Daemon
from singletree.rpc.handlers.configuration import UNTRUSTED, write
from singletree.rpc.modes import MODES
from singletree.rpc.protocol.base import SessionParams
from singletree.rpc.protocol.config import (
    CommandList,
    CompleteParams,
    Completion,
    Completions,
    ConfigOption,
    ConfigResult,
    ConfigSetParams,
    ConfigValue,
    SlashCommand,
)
from singletree.rpc.routes import Call, Route, Routes
from singletree.rpc.telling.views import usable
from singletree.session.commands.completion import completions
from singletree.session.permission.gate import Mode
from singletree.session.session import AgentSession

THINKING: TypeAdapter[ThinkingLevel] = TypeAdapter(ThinkingLevel)
MODE: TypeAdapter[Mode] = TypeAdapter(Mode)


def routes(daemon: Daemon) -> Routes:
    """The methods of this topic."""
    return {
        "agent/config/list": Route(SessionParams, partial(_listed, daemon)),
        "agent/config/set": Route(ConfigSetParams, partial(_set_, daemon)),
        "agent/command/list": Route(SessionParams, partial(_commands, daemon)),
        "agent/command/complete": Route(CompleteParams, partial(_complete, daemon)),
    }


async def _listed(daemon: Daemon, params: SessionParams, call: Call) -> ConfigResult:
    return await _options(daemon, await daemon.session(params, call))


async def _set_(daemon: Daemon, params: ConfigSetParams, call: Call) -> ConfigResult:
    session = await daemon.session(params, call)
    if params.scope == "workspace" and not session.state().trusted:
        raise SingletreeError(UNTRUSTED, code="untrusted_workspace")
    match params.id, params.value:
        case "model", str() as ref:
            await session.choice.set_model(ref)
        case "thinking", str() as level if level in LEVELS:
            session.choice.set_thinking(THINKING.validate_python(level))
        case "mode", str() as mode if mode in MODES:
            session.set_mode(MODE.validate_python(mode))
        case "tools", list() as names:
            session.choice.set_tools(names)
        case _:
            raise SingletreeError(
                f"There is no switch {params.id!r} with such a value; see agent/config/list.",
                code="not_found",
            )
    if params.scope != "session":
        for key, value in _kept_as(params.id, session):
            await write(daemon, session, key, value, params.scope)
    return await _options(daemon, session)


def _kept_as(switch: str, session: AgentSession) -> list[tuple[str, JsonValue]]:
    """The settings that a switch stands for, with the values it now has."""
    match switch:
        case "model":
            info = session.choice.model().info
            return [("defaultProvider", info.provider), ("defaultModel", info.id)]
        case "thinking":
            return [("defaultThinkingLevel", session.choice.thinking)]
        case "mode":
            return [("permissions.mode", session.gate.mode)]
        case _:
            return [("defaultTools", [tool.name for tool in session.choice.tools])]


async def _commands(daemon: Daemon, params: SessionParams, call: Call) -> CommandList:
    session = await daemon.session(params, call)
    return CommandList(
        commands=[
            SlashCommand(
                name=one.name,
                description=one.description,
                source=one.source,
                input_hint=one.hint,
                path=one.path,
            )
            for one in await session.user_input.offered()
        ]
    )


async def _complete(daemon: Daemon, params: CompleteParams, call: Call) -> Completions:
    session = await daemon.session(params, call)
    arguments: dict[str, dict[str, str]] = {
        "model": {row.model: row.name for row in usable(await daemon.host.models())},
        "thinking": dict.fromkeys(session.choice.levels(), ""),
    }
    found = completions(params.prefix, await session.user_input.offered(), arguments)
    return Completions(
        items=[
            Completion(value=one.value, description=one.description, input_hint=one.hint)
            for one in found
        ]
    )


async def _options(daemon: Daemon, session: AgentSession) -> ConfigResult:
    state = session.state()
    models = usable(await daemon.host.models())
    return ConfigResult(
        config_options=[
            ConfigOption(
                id="model",
                name="Model",
                category="model",
                type="select",
                current_value=state.model or "",
                options=[ConfigValue(value=row.model, name=row.name) for row in models],
            ),
            ConfigOption(
                id="thinking",
                name="Thinking",
                category="thought_level",
                type="select",
                current_value=state.thinking,
                options=[ConfigValue(value=one, name=one) for one in session.choice.levels()],
            ),
            ConfigOption(
                id="mode",
                name="Permissions",
                category="mode",
                type="select",
                current_value=state.mode,
                options=[
                    ConfigValue(value=value, name=name, description=text)
                    for value, (name, text) in MODES.items()
                ],
            ),
            ConfigOption(
                id="tools",
                name="Tools",
                category="_tools",
                type="list",
                current_value=list(state.tools),
                options=[
                    ConfigValue(value=tool.name, name=tool.label, description=tool.snippet)
                    for tool in session.choice.all_tools
                ],
            ),
        ]
    )
