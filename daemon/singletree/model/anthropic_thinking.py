"""The messages API: how thinking is asked for, and what newer requests must be allowed by a header.

Pure. Read next: thinking.py and effort.py (levels), anthropic.py (the body that this goes into).
"""

from __future__ import annotations

from singletree.jsontext import Json, object_in, text_in
from singletree.messages import ThinkingLevel
from singletree.model.base import ModelInfo, ModelRequest, Price
from singletree.model.dialect import flag, setting
from singletree.model.effort import told_inside
from singletree.model.thinking import LEAST_ANSWER, asked, budget, effort, widened, wished
from singletree.model.usage import price_of

BINDING = "thinking-binding-controls-2026-08-01"
EFFORTS = "mid-conversation-output-config-2026-07-01"
FALLBACK = "server-side-fallback-2026-07-01"
FINE_GRAINED = "fine-grained-tool-streaming-2025-05-14"
INTERLEAVED = "interleaved-thinking-2025-05-14"
FIXED_EFFORT = "low"
"""What a request says for ever whose levels are told inside the conversation."""
OFF: Json = {"type": "disabled"}


def thinking(info: ModelInfo, request: ModelRequest, limit: int) -> tuple[int, Json]:
    """The output limit, and the fields that ask for thinking or forbid it."""
    if not info.reasoning:
        return limit, {}
    level = asked(info, request.thinking)
    if level == "off":
        return limit, {"thinking": OFF}
    if flag(info, "supportsMidConvoEffort"):
        return limit, _bound(FIXED_EFFORT if told_inside(info, request) else _word(info, level))
    if flag(info, "forceAdaptiveThinking"):
        return limit, _adaptive(_word(info, level))
    if request.thinking == "off":  # by itself such a model does not think
        return limit, {}
    limit = widened(info, request, level, limit)
    tokens = budget(info, level, limit)
    if tokens < LEAST_ANSWER:
        return limit, {"thinking": OFF}
    shown: Json = {"type": "enabled", "budget_tokens": tokens, "display": "summarized"}
    return limit, {"thinking": shown}


def effort_message(info: ModelInfo, level: ThinkingLevel) -> Json:
    """A level that is told between messages."""
    return {"role": "system", "content": [], "output_config": {"effort": _word(info, level)}}


def betas(info: ModelInfo, request: ModelRequest) -> str:
    """The value of the anthropic-beta header, "" for none."""
    wanted = []
    if request.tools and setting(info, "supportsEagerToolInputStreaming") is False:
        wanted.append(FINE_GRAINED)
    binds = flag(info, "supportsMidConvoEffort")
    thinks = info.reasoning and wished(info, request.thinking) != "off"
    if thinks and not (binds or flag(info, "forceAdaptiveThinking")):
        wanted.append(INTERLEAVED)
    if fallbacks(info):
        wanted.append(FALLBACK)
    if binds:
        wanted += [EFFORTS, BINDING]
    return ",".join(wanted)


def fallbacks(info: ModelInfo) -> dict[str, Price]:
    """The models that may answer where this one refuses, and what they cost."""
    given = setting(info, "allowedFallbackModels")
    said = [object_in(one) for one in given] if isinstance(given, list) else []
    return {
        text_in(one.get("model")): (
            price_of(one.get("cost")) if one.get("provider") == info.provider else info.price
        )
        for one in said
    }


def _adaptive(word: str) -> Json:
    """The model decides how much."""
    return {
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": word},
    }


def _bound(word: str) -> Json:
    """Newer models also tie their thinking to what stood before it.

    Our history changes (a compaction, another branch, a new system prompt), so what no longer fits
    must be dropped there, or every later request would be refused.
    """
    unfit: Json = {"prefix_mismatch_behavior": "drop_block"}
    how: Json = {"type": "adaptive", "display": "summarized", "block_binding": unfit}
    return {"thinking": how, "output_config": {"effort": word}}


def _word(info: ModelInfo, level: ThinkingLevel) -> str:
    name = effort(info, level)
    return "low" if name == "minimal" else name
