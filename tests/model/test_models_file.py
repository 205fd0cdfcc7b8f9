"""models.json over what is built in: which word wins, what is joined, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from singletree.errors import SettingsError
from singletree.model.base import ModelInfo, Price, PriceTier
from singletree.model.catalog import Catalog
from singletree.model.catalogue import PROVIDERS, Provider
from singletree.model.models_file import merge

OWN = ModelInfo(
    "corp",
    "m",
    price=Price(1, 2, 3, 4, (PriceTier(9),)),
    compat={"supportsStore": False, "maxTokensField": "max_tokens", "vllmPriority": 1},
)
KNOWN = {"corp": Provider("corp", "Corp", "openai-completions", "http://h/v1", models=(OWN,))}


def merged(**said: Any) -> ModelInfo:
    """The model of the provider, once the file was heard."""
    provider = merge(KNOWN, {"providers": {"corp": said}})["corp"]
    return next(info for info in provider.models if info.id == "m")


def test_a_model_s_switch_wins_over_its_provider_s_and_that_over_what_is_built_in() -> None:
    info = merged(
        compat={"maxTokensField": "max_completion_tokens", "vllmPriority": 2},
        modelOverrides={"m": {"compat": {"vllmPriority": 3}}},
    )
    assert info.compat == {
        "supportsStore": False,
        "maxTokensField": "max_completion_tokens",
        "vllmPriority": 3,
    }


def test_a_built_in_model_can_be_told_that_its_server_is_another() -> None:
    said: dict[str, Any] = {"baseUrl": "http://h", "compat": {"supportsMidConvoEffort": False}}
    provider = merge(PROVIDERS, {"providers": {"anthropic": said}})["anthropic"]
    assert {m.compat["supportsMidConvoEffort"] for m in provider.models} == {False}


def test_a_new_model_begins_with_its_provider_s_switches() -> None:
    said: dict[str, Any] = {
        "compat": {"zaiToolStream": True},
        "models": [{"id": "n", "compat": {}}],
    }
    models = merge(KNOWN, {"providers": {"corp": said}})["corp"].models
    assert models[-1].compat == {"zaiToolStream": True}


@pytest.mark.parametrize(
    "name",
    ["openRouterRouting", "vercelGatewayRouting", "chatTemplateKwargs", "chatTemplateArgs"],
)
def test_switches_with_many_fields_are_joined(name: str) -> None:
    above = {"modelOverrides": {"m": {"compat": {name: {"b": 2, "c": [3]}}}}}
    info = merged(compat={name: {"a": 1, "b": 1}}, **above)
    assert info.compat[name] == {"a": 1, "b": 2, "c": [3]}
    assert (
        merged(compat={name: {"a": 1}}, modelOverrides={"m": {"compat": {name: None}}}).compat[name]
        is None
    )


def test_drawing_words_are_joined() -> None:
    first = {"samplingParams": {"a": 1, "b": 1}, "samplingParamsByThinkingLevel": {"low": {"a": 1}}}
    then = {"samplingParams": {"b": 2}, "samplingParamsByThinkingLevel": {"off": {"a": 0}}}
    info = merged(models=[{"id": "m", **first}], modelOverrides={"m": then})
    assert info.compat["samplingParams"] == {"a": 1, "b": 2}
    assert info.compat["samplingParamsByThinkingLevel"] == {"low": {"a": 1}, "off": {"a": 0}}


def test_what_is_not_said_of_a_price_stays() -> None:
    assert merged(modelOverrides={"m": {"cost": {"output": 7}}}).price == Price(
        1, 7, 3, 4, (PriceTier(9),)
    )
    whole = {"input": 5, "output": 6, "cacheRead": 7, "cacheWrite": 8, "tiers": []}
    assert merged(modelOverrides={"m": {"cost": whole}}).price == Price(5, 6, 7, 8)


@pytest.mark.parametrize("field", ["contextWindow", "maxTokens"])
def test_no_number_of_tokens_is_below_nothing(field: str) -> None:
    with pytest.raises(SettingsError, match=rf"corp\.models\.0\.{field} must be 0 or more"):
        merged(models=[{"id": "m", field: -1}])


def test_remarks_of_people_in_the_file(tmp_path: Path) -> None:
    text = """{
      "providers": { // mine
        "corp": {"baseUrl": "http://h/v1", "api": "openai-completions", "models": [{"id": "m",},],},
      },
    }"""
    (tmp_path / "models.json").write_text(text, "utf-8")
    listed = [one.info.ref for one in Catalog(tmp_path, {}).list()]
    assert "corp/m" in listed
