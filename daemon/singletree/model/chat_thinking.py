"""How chat completions servers are asked to think, or not to: each dialect says it its own way.

Pure; the dialect is `thinkingFormat` in a model's `compat`. The variables of a server's template
stand in `chatTemplateKwargs` (`baseten`: in `chatTemplateArgs`): a value as it is, or an object
whose `$var` is `thinking.enabled`, `thinking.effort` or `thinking.budget`; `omitWhenOff` leaves it
away while nothing is to be thought. Read next: thinking.py (levels), openai.py (the body that this
goes into).
"""

from __future__ import annotations

from pydantic import JsonValue

from singletree.jsontext import Json
from singletree.messages import ThinkingLevel
from singletree.model.base import ModelInfo, ModelRequest
from singletree.model.dialect import flag, option, table
from singletree.model.thinking import budget, effort, level_names, wished

BUDGET_FIELD = "thinking_token_budget"
"""Where a server takes a number of tokens, if models.json names no other field."""


def thinking(info: ModelInfo, request: ModelRequest, limit: int) -> Json:
    """What a body says about thinking. `limit`: tokens the whole answer may have."""
    level = wished(info, request.thinking)
    if level == "off" and "off" not in info.levels:
        return {}
    tokens = budget(info, level, limit)
    said = _said(info, level, tokens)
    field = option(info, "thinkingTokenBudgetField")
    if not field and flag(info, "supportsThinkingTokenBudget"):
        field = BUDGET_FIELD
    return said | ({field: tokens} if field and tokens else {})


def _said(info: ModelInfo, level: ThinkingLevel, tokens: int) -> Json:
    on = level != "off"
    named = _named(info, level)
    plain: Json = {}
    if named is not None and flag(info, "supportsReasoningEffort"):
        plain["reasoning_effort"] = named
    match option(info, "thinkingFormat"):
        case "zai" | "deepseek" | "qwen" | "together" as dialect:
            return _switched(dialect, on) | (plain if on else {})
        case "qwen-chat-template":
            fixed: Json = {"enable_thinking": on, "preserve_thinking": True}
            return {"chat_template_kwargs": fixed}
        case "chat-template":
            return _template(info, level, tokens, "chatTemplateKwargs", "chat_template_kwargs")
        case "baseten":
            filled = _template(info, level, tokens, "chatTemplateArgs", "chat_template_args")
            return filled | plain
        case "openrouter":
            return {"reasoning": {"effort": named or "none"}}
        case "string-thinking":
            return {"thinking": named or "none"}
        case "ant-ling":
            own = level_names(info).get(level)
            said: Json = {"reasoning": {"effort": own}} if isinstance(own, str) else {}
            return said if on else plain
        case _:
            return plain


def _switched(dialect: str, on: bool) -> Json:
    """Thinking as something that is on or off, whatever the level."""
    if dialect == "qwen":
        return {"enable_thinking": on}
    if dialect == "together":
        return {"reasoning": {"enabled": on}}
    said: Json = {"type": "enabled" if on else "disabled"}
    if on and dialect == "zai":
        said["clear_thinking"] = False
    return {"thinking": said}


def _named(info: ModelInfo, level: ThinkingLevel) -> str | None:
    """The word for a level; for off only where the model has one."""
    if level == "off" and not isinstance(level_names(info).get("off"), str):
        return None
    return effort(info, level)


def _template(info: ModelInfo, level: ThinkingLevel, tokens: int, own: str, field: str) -> Json:
    """The variables of the switch `own` that have a value at this level, in a field of the body."""
    values = table(info, own)
    filled = {name: _filled(info, value, level, tokens) for name, value in values.items()}
    known: Json = {name: value for name, value in filled.items() if value is not None}
    return {field: known} if known else {}


def _filled(info: ModelInfo, value: JsonValue, level: ThinkingLevel, tokens: int) -> JsonValue:
    if not isinstance(value, dict):
        return value
    if level == "off" and value.get("omitWhenOff") is True:
        return None
    match value.get("$var"):
        case "thinking.enabled":
            return level != "off"
        case "thinking.budget":
            return tokens or None
        case "thinking.effort":
            return _named(info, level)
        case _:
            return None
