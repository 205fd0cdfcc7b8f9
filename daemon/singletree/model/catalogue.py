"""The models we know without asking anybody: data, as of November 2026.

A starting point: models.json adds others and changes these. Windows and limits in tokens, prices in
US dollars per million. Never knows a key. Read next: catalog.py (what is made of it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from singletree.model.base import ModelInfo, Price, PriceTier
from singletree.model.thinking import levels_of

M = 1_000_000
K = 1_000


@dataclass(frozen=True, slots=True)
class Provider:
    """Where models are reached. `env`: variables that may hold the key; `local`: none is needed.

    `open`: it has more models than are listed here, so any id is taken.
    """

    id: str
    name: str
    api: str
    base_url: str
    env: tuple[str, ...] = ()
    local: bool = False
    open: bool = False
    models: tuple[ModelInfo, ...] = ()
    key: str | None = field(default=None, repr=False)
    """As models.json gives it: a literal, $VARIABLE or !command."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    auth_header: bool = False
    compat: Mapping[str, JsonValue] = field(default_factory=dict)


Levels = Mapping[str, JsonValue]
_ALL: Levels = {"xhigh": "xhigh", "max": "max"}
_ALWAYS: Levels = {"off": None, "minimal": None, "xhigh": "xhigh", "max": "max"}
_FIVE: Levels = {"off": "none", "minimal": None, "xhigh": "xhigh"}
_SIX: Levels = {"off": "none", "minimal": None, "xhigh": "xhigh", "max": "max"}
_HIGH_OR_MAX: Levels = {"minimal": None, "low": None, "medium": None, "max": "max"}
_THREE: Levels = {"off": None, "minimal": None}
_FOUR: Levels = {"off": None, "minimal": None, "xhigh": "xhigh"}
_FOUR_LOWER: Levels = {"off": None}

_ADAPTIVE: Mapping[str, JsonValue] = {"forceAdaptiveThinking": True, "supportsTemperature": False}
_INSIDE: Mapping[str, JsonValue] = {"supportsMidConvoEffort": True}
_BINDING: Mapping[str, JsonValue] = {**_ADAPTIVE, **_INSIDE}
_NEWER: Mapping[str, JsonValue] = {**_INSIDE, "supportsExplicitPromptCacheMode": True}


def _model(
    id: str,
    name: str,
    window: int,
    output: int,
    price: Price,
    *,
    levels: Levels | None = None,
    images: bool = True,
    compat: Mapping[str, JsonValue] | None = None,
) -> ModelInfo:
    names = dict(levels or {})
    return ModelInfo(
        provider="",
        id=id,
        name=name,
        context_window=window,
        max_output=output,
        reasoning=levels is not None,
        levels=levels_of(levels is not None, names),
        images=images,
        price=price,
        compat={**(compat or {}), **({"thinkingLevelMap": names} if names else {})},
    )


def _claude(
    id: str,
    name: str,
    price: Price,
    levels: Levels,
    compat: Mapping[str, JsonValue] = _ADAPTIVE,
) -> ModelInfo:
    return _model(id, name, M, 128 * K, price, levels=levels, compat=compat)


def _gpt(
    id: str,
    name: str,
    price: Price,
    levels: Levels,
    window: int = 1_050_000,
    compat: Mapping[str, JsonValue] | None = None,
) -> ModelInfo:
    return _model(id, name, window, 128 * K, price, levels=levels, compat=compat)


def _gemini(id: str, name: str, price: Price, levels: Levels) -> ModelInfo:
    return _model(id, name, 1_048_576, 65_536, price, levels=levels)


def _long(price: Price, above: int, times: float, output_times: float) -> Price:
    """A price that rises for the whole request once it is longer than `above`."""
    tier = PriceTier(
        above,
        price.input * times,
        price.output * output_times,
        price.cache_read * times,
        price.cache_write * times,
    )
    return Price(price.input, price.output, price.cache_read, price.cache_write, (tier,))


