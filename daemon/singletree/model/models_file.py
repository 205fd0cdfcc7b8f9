"""models.json: providers and models a person adds, and changes to those we know; pi's shape.

    {"providers": {"corp": {"baseUrl": "...", "api": "openai-completions", "apiKey": "$CORP_KEY",
                            "headers": {}, "authHeader": false, "compat": {},
                            "models": [{"id": "m", "contextWindow": 32000, "reasoning": true}],
                            "modelOverrides": {"m2": {"maxTokens": 4096}}}}}

Pure: values in, providers out. Never resolves a key. Read next: values.py, catalog.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pydantic import Field, JsonValue, ValidationError

from singletree.errors import SettingsError
from singletree.model.base import ModelInfo, Price
from singletree.model.catalogue import Provider
from singletree.model.shapes import Cost, Shape
from singletree.model.switches import Switches
from singletree.model.thinking import levels_of
from singletree.model.usage import price_of

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
    "greater": "0 or more",
}
"""What a fault of pydantic, by the first word of its name, asks for."""
_JOINED = (
    "openRouterRouting",
    "vercelGatewayRouting",
    "chatTemplateKwargs",
    "chatTemplateArgs",
    "samplingParams",
    "samplingParamsByThinkingLevel",
)


class _Changes(Shape):
    """What may be said of a model; what is not said stays as it was."""

    name: str | None = None
    api: str | None = None
    base_url: str | None = None
    reasoning: bool | None = None
    input: list[str] | None = None
    cost: Cost | None = None
    context_window: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=0)
    thinking_level_map: dict[str, str | None] | None = None
    sampling_params: dict[str, JsonValue] | None = None
    sampling_params_by_thinking_level: dict[str, dict[str, JsonValue]] | None = None
    headers: dict[str, str] | None = None
    compat: Switches | None = None


class _Model(_Changes):
    id: str


class _Provider(Shape):
    name: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    api: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    auth_header: bool = False
    compat: Switches = Field(default_factory=Switches)
    models: list[_Model] = Field(default_factory=list)
    model_overrides: dict[str, _Changes] = Field(default_factory=dict)


class _File(Shape):
    providers: dict[str, _Provider] = Field(default_factory=dict)


def merge(known: Mapping[str, Provider], said: Mapping[str, JsonValue]) -> dict[str, Provider]:
    """The providers we know with what the file says. SettingsError names what is wrong."""
    try:
        file = _File.model_validate(said)
    except ValidationError as error:
        raise SettingsError(f"models.json: {_fault(error)}") from None
    merged = dict(known)
    for name, given in file.providers.items():
        merged[name] = _provider(name, given, known.get(name))
    return merged


def _fault(error: ValidationError) -> str:
    """The first thing that is wrong, and what was wanted in its place."""
    detail = error.errors(include_url=False)[0]
    where = ".".join(str(key) for key in detail["loc"])
    if detail["type"] == "literal_error":
        return f"{where} must be {detail['ctx']['expected']}"
    wanted = _WANTED.get(detail["type"].partition("_")[0])
    return f"{where} must be {wanted}" if wanted else f"{where} is missing"


def _provider(name: str, given: _Provider, known: Provider | None) -> Provider:
    api = given.api or (known.api if known else "")
    base_url = given.base_url or (known.base_url if known else "")
    compat = given.compat.said()
    models = [replace(m, compat=_over(m.compat, compat)) for m in (known.models if known else ())]
    for model in given.models:
        old = next((m for m in models if m.id == model.id), None)
        new = _changed(old or ModelInfo(provider=name, id=model.id, compat=compat), model)
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
        _over(known.compat if known else {}, compat),
    )


def _changed(info: ModelInfo, said: _Changes) -> ModelInfo:
    compat = _over(info.compat, said.compat.said() if said.compat else {})
    if said.thinking_level_map is not None:
        compat["thinkingLevelMap"] = {**_names(compat), **said.thinking_level_map}
    if said.sampling_params is not None:
        compat = _over(compat, {"samplingParams": said.sampling_params})
    if said.sampling_params_by_thinking_level is not None:
        by_level: dict[str, JsonValue] = {**said.sampling_params_by_thinking_level}
        compat = _over(compat, {"samplingParamsByThinkingLevel": by_level})
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
        price=info.price if said.cost is None else _price(info.price, said.cost),
        compat=compat,
    )


def _over(compat: Mapping[str, JsonValue], said: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Switches with others over them; those that hold many fields are joined field by field."""
    joined: dict[str, JsonValue] = {**compat, **said}
    for name in _JOINED:
        below, above = compat.get(name), said.get(name)
        if isinstance(below, dict) and isinstance(above, dict):
            joined[name] = {**below, **above}
    return joined


def _price(old: Price, said: Cost) -> Price:
    """What was not said of the price stays."""
    new, named = price_of(said.model_dump(by_alias=True)), said.model_fields_set
    return Price(
        new.input if "input" in named else old.input,
        new.output if "output" in named else old.output,
        new.cache_read if "cache_read" in named else old.cache_read,
        new.cache_write if "cache_write" in named else old.cache_write,
        new.tiers if "tiers" in named else old.tiers,
    )


def _names(compat: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    names = compat.get("thinkingLevelMap")
    return names if isinstance(names, dict) else {}
