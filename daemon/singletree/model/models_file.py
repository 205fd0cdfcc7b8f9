"""models.json: providers and models a person adds, and changes to those we know; pi's shape.

    {"providers": {"corp": {"baseUrl": "...", "api": "openai-completions", "apiKey": "$CORP_KEY",
                            "headers": {}, "authHeader": false, "compat": {},
                            "models": [{"id": "m", "contextWindow": 32000, "reasoning": true}],
                            "modelOverrides": {"m2": {"maxTokens": 4096}}}}}

Pure: values in, providers out. Never resolves a key. Read next: values.py, catalog.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic.alias_generators import to_camel

from singletree.errors import SettingsError
from singletree.model.base import ModelInfo, Price, PriceTier
from singletree.model.catalogue import Provider
from singletree.model.thinking import levels_of

APIS = (
    "anthropic-messages",
    "openai-completions",
    "openai-responses",
    "google-generative-ai",
)


_WANTED = {
    "list": "a list",
    "string": "a text",
    "int": "a whole number",
    "float": "a number",
    "finite": "a number",
    "bool": "true or false",
    "dict": "an object",
    "model": "an object",
    "mapping": "an object",
}
"""What a fault of pydantic, by the first word of its name, asks for."""


class _Shape(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, extra="allow", frozen=True, defer_build=True
    )


class _Tier(_Shape):
    input_tokens_above: int
    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0


class _Cost(_Shape):
    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    tiers: list[_Tier] = []


class _Changes(_Shape):
    """What may be said of a model; what is not said stays as it was."""

    name: str | None = None
    api: str | None = None
    base_url: str | None = None
    reasoning: bool | None = None
    input: list[str] | None = None
    cost: _Cost | None = None
    context_window: int | None = None
    max_tokens: int | None = None
    thinking_level_map: dict[str, str | None] | None = None
    sampling_params: dict[str, JsonValue] | None = None
    headers: dict[str, str] | None = None
    compat: dict[str, JsonValue] | None = None


class _Model(_Changes):
    id: str


class _Provider(_Shape):
    name: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    api: str | None = None
    headers: dict[str, str] = {}
    auth_header: bool = False
    compat: dict[str, JsonValue] = {}
    models: list[_Model] = []
    model_overrides: dict[str, _Changes] = {}


class _File(_Shape):
    providers: dict[str, _Provider] = {}


def merge(known: Mapping[str, Provider], said: Mapping[str, JsonValue]) -> dict[str, Provider]:
    """The providers we know with what the file says. SettingsError names what is wrong."""
    try:
        file = _File.model_validate(said)
    except ValidationError as error:
        detail = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(key) for key in detail["loc"])
        wanted = _WANTED.get(detail["type"].partition("_")[0])
        why = f"must be {wanted}" if wanted else "is missing"
        raise SettingsError(f"models.json: {where} {why}") from None
    merged = dict(known)
    for name, given in file.providers.items():
        merged[name] = _provider(name, given, known.get(name))
    return merged


def _provider(name: str, given: _Provider, known: Provider | None) -> Provider:
    api = given.api or (known.api if known else "")
    base_url = given.base_url or (known.base_url if known else "")
    models = list(known.models) if known else []
    for model in given.models:
        old = next((m for m in models if m.id == model.id), None)
        new = _changed(old or ModelInfo(provider=name, id=model.id), model)
        models = [m for m in models if m.id != model.id] + [new]
    for model_id, changes in given.model_overrides.items():
        models = [_changed(m, changes) if m.id == model_id else m for m in models]
    for used in {api, *(m.api for m in models if m.api)}:
        if used and used not in APIS:
            raise SettingsError(
                f"models.json: providers.{name}: api {used} is not one of {', '.join(APIS)}"
            )
    if given.models and not (api and base_url):
        raise SettingsError(f"models.json: providers.{name} needs api and baseUrl")
    return Provider(
        name,
        given.name or (known.name if known else name),
        api,
        base_url,
        known.env if known else (),
        known.local if known else False,
        known.open if known else False,
        tuple(models),
        given.api_key or (known.key if known else None),
        {**(known.headers if known else {}), **given.headers},
        given.auth_header,
        {**(known.compat if known else {}), **given.compat},
    )


def _changed(info: ModelInfo, said: _Changes) -> ModelInfo:
    compat = {**info.compat, **(said.compat or {})}
    if said.thinking_level_map is not None:
        compat["thinkingLevelMap"] = {**_names(compat), **said.thinking_level_map}
    if said.sampling_params is not None:
        compat["samplingParams"] = said.sampling_params
    if said.headers is not None:
        compat["headers"] = dict(said.headers)
    reasoning = info.reasoning if said.reasoning is None else said.reasoning
    return replace(
        info,
        name=said.name or info.name or info.id,
        api=said.api or info.api,
        base_url=said.base_url or info.base_url,
        context_window=said.context_window or info.context_window,
        max_output=said.max_tokens or info.max_output,
        reasoning=reasoning,
        levels=levels_of(reasoning, _names(compat)),
        images=info.images if said.input is None else "image" in said.input,
        price=info.price if said.cost is None else _price(said.cost),
        compat=compat,
    )


def _names(compat: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    names = compat.get("thinkingLevelMap")
    return names if isinstance(names, dict) else {}


def _price(cost: _Cost) -> Price:
    tiers: Iterable[_Tier] = cost.tiers
    return Price(
        cost.input,
        cost.output,
        cost.cache_read,
        cost.cache_write,
        tuple(
            PriceTier(t.input_tokens_above, t.input, t.output, t.cache_read, t.cache_write)
            for t in tiers
        ),
    )