_SOL = _long(Price(2, 10, 0.1, 2.5), 272 * K, 2, 1.5)

ANTHROPIC = Provider(
    "anthropic",
    "Anthropic",
    "anthropic-messages",
    "https://api.anthropic.com",
    ("ANTHROPIC_API_KEY",),
    models=(
        _claude("claude-opus-5-5", "Claude Opus 5.5", Price(4, 20, 0.2, 5), _ALWAYS, _BINDING),
        _claude(
            "claude-sonnet-5-5", "Claude Sonnet 5.5", Price(2, 10, 0.2, 2.5), _ALWAYS, _BINDING
        ),
        _claude(
            "claude-haiku-5-5",
            "Claude Haiku 5.5",
            _long(Price(0.1, 0.5, 0.01, 0.125), 100 * K, 5, 5),
            _ALWAYS,
            _BINDING,
        ),
        _claude("claude-fable-5-1", "Claude Fable 5.1", Price(10, 50, 1, 12.5), _ALWAYS, _BINDING),
        _claude("claude-opus-5", "Claude Opus 5", Price(5, 25, 0.5, 6.25), _ALL, _BINDING),
        _claude("claude-sonnet-5", "Claude Sonnet 5", Price(2, 10, 0.2, 2.5), _ALL),
        _claude("claude-opus-4-6", "Claude Opus 4.6", Price(5, 25, 0.5, 6.25), {"max": "max"}),
        _claude("claude-sonnet-4-6", "Claude Sonnet 4.6", Price(3, 15, 0.3, 3.75), {}),
        _model(
            "claude-haiku-4-5",
            "Claude Haiku 4.5",
            200 * K,
            64 * K,
            Price(1, 5, 0.1, 1.25),
            levels={},
        ),
    ),
)
OPENAI = Provider(
    "openai",
    "OpenAI",
    "openai-responses",
    "https://api.openai.com/v1",
    ("OPENAI_API_KEY",),
    models=(
        _gpt("gpt-6.2-sol", "GPT-6.2 Sol", _SOL, _ALWAYS, compat=_NEWER),
        _gpt("gpt-6.2-astra", "GPT-6.2 Astra", Price(8, 40, 0.4, 10), _ALWAYS, compat=_NEWER),
        _gpt("gpt-6-sol", "GPT-6 Sol", Price(2, 10, 0.2, 2.5), _SIX, compat=_NEWER),
        _gpt("gpt-5.5", "GPT-5.5", _long(Price(5, 30, 0.5), 272 * K, 2, 1.5), _FIVE),
        _gpt("gpt-5.4", "GPT-5.4", _long(Price(2.5, 15, 0.25), 272 * K, 2, 1.5), _FIVE),
        _gpt("gpt-5.4-mini", "GPT-5.4 mini", Price(0.75, 4.5, 0.075), _FIVE, 400 * K),
        _gpt("gpt-5.4-nano", "GPT-5.4 nano", Price(0.2, 1.25, 0.02), _FIVE, 400 * K),
    ),
)
GOOGLE = Provider(
    "google",
    "Google",
    "google-generative-ai",
    "https://generativelanguage.googleapis.com/v1beta",
    ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    # the first is one that a key without billing may use; Carbon and Argon as of December
    models=(
        _gemini("gemini-4-hydrogen", "Gemini 4 Hydrogen", Price(1.5, 7.5, 0.075), _FOUR),
        _gemini("gemini-4-neon", "Gemini 4 Neon", Price(3, 15, 0.15), _FOUR),
        _gemini("gemini-4-carbon", "Gemini 4 Carbon", Price(4, 20, 0.2), _THREE),
        _gemini("gemini-4-argon", "Gemini 4 Argon", Price(4, 20, 0.2), _THREE),
        _gemini("gemini-3.8-flash", "Gemini 3.8 Flash", Price(0.75, 3.75, 0.075), _THREE),
        _gemini(
            "gemini-3.5-flash-lite", "Gemini 3.5 Flash-Lite", Price(0.3, 2.5, 0.03), _FOUR_LOWER
        ),
    ),
    open=True,
)
OPENROUTER = Provider(
    "openrouter",
    "OpenRouter",
    "openai-completions",
    "https://openrouter.ai/api/v1",
    ("OPENROUTER_API_KEY",),
    open=True,
    models=(
        _claude("anthropic/claude-opus-5.5", "Claude Opus 5.5", Price(4, 20, 0.2, 5), _ALWAYS),
        _claude(
            "anthropic/claude-sonnet-5.5", "Claude Sonnet 5.5", Price(2, 10, 0.2, 2.5), _ALWAYS
        ),
        _gpt("openai/gpt-6.2-sol", "GPT-6.2 Sol", _SOL, _ALWAYS),
        _model(
            "deepseek/deepseek-v4-pro",
            "DeepSeek V4 Pro",
            M,
            128 * K,
            Price(0.435, 0.87, 0.004),
            levels=_HIGH_OR_MAX,
            images=False,
        ),
        _model(
            "openai/gpt-oss-120b",
            "gpt-oss 120B",
            131_072,
            32_768,
            Price(0.1, 0.5),
            levels=_THREE,
            images=False,
        ),
    ),
)
GROQ = Provider(
    "groq",
    "Groq",
    "openai-completions",
    "https://api.groq.com/openai/v1",
    ("GROQ_API_KEY",),
    models=(
        _model(
            "openai/gpt-oss-120b",
            "gpt-oss 120B",
            131_072,
            65_536,
            Price(0.15, 0.6, 0.075),
            levels=_THREE,
            images=False,
        ),
        _model(
            "openai/gpt-oss-20b",
            "gpt-oss 20B",
            131_072,
            65_536,
            Price(0.075, 0.3, 0.0375),
            levels=_THREE,
            images=False,
        ),
        _model(
            "llama-3.3-70b-versatile",
            "Llama 3.3 70B",
            131_072,
            32_768,
            Price(0.59, 0.79),
            images=False,
        ),
    ),
    open=True,
)
DEEPSEEK = Provider(
    "deepseek",
    "DeepSeek",
    "openai-completions",
    "https://api.deepseek.com",
    ("DEEPSEEK_API_KEY",),
    models=(
        _model(
            "deepseek-v4-flash",
            "DeepSeek V4 Flash",
            M,
            384_000,
            Price(0.14, 0.28, 0.0028),
            levels=_HIGH_OR_MAX,
            images=False,
        ),
        _model(
            "deepseek-v4-pro",
            "DeepSeek V4 Pro",
            M,
            384_000,
            Price(0.435, 0.87, 0.003625),
            levels=_HIGH_OR_MAX,
            images=False,
        ),
    ),
)
OLLAMA = Provider(
    "ollama",
    "Ollama",
    "openai-completions",
    "http://127.0.0.1:11434/v1",
    ("OLLAMA_API_KEY",),
    local=True,
    open=True,
)
LLAMA_CPP = Provider(
    "llama.cpp",
    "llama.cpp",
    "openai-completions",
    "http://127.0.0.1:8080/v1",
    ("LLAMA_API_KEY",),
    local=True,
    open=True,
)
LM_STUDIO = Provider(
    "lmstudio",
    "LM Studio",
    "openai-completions",
    "http://127.0.0.1:1234/v1",
    ("LMSTUDIO_API_KEY",),
    local=True,
    open=True,
)
DEMO = ModelInfo(
    provider="offline",
    id="demo",
    name="Demo (no key, no network)",
    api="demo",
    context_window=32_000,
    max_output=4_000,
)
"""The model of demo.py."""
PROVIDERS: Mapping[str, Provider] = {
    p.id: p
    for p in (
        ANTHROPIC,
        OPENAI,
        GOOGLE,
        OPENROUTER,
        GROQ,
        DEEPSEEK,
        OLLAMA,
        LLAMA_CPP,
        LM_STUDIO,
    )
}
