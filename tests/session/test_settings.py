"""Settings: layers, what is wrong in a file, what a workspace may not say, changing one value."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from singletree.errors import SettingsError
from singletree.session.settings.file import read_file, value_at, write_value
from singletree.session.settings.keys import DEFAULT_TOOLS, Environment, Sandbox, Settings
from singletree.session.settings.layers import (
    USER_ONLY,
    Layers,
    load_settings,
    read_layers,
    set_value,
    settings_path,
)
from singletree.session.settings.schema import schema_of, settings_schema


@dataclass
class Place:
    """An agent folder and a workspace."""

    agent_dir: Path
    workspace: Path

    def user(self, text: str | dict[str, JsonValue]) -> Path:
        return self._write(self.agent_dir / "settings.json", text)

    def own(self, text: str | dict[str, JsonValue]) -> Path:
        return self._write(self.workspace / ".pi" / "settings.json", text)

    def layers(self, overrides: dict[str, JsonValue] | None = None, trusted: bool = True) -> Layers:
        return read_layers(self.agent_dir, self.workspace, overrides, trusted)

    def _write(self, path: Path, text: str | dict[str, JsonValue]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
        return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "agent", tmp_path / "w")


def test_without_files_everything_is_as_pi_has_it(place: Place) -> None:
    settings = load_settings(place.agent_dir, place.workspace, {}, True)
    assert settings == Settings()
    assert (settings.compaction.reserve_tokens, settings.compaction.keep_recent_tokens) == (
        16_384,
        20_000,
    )
    assert (settings.retry.max_retries, settings.retry.base_delay_ms) == (3, 2_000)
    assert settings.default_tools == list(DEFAULT_TOOLS)
    assert settings.steering_mode == settings.follow_up_mode == "one-at-a-time"
    assert not place.agent_dir.exists()


def test_a_higher_layer_speaks_over_a_lower_one_key_by_key(place: Place) -> None:
    place.user({"compaction": {"reserveTokens": 1, "keepRecentTokens": 2}, "shellPath": "/bin/a"})
    place.own({"compaction": {"keepRecentTokens": 3}, "maxSteps": 5})
    layers = place.layers({"maxSteps": 6})
    assert layers.settings.compaction.reserve_tokens == 1
    assert layers.settings.compaction.keep_recent_tokens == 3
    assert layers.settings.max_steps == 6
    assert [
        layers.source_of(key)
        for key in (
            "compaction.reserveTokens",
            "compaction.keepRecentTokens",
            "maxSteps",
            "retry.enabled",
        )
    ] == ["user", "workspace", "override", "default"]
    assert layers.value_of("compaction.keepRecentTokens") == 3
    assert layers.value_of("retry.provider.maxRetryDelayMs") == 60_000
    with pytest.raises(SettingsError, match="There is no setting"):
        layers.value_of("retry.nothing")


def test_an_untrusted_workspace_says_nothing(place: Place) -> None:
    place.own({"maxSteps": 5})
    layers = place.layers(trusted=False)
    assert layers.settings == Settings()
    assert [scope for scope, _ in layers.values] == ["user"]


@pytest.mark.parametrize("key", USER_ONLY)
def test_a_trusted_workspace_may_not_say_everything(place: Place, key: str) -> None:
    place.own({key: "always", "maxSteps": 5})
    layers = place.layers()
    assert layers.ignored == (key,)
    assert layers.settings == Settings(max_steps=5)


def test_rules_of_the_user_count(place: Place) -> None:
    place.user({"permissions": {"mode": "readOnly"}, "defaultProjectTrust": "never"})
    place.own({"permissions": {"mode": "allowAll"}, "defaultProjectTrust": "always"})
    settings = place.layers().settings
    assert settings.permissions.mode == "readOnly"
    assert settings.default_project_trust == "never"


def test_a_workspace_opens_nothing_in_the_sandbox(place: Place) -> None:
    place.user({"sandbox": {"writable": ["~/cache"]}, "environment": {"drop": ["CI"]}})
    place.own(
        {
            "sandbox": {"enabled": False, "network": True, "writable": ["/"]},
            "environment": {"keep": ["*"]},
            "maxSteps": 5,
        }
    )
    layers = place.layers()
    assert layers.settings.sandbox == Sandbox(writable=["~/cache"])
    assert layers.settings.environment == Environment(drop=["CI"])
    assert layers.settings.max_steps == 5
    assert set(layers.ignored) == {"sandbox", "environment"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": ', "is not valid JSON"),
        ("[1]", "holds no JSON object"),
        ("[" * 100_000, "is not valid JSON"),
    ],
)
def test_a_broken_file_is_told_left_alone_and_counts_as_empty(
    place: Place, text: str, why: str
) -> None:
    path = place.user(text)
    place.own({"maxSteps": 5})
    layers = place.layers()
    assert layers.settings == Settings(max_steps=5)
    assert len(layers.warnings) == 1
    assert str(path) in layers.warnings[0]
    assert why in layers.warnings[0]
    with pytest.raises(SettingsError, match=why):
        set_value(path, "maxSteps", 3)
    assert path.read_text("utf-8") == text


def test_bytes_that_are_no_text_are_told(place: Place) -> None:
    place.user("{}").write_bytes(b"\xff\xfe{")
    assert "cannot be read" in place.layers().warnings[0]


def test_a_byte_order_mark_and_an_empty_file_are_no_harm(place: Place) -> None:
    place.user('\ufeff{"maxSteps": 7}')
    place.own("\n")
    layers = place.layers()
    assert layers.settings.max_steps == 7
    assert layers.warnings == ()


def test_a_value_that_does_not_fit_leaves_the_layer_below_in_force(place: Place) -> None:
    place.user({"compaction": {"reserveTokens": 9}, "steeringMode": "all"})
    own = place.own(
        {
            "compaction": {"reserveTokens": "many", "keepRecentTokens": 4},
            "steeringMode": "sometimes",
            "defaultTools": ["read", 3],
            "retry": None,
        }
    )
    layers = place.layers()
    settings = layers.settings
    assert settings.compaction.reserve_tokens == 9
    assert settings.compaction.keep_recent_tokens == 4
    assert settings.steering_mode == "all"
    assert settings.default_tools == list(DEFAULT_TOOLS)
    assert sorted(layers.warnings) == [
        f'{own}: "compaction.reserveTokens" is left out: should be a valid integer.',
        f'{own}: "defaultTools" is left out: should be a valid string.',
        f"{own}: \"steeringMode\" is left out: should be 'one-at-a-time' or 'all'.",
    ]


def test_values_that_would_fit_are_named_as_they_are_written(place: Place) -> None:
    file = place.user({"permissions": {"mode": "acceptAll"}})
    assert place.layers().warnings == (
        f'{file}: "permissions.mode" is left out: '
        "should be 'ask', 'acceptEdits', 'readOnly' or 'allowAll'.",
    )


def test_limits_of_one_model_fall_back_number_by_number(place: Place) -> None:
    place.user(
        {
            "compaction": {
                "reserveTokens": 10,
                "modelOverrides": {"local/small": {"keepRecentTokens": 7}},
            }
        }
    )
    compaction = place.layers().settings.compaction
    small, other = compaction.limits("local/small"), compaction.limits("local/other")
    assert (small.reserve, small.keep_recent, small.enabled) == (10, 7, True)
    assert (other.reserve, other.keep_recent) == (10, 20_000)


@pytest.mark.parametrize(
    ("user", "own", "expected"),
    [
        (None, ["grep"], ["grep"]),
        (["read"], ["+grep", "-read"], ["grep"]),
        (["-grep", "-bash"], ["-ls"], ["read", "edit", "write", "find"]),
        (["read", "ls"], None, ["read", "ls"]),
        (["read"], [], []),
        (["+read", "-nothing"], None, list(DEFAULT_TOOLS)),
        (["read", "+grep"], ["-grep"], ["read"]),
    ],
)
def test_active_tools_are_named_anew_or_changed(
    place: Place, user: list[JsonValue] | None, own: list[JsonValue] | None, expected: list[str]
) -> None:
    place.user({"defaultTools": user})
    place.own({"defaultTools": own})
    assert place.layers().settings.default_tools == expected


def test_lists_of_resources_grow_and_other_lists_are_replaced(place: Place) -> None:
    place.user({"skills": ["a", "b"], "enabledModels": ["x"]})
    place.own({"skills": ["b", "c"], "enabledModels": ["y"]})
    settings = place.layers().settings
    assert settings.skills == ["a", "b", "c"]
    assert settings.enabled_models == ["y"]


def test_older_names_are_understood(place: Place) -> None:
    place.user(
        {
            "queueMode": "all",
            "skills": {"customDirectories": ["s"], "enableSkillCommands": False},
            "retry": {"maxDelayMs": 5, "maxRetries": 1},
        }
    )
    settings = place.layers().settings
    assert settings.steering_mode == "all"
    assert (settings.skills, settings.enable_skill_commands) == (["s"], False)
    assert (settings.retry.max_retries, settings.retry.provider.max_retry_delay_ms) == (1, 5)


def test_an_editor_may_say_it_flat(place: Place) -> None:
    layers = place.layers({"compaction.enabled": False, "compaction": {"reserveTokens": 3}})
    assert not layers.settings.compaction.enabled
    assert layers.settings.compaction.reserve_tokens == 3
    assert place.layers({"compaction": 3}).warnings[0].startswith("the editor's settings: ")


def test_setting_a_value_keeps_everything_else(place: Place) -> None:
    path = place.user('{"z": [1, {"q": null}], "compaction": {"x": 1}, "ü": "→"}')
    path.chmod(0o640)
    set_value(path, "compaction.reserveTokens", 5)
    set_value(path, "steeringMode", "all")
    assert json.loads(path.read_text("utf-8")) == {
        "z": [1, {"q": None}],
        "compaction": {"x": 1, "reserveTokens": 5},
        "ü": "→",
        "steeringMode": "all",
    }
    assert "→" in path.read_text("utf-8")
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in path.parent.iterdir()] == ["settings.json"]


def test_a_new_file_is_for_its_owner_only(place: Place) -> None:
    path = settings_path(place.agent_dir, place.workspace, "user")
    set_value(path, "retry.provider.maxRetryDelayMs", 1)
    assert read_file(path) == {"retry": {"provider": {"maxRetryDelayMs": 1}}}
    assert path.stat().st_mode & 0o777 == 0o600


def test_removing_a_value_leaves_no_empty_group(place: Place) -> None:
    path = place.user({"retry": {"provider": {"maxRetries": 1}}, "maxSteps": 2})
    set_value(path, "retry.provider.maxRetries", None)
    assert read_file(path) == {"maxSteps": 2}
    set_value(path, "retry.provider.maxRetries", None)
    assert read_file(path) == {"maxSteps": 2}


def test_a_link_stays_a_link(place: Place, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}", "utf-8")
    place.agent_dir.mkdir()
    link = place.agent_dir / "settings.json"
    link.symlink_to(real)
    set_value(link, "maxSteps", 4)
    assert link.is_symlink()
    assert read_file(real) == {"maxSteps": 4}


@pytest.mark.parametrize(
    ("key", "value", "scope", "why"),
    [
        ("maxSteps", 0, "user", "greater than or equal to 1"),
        ("steeringMode", "bogus", "user", "'one-at-a-time' or 'all'"),
        ("permissions", {"allow": ["bash"]}, "workspace", "only in the user settings"),
        ("permissions.allow", [], "workspace", "only in the user settings"),
        ("shellPath.x", "y", "user", "valid string"),
    ],
)
def test_what_would_not_count_is_not_written(
    place: Place, key: str, value: JsonValue, scope: str, why: str
) -> None:
    path = place.own({"maxSteps": 1})
    with pytest.raises(SettingsError, match=why):
        set_value(path, key, value, "workspace" if scope == "workspace" else "user")
    assert read_file(path) == {"maxSteps": 1}


def test_a_value_is_no_group(place: Place) -> None:
    path = place.user({"shellPath": "/bin/sh"})
    with pytest.raises(SettingsError, match='"shellPath" is not a group'):
        write_value(path, "shellPath.x", 1)


KEYS = st.text("abc", min_size=1, max_size=2)
TREES = st.recursive(
    st.integers() | st.booleans(), lambda below: st.dictionaries(KEYS, below, max_size=3)
)


@given(whole=st.dictionaries(KEYS, TREES, max_size=3), parts=st.lists(KEYS, min_size=1, max_size=3))
def test_any_value_that_is_set_is_there_and_alone(
    tmp_path_factory: pytest.TempPathFactory, whole: dict[str, JsonValue], parts: list[str]
) -> None:
    path = tmp_path_factory.mktemp("s") / "settings.json"
    path.write_text(json.dumps(whole), "utf-8")
    key = ".".join(parts)
    try:
        write_value(path, key, "here")
    except SettingsError:
        assert read_file(path) == whole
        return
    written = read_file(path)
    assert value_at(written, key) == (True, "here")
    write_value(path, key, None)
    assert not value_at(read_file(path), key)[0]


def test_the_schema_describes_every_key() -> None:
    schema = settings_schema()
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert "defaultTools" in properties
    for name, value in properties.items():
        assert isinstance(value, dict)
        assert "description" in value or "$ref" in value, name


def test_the_schema_of_one_key() -> None:
    tokens = schema_of("compaction.reserveTokens")
    assert tokens is not None and tokens["type"] == "integer" and "$defs" not in tokens
    group = schema_of("compaction")
    assert group is not None and "$defs" in group and "properties" in group
    override = schema_of("compaction.modelOverrides.provider/id.reserveTokens")
    assert override is not None and "anyOf" in override
    assert schema_of("permissions.mode") is not None
    for unknown in ("nothing", "compaction.nothing", "maxSteps.more", ""):
        assert schema_of(unknown) is None


def test_unsaved_texts_count_before_files_and_only_whole(place: Place) -> None:
    path = place.user({"maxSteps": 1})
    for text, steps in ((b'{"maxSteps": 2}', 2), (b'{"maxSteps": ', 1), (b"\xff", 1), (b"", 500)):
        layers = read_layers(place.agent_dir, None, unsaved={path.resolve(): text})
        assert (layers.settings.max_steps, layers.warnings) == (steps, ())
