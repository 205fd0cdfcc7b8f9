"""From a reference to a model: where keys come from, what is missing, what can be used."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from tests.model.fake_server import Reply, Seen, chat, refusal, serving
from tests.model.talk import answer

from singletree.errors import AuthMissing, ModelError, SettingsError, SingletreeError
from singletree.messages import UserMessage
from singletree.model.base import Model, ModelRequest
from singletree.model.catalog import Catalog
from singletree.model.catalogue import PROVIDERS
from singletree.model.remote import RemoteModel
from singletree.model.values import missing, resolve

NOWHERE = {
    "OLLAMA_HOST": "127.0.0.1:1",
    "LLAMA_CPP_HOST": "127.0.0.1:1",
    "LMSTUDIO_HOST": "127.0.0.1:1",
    "PATH": "/usr/bin:/bin",
}


def catalog(folder: Path, *, models: Any = None, auth: Any = None, **env: str) -> Catalog:
    if models is not None:
        (folder / "models.json").write_text(json.dumps({"providers": models}), "utf-8")
    if auth is not None:
        (folder / "auth.json").write_text(json.dumps(auth), "utf-8")
    return Catalog(folder, {**NOWHERE, **env})


def key_of(model: Model) -> str | None:
    assert isinstance(model, RemoteModel)
    return model.key


CORP: dict[str, Any] = {
    "baseUrl": "https://corp.example/v1",
    "api": "openai-completions",
    "apiKey": "$CORP_KEY",
    "models": [{"id": "m", "contextWindow": 32000, "reasoning": True, "input": ["text", "image"]}],
}


def test_a_key_of_the_environment(tmp_path: Path) -> None:
    model = catalog(tmp_path, ANTHROPIC_API_KEY="sk-1").find("anthropic/claude-opus-5-5")
    assert key_of(model) == "sk-1"
    info = model.info
    assert (info.api, info.base_url) == ("anthropic-messages", "https://api.anthropic.com")
    assert info.levels == ("low", "medium", "high", "xhigh", "max")


def test_blanks_round_a_key_do_not_count(tmp_path: Path) -> None:
    found = catalog(tmp_path, ANTHROPIC_API_KEY=" sk-1\n").find("anthropic/claude-opus-5-5")
    assert key_of(found) == "sk-1"
    with pytest.raises(AuthMissing):
        catalog(tmp_path, ANTHROPIC_API_KEY=" \n").find("anthropic/claude-opus-5-5")


def test_no_key_says_which_variable_to_set(tmp_path: Path) -> None:
    with pytest.raises(AuthMissing) as caught:
        catalog(tmp_path).find("anthropic/claude-opus-5-5")
    assert caught.value.code == "auth_required"
    assert caught.value.message == (
        "No key for Anthropic: set ANTHROPIC_API_KEY, or store a key in auth.json"
    )


def test_google_has_two_variables(tmp_path: Path) -> None:
    ref = "google/gemini-4-hydrogen"
    found = catalog(tmp_path, GOOGLE_API_KEY="old").find(ref)
    assert key_of(found) == "old"
    assert (found.info.api, found.info.max_output) == ("google-generative-ai", 65_536)
    assert found.info.levels == ("low", "medium", "high", "xhigh")
    both = catalog(tmp_path, GOOGLE_API_KEY="old", GEMINI_API_KEY="new")
    assert key_of(both.find(ref)) == "new"
    assert key_of(both.find("google/gemini-of-tomorrow")) == "new"


def test_a_login_in_googles_header_is_enough(tmp_path: Path) -> None:
    gateway = {**CORP, "api": "google-generative-ai", "headers": {"X-Goog-Api-Key": "$TEAM_KEY"}}
    del gateway["apiKey"]
    found = catalog(tmp_path, models={"corp": gateway}, TEAM_KEY="t").find("corp/m")
    assert isinstance(found, RemoteModel)
    assert (found.key, found.headers) == (None, {"X-Goog-Api-Key": "t"})


def test_auth_json_wins_over_models_json_over_the_environment(tmp_path: Path) -> None:
    auth = {"openai": {"type": "api_key", "key": "from-auth"}}
    models = {"openai": {"apiKey": "from-models"}}
    env = {"OPENAI_API_KEY": "from-env"}
    ref = "openai/gpt-6.2-sol"
    assert key_of(catalog(tmp_path, **env).find(ref)) == "from-env"
    assert key_of(catalog(tmp_path, models=models, **env).find(ref)) == "from-models"
    assert key_of(catalog(tmp_path, auth=auth, **env).find(ref)) == "from-auth"


def test_a_login_of_another_kind_is_no_key(tmp_path: Path) -> None:
    auth = {"anthropic": {"type": "oauth", "access": "x", "refresh": "y", "expires": 1}}
    with pytest.raises(AuthMissing):
        catalog(tmp_path, auth=auth).find("anthropic/claude-opus-5-5")


def test_a_provider_of_models_json(tmp_path: Path) -> None:
    corp = {**CORP, "headers": {"x-team": "${TEAM}"}, "compat": {"supportsStore": False}}
    found = catalog(tmp_path, models={"corp": corp}, CORP_KEY="k", TEAM="red").find("corp/m")
    assert key_of(found) == "k"
    assert isinstance(found, RemoteModel)
    assert found.headers == {"x-team": "red"}
    info = found.info
    assert (info.ref, info.context_window, info.max_output) == ("corp/m", 32000, 16384)
    assert (info.images, info.reasoning) == (True, True)
    assert info.levels == ("off", "minimal", "low", "medium", "high")
    assert info.compat["supportsStore"] is False


def test_a_variable_that_models_json_names_is_missing(tmp_path: Path) -> None:
    with pytest.raises(AuthMissing, match="set the variable CORP_KEY, which models"):
        catalog(tmp_path, models={"corp": CORP}).find("corp/m")


def test_a_key_from_a_command(tmp_path: Path) -> None:
    corp = {**CORP, "apiKey": "!printf 'sk-%s\\n' cmd"}
    assert key_of(catalog(tmp_path, models={"corp": corp}).find("corp/m")) == "sk-cmd"
    with pytest.raises(SettingsError, match="ended with 3"):
        catalog(tmp_path, models={"corp": {**CORP, "apiKey": "!exit 3"}}).find("corp/m")
    with pytest.raises(AuthMissing, match="printed nothing"):
        catalog(tmp_path, models={"corp": {**CORP, "apiKey": "!true"}}).find("corp/m")


def test_overrides_change_a_known_model(tmp_path: Path) -> None:
    change = {"claude-haiku-4-5": {"maxTokens": 999, "thinkingLevelMap": {"off": None}}}
    models = {"anthropic": {"baseUrl": "http://127.0.0.1:9", "modelOverrides": change}}
    info = catalog(tmp_path, models=models).find("anthropic/claude-haiku-4-5").info
    assert (info.max_output, info.base_url) == (999, "http://127.0.0.1:9")
    assert info.context_window == 200_000
    assert "off" not in info.levels


def test_a_model_of_models_json_with_all_its_figures(tmp_path: Path) -> None:
    tier = {"inputTokensAbove": 1000, "input": 4}
    model = {
        "id": "x",
        "name": "Ex",
        "maxTokens": 5,
        "cost": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 3, "tiers": [tier]},
        "samplingParams": {"temperature": 0},
        "headers": {"x-a": "1"},
        "unknown": [1],
    }
    found = catalog(tmp_path, models={"corp": {**CORP, "models": [model]}}, CORP_KEY="k")
    remote = found.find("corp/x")
    assert isinstance(remote, RemoteModel)
    assert remote.headers == {"x-a": "1"}
    info = remote.info
    assert (info.name, info.max_output, info.reasoning) == ("Ex", 5, False)
    assert (info.price.cache_write, info.price.tiers[0].above) == (3, 1000)
    assert info.compat["samplingParams"] == {"temperature": 0}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "models.json is not valid JSON (Expecting property name enclosed in double quotes"),
        ("\xff\xfe", "models.json is not valid JSON"),
        ("[1]", "models.json holds no JSON object"),
        ('{"providers": 3}', "models.json: providers must be an object"),
        ('{"providers": {"c": []}}', "models.json: providers.c must be an object"),
        ('{"providers": {"c": {"models": 3}}}', "providers.c.models must be a list"),
        ('{"providers": {"c": {"models": [{}]}}}', "providers.c.models.0.id is missing"),
        ('{"providers": {"c": {"models": ["m"]}}}', "providers.c.models.0 must be an object"),
        ('{"providers": {"c": {"apiKey": 1}}}', "providers.c.apiKey must be a text"),
        ('{"providers": {"c": {"authHeader": "no way"}}}', "c.authHeader must be true or false"),
        (
            '{"providers": {"c": {"models": [{"id": "m", "contextWindow": "big"}]}}}',
            "providers.c.models.0.contextWindow must be a whole number",
        ),
        (
            '{"providers": {"c": {"models": [{"id": "m", "cost": {"input": "x"}}]}}}',
            "providers.c.models.0.cost.input must be a number",
        ),
        ('{"providers": {"c": {"headers": {"a": null}}}}', "providers.c.headers.a must be a text"),
        ('{"providers": {"c": {"compat": ' + "[" * 200 + "]" * 200 + "}}}", "nested more than 100"),
        ("[" * 100_000, "nested more than 100"),
        ('{"providers": {"c": {"models": [{"id": "m"}]}}}', "providers.c needs api and baseUrl"),
        ('{"providers": {"c": {"api": "soap"}}}', "api soap is not one of"),
    ],
)
def test_what_is_wrong_in_models_json_is_named(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "models.json").write_text(text, "utf-8")
    with pytest.raises(SettingsError, match=re.escape(why)) as caught:
        Catalog(tmp_path, NOWHERE).list()
    assert "_File" not in caught.value.message


def test_an_unknown_model_brings_near_ones(tmp_path: Path) -> None:
    with pytest.raises(SingletreeError) as caught:
        catalog(tmp_path).find("anthropic/claude-opus-5-6")
    assert caught.value.code == "no_model"
    assert "Did you mean anthropic/claude-opus-5-5" in caught.value.message


def test_an_open_provider_takes_any_id(tmp_path: Path) -> None:
    info = catalog(tmp_path, OPENROUTER_API_KEY="k").find("openrouter/some/new-model").info
    assert (info.ref, info.context_window) == ("openrouter/some/new-model", 128_000)


def test_a_bare_id_that_only_one_provider_has(tmp_path: Path) -> None:
    found = catalog(tmp_path, DEEPSEEK_API_KEY="k").find("deepseek-v4-flash")
    assert found.info.ref == "deepseek/deepseek-v4-flash"
    with pytest.raises(SingletreeError, match="There is no model openai/gpt-oss-120b"):
        catalog(tmp_path).find("openai/gpt-oss-120b")


def test_demo_and_scripted_need_nothing(tmp_path: Path) -> None:
    play = tmp_path / "play.jsonl"
    play.write_text('{"text": "hi"}\n', "utf-8")
    assert catalog(tmp_path).find("offline/demo").info.ref == "offline/demo"
    assert catalog(tmp_path).find(f"scripted:{play}").info.ref == "scripted/play.jsonl"


def test_a_script_is_played_on_when_it_is_asked_for_again(tmp_path: Path) -> None:
    play = tmp_path / "play.jsonl"
    play.write_text('{"text": "one"}\n{"text": "two"}\n')
    models = catalog(tmp_path)
    assert models.find(f"scripted:{play}") is models.find(f"scripted:{play}")


def test_the_list_says_what_is_missing(tmp_path: Path) -> None:
    listed = {one.info.ref: one for one in catalog(tmp_path, GROQ_API_KEY="k").list()}
    assert listed["groq/llama-3.3-70b-versatile"].available
    opus = listed["anthropic/claude-opus-5-5"]
    assert (opus.available, opus.missing) == (
        False,
        "set ANTHROPIC_API_KEY, or store a key in auth.json",
    )
    assert listed["offline/demo"].available
    assert len(listed) == sum(len(p.models) for p in PROVIDERS.values()) + 1


def test_every_built_in_model_is_sane() -> None:
    for provider in PROVIDERS.values():
        assert len({m.id for m in provider.models}) == len(provider.models)
        for info in provider.models:
            assert 0 < info.max_output <= info.context_window, info.id
            assert info.levels
            assert info.price.input <= info.price.output
            assert info.price.cache_read <= info.price.input
            assert info.reasoning == (info.levels != ("off",))


def test_keys_are_stored_for_the_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "agent"
    one = Catalog(folder, NOWHERE)
    one.set_key("anthropic", " sk-new \n")
    file = folder / "auth.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert json.loads(file.read_text("utf-8")) == {
        "anthropic": {"type": "api_key", "key": "sk-new"}
    }
    assert key_of(one.find("anthropic/claude-opus-5-5")) == "sk-new"
    one.remove_key("anthropic")
    one.remove_key("anthropic")
    with pytest.raises(AuthMissing):
        one.find("anthropic/claude-opus-5-5")
    assert [p.name for p in folder.iterdir()] == ["auth.json"]


def test_a_key_that_cannot_be_kept_says_why(tmp_path: Path) -> None:
    one = catalog(tmp_path)
    with pytest.raises(SettingsError, match="no provider grok; known are anthropic, openai, "):
        one.set_key("grok", "k")
    with pytest.raises(SettingsError, match="The key is empty: nothing was kept"):
        one.set_key("groq", " ")
    assert not (tmp_path / "auth.json").exists()


def test_a_link_to_auth_json_stays_one(tmp_path: Path) -> None:
    real = tmp_path / "elsewhere/auth.json"
    real.parent.mkdir()
    real.write_text("{}", "utf-8")
    (tmp_path / "auth.json").symlink_to(real)
    catalog(tmp_path).set_key("groq", "k")
    assert (tmp_path / "auth.json").is_symlink()
    assert json.loads(real.read_text("utf-8")) == {"groq": {"type": "api_key", "key": "k"}}


def test_other_entries_of_auth_json_are_kept(tmp_path: Path) -> None:
    other = {"type": "oauth", "access": "a", "expires": 1}
    one = catalog(tmp_path, auth={"x": other})
    one.set_key("openai", "k")
    kept = json.loads((tmp_path / "auth.json").read_text("utf-8"))
    assert kept == {"x": other, "openai": {"type": "api_key", "key": "k"}}


def test_a_key_needs_a_provider_and_a_text(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no provider nobody"):
        catalog(tmp_path).set_key("nobody", "k")
    with pytest.raises(SettingsError, match="empty"):
        catalog(tmp_path).set_key("openai", " ")


def test_a_broken_auth_json_is_named_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text('{"k": "sk-secret"', "utf-8")
    with pytest.raises(SettingsError, match=r"auth\.json") as caught:
        catalog(tmp_path).set_key("openai", "k")
    assert "sk-secret" not in caught.value.message
    assert (tmp_path / "auth.json").read_text("utf-8") == '{"k": "sk-secret"'


def test_where_keys_come_from(tmp_path: Path) -> None:
    one = catalog(
        tmp_path,
        auth={"openai": {"type": "api_key", "key": "a"}},
        models={"corp": CORP},
        GROQ_API_KEY="g",
    )
    status = {s.provider: s for s in one.auth_status()}
    assert {p: s.source for p, s in status.items()} == {
        "anthropic": None,
        "openai": "auth.json",
        "google": None,
        "openrouter": None,
        "groq": "environment",
        "deepseek": None,
        "ollama": None,
        "llama.cpp": None,
        "lmstudio": None,
        "corp": "models.json",
    }
    assert status["anthropic"].variables == ("ANTHROPIC_API_KEY",)
    assert not status["ollama"].needed


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        ("sk-1", "sk-1"),
        ("$A", "one"),
        ("${A}", "one"),
        ("x-${A}-$B", "x-one-two"),
        ("$MISSING", None),
        ("a$$A", "a$A"),
        ("$!true", "!true"),
        ("!echo hi", "hi"),
        ("cost: 5$", "cost: 5$"),
    ],
)
def test_values_that_stand_for_others(value: str, meaning: str | None) -> None:
    env = {"A": "one", "B": "two", "PATH": "/usr/bin:/bin"}
    assert resolve(value, env, of="it") == meaning
    assert (missing(value, env) is None) == (meaning is not None)


def local_server(names: list[str], **extra: Any) -> Any:
    def reply(seen: Seen) -> Reply:
        if seen.path == "/v1/models":
            return refusal(200, {"data": [{"id": name, **extra} for name in names]})
        if seen.path == "/props":
            return refusal(200, {"default_generation_settings": {"n_ctx": 8192}})
        if seen.path == "/api/ps":
            return refusal(200, {"models": [{"context_length": 16384}]})
        return Reply([chat({"content": "local"})])

    return reply


async def test_a_local_server_that_answers_is_used(tmp_path: Path) -> None:
    async with serving(local_server(["nomic-embed-text", "qwen3:8b"])) as server:
        one = Catalog(tmp_path, {**NOWHERE, "OLLAMA_HOST": server.url.removeprefix("http://")})
        model = await one.usable()
        assert model.info.ref == "ollama/qwen3:8b"
        assert model.info.context_window == 16384
        assert [m.ref for m in await one.discover()] == ["ollama/qwen3:8b"]
        assert (await answer(model, "hi")).model == "qwen3:8b"
        await one.http.close()
    body = server.bodies[-1]
    assert "max_tokens" in body
    assert "store" not in body


async def test_llama_cpp_tells_its_window(tmp_path: Path) -> None:
    async with serving(local_server(["gemma"])) as server:
        one = Catalog(tmp_path, {**NOWHERE, "LLAMA_CPP_HOST": server.url})
        info = (await one.usable()).info
    assert (info.ref, info.context_window, info.max_output) == ("llama.cpp/gemma", 8192, 4096)


async def test_a_local_server_that_does_not_hang_up(tmp_path: Path) -> None:
    body = json.dumps({"data": [{"id": "m"}]}).encode()
    length = {"content-length": str(len(body))}
    async with serving(lambda seen: Reply([body], headers=length, hold=True)) as server:
        one = Catalog(tmp_path, {**NOWHERE, "LMSTUDIO_HOST": server.url})
        assert (await one.usable()).info.ref == "lmstudio/m"


async def test_a_key_comes_before_a_local_server(tmp_path: Path) -> None:
    async with serving(local_server(["qwen"])) as server:
        env = {**NOWHERE, "OLLAMA_HOST": server.url, "OPENAI_API_KEY": "k"}
        model = await Catalog(tmp_path, env).usable()
    assert model.info.provider == "openai"
    assert server.seen == []


@pytest.mark.parametrize("names", [["m"], [], None])
async def test_a_local_provider_of_models_json_must_answer(
    tmp_path: Path, names: list[str] | None
) -> None:
    def no_list(seen: Seen) -> Reply:
        return refusal(404, {"error": "no such address"})

    async with serving(no_list if names is None else local_server(names)) as server:
        corp = {**CORP, "baseUrl": f"{server.url}/v1", "apiKey": None}
        one = catalog(tmp_path, models={"corp": {k: v for k, v in corp.items() if v}})
        assert (await one.usable()).info.ref == "corp/m"
    again = catalog(tmp_path)
    assert (await again.usable()).info.ref == "offline/demo"


async def test_with_nothing_at_all_there_is_the_demo(tmp_path: Path) -> None:
    assert (await catalog(tmp_path).usable()).info.ref == "offline/demo"


async def test_a_key_command_that_fails_does_not_spoil_the_rest(tmp_path: Path) -> None:
    async with serving(local_server(["m"])) as server:
        home = {**CORP, "baseUrl": f"{server.url}/v1", "apiKey": "!exit 3"}
        one = catalog(tmp_path, models={"corp": home})
        assert [m.ref for m in await one.discover()] == ["corp/m"]
        assert (await one.usable()).info.ref == "offline/demo"
    with pytest.raises(SettingsError, match="The command that gives the key of corp failed"):
        await anyio.to_thread.run_sync(one.find, "corp/m")


@pytest.mark.parametrize("host", ["127.0.0.1:abc", "::1", "http://[::1", "a:99999999"])
def test_a_host_that_is_no_address_changes_nothing(tmp_path: Path, host: str) -> None:
    one = Catalog(tmp_path, {"OLLAMA_HOST": host})
    assert one.find("ollama/x").info.base_url == "http://127.0.0.1:11434/v1"


async def test_a_base_url_that_is_none_is_told_when_it_is_used(tmp_path: Path) -> None:
    odd = {**CORP, "baseUrl": "http://[::1", "apiKey": "k"}
    one = catalog(tmp_path, models={"corp": odd})
    await one.discover()
    model = await anyio.to_thread.run_sync(one.find, "corp/m")
    with pytest.raises(ModelError, match="corp: "):
        await model.answer(ModelRequest("s", (UserMessage(content="x"),)), print)


def test_a_login_in_a_header_whose_variable_is_not_set(tmp_path: Path) -> None:
    given = {k: v for k, v in CORP.items() if k != "apiKey"}
    given["headers"] = {"Authorization": "Bearer $CORP_TOKEN"}
    with pytest.raises(AuthMissing, match="set the variable CORP_TOKEN, which models"):
        catalog(tmp_path, models={"corp": given}).find("corp/m")
    assert catalog(tmp_path, models={"corp": given}, CORP_TOKEN="t").find("corp/m")


async def test_a_silent_local_server_costs_300_ms(tmp_path: Path) -> None:
    async with serving([Reply(hold=True)]) as server:
        env = {**NOWHERE, "OLLAMA_HOST": server.url}
        model = await Catalog(tmp_path, env).usable()
    assert model.info.ref == "offline/demo"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("box:99", "http://box:99/v1"),
        ("https://box/api/", "https://box:11434/api"),
        ("[::1]:5", "http://[::1]:5/v1"),
    ],
)
def test_ollama_where_its_own_variable_says(tmp_path: Path, host: str, url: str) -> None:
    assert Catalog(tmp_path, {"OLLAMA_HOST": host}).find("ollama/x").info.base_url == url


def test_a_base_url_of_the_environment(tmp_path: Path) -> None:
    one = catalog(tmp_path, ANTHROPIC_BASE_URL="http://127.0.0.1:7")
    assert one.find("anthropic/claude-opus-5-5").info.base_url == "http://127.0.0.1:7"


def test_long_cache_retention(tmp_path: Path) -> None:
    one = catalog(tmp_path, PI_CACHE_RETENTION="long", OPENAI_API_KEY="k")
    assert one.find("openai/gpt-5.5").info.compat["cacheRetention"] == "long"


WARMED = """
import sys, anyio, pathlib
from singletree.model.catalog import Catalog
catalog = Catalog(pathlib.Path(sys.argv[1]), dict(pair.split("=") for pair in sys.argv[3:]))
anyio.run(catalog.warm_up, sys.argv[2] or None)
print("httpx" in sys.modules)
"""


@pytest.mark.parametrize(
    ("wished", "env", "warm"),
    [
        ("", [], "False"),
        ("offline/demo", ["OPENAI_API_KEY=k"], "False"),
        ("scripted:x.jsonl", ["OPENAI_API_KEY=k"], "False"),
        ("", ["OPENAI_API_KEY=k"], "True"),
        ("llama.cpp/m", [], "True"),
    ],
)
def test_the_way_is_made_early_only_where_it_will_be_gone(
    tmp_path: Path, wished: str, env: list[str], warm: str
) -> None:
    command = [sys.executable, "-c", WARMED, str(tmp_path), wished, *env]
    assert (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == warm
    )


async def test_closing_closes_the_connections(tmp_path: Path) -> None:
    async with serving([chat({"content": "a"})]) as server:
        corp = {**CORP, "baseUrl": f"{server.url}/v1", "apiKey": "k"}
        one = catalog(tmp_path, models={"corp": corp})
        await answer(await anyio.to_thread.run_sync(one.find, "corp/m"), "hi")
        assert server.open == 1
        await one.close()
        with anyio.fail_after(1):
            await server.empty.wait()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("!printf 'a\\nb'", "it printed more than one line"),
        ("!exit 3", "it ended with 3"),
        ("!no-such-program", "it ended with 127"),
        ("!yes", "it printed more than 64 KiB"),
        ("!exec >&-; exit 3", "it ended with 3"),
        ("!echo a\0b", "embedded null byte"),
    ],
)
def test_a_key_command_that_gives_no_key(command: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        resolve(command, NOWHERE, of="the key of corp")


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_key_command_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    started = time.monotonic()
    with pytest.raises(SettingsError, match="it took more than 10 seconds"):
        resolve(f"!sleep 300 & echo $! > {file}; wait", NOWHERE, of="it")
    child = Path(f"/proc/{file.read_text().strip()}/stat")
    while _lives(child):  # the signal takes a moment to arrive
        assert time.monotonic() - started < 30
        time.sleep(0.01)


def _lives(stat: Path) -> bool:
    """Whether a process is there and not only waits for its parent to look."""
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
