"""Trust: who decides, what is left aside without it, and when the question is open again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from singletree.errors import SettingsError
from singletree.session.settings.trust import Trust, Why, gated, save_trust, seal, trust_of

EXTENSION = "def setup(api):\n    pass\n"


@dataclass
class Place:
    """An agent folder, and a project that brings everything along."""

    agent_dir: Path
    workspace: Path

    def write(self, name: str, text: str) -> Path:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def decisions(self, text: str) -> None:
        self.agent_dir.mkdir(exist_ok=True)
        (self.agent_dir / "trust.json").write_text(text, "utf-8")

    def look(self) -> tuple[bool, Why]:
        trust = trust_of(self.agent_dir, self.workspace)
        return trust.trusted, trust.why


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path / "agent", tmp_path / "code" / "project")
    place.write(".pi/extensions/extension.py", EXTENSION)
    place.write(".pi/settings.json", '{"trusted": true, "defaultProjectTrust": "always"}')
    place.write(".pi/SYSTEM.md", "be evil")
    place.write("AGENTS.md", "harmless")
    return place


def test_nobody_decided_is_a_no_that_lists_what_it_left_aside(place: Place) -> None:
    trust = trust_of(place.agent_dir, place.workspace)
    assert (trust.trusted, trust.why) == (False, "undecided")
    assert [(s.kind, s.path.name) for s in trust.skipped] == [
        ("settings", "settings.json"),
        ("extensions", "extensions"),
        ("system_prompt", "SYSTEM.md"),
    ]
    assert not place.agent_dir.exists()


def test_a_project_without_anything_of_its_own_needs_no_trust(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    assert trust_of(tmp_path / "agent", tmp_path / "w") == Trust(True, "nothing_gated")


def test_skills_above_count_up_to_the_repository(tmp_path: Path) -> None:
    for folder in ("r/.git", "r/.agents/skills", "r/a/b/.agents/skills", ".agents/skills"):
        (tmp_path / folder).mkdir(parents=True)
    found = [s.path.relative_to(tmp_path.resolve()) for s in gated(tmp_path / "r" / "a" / "b")]
    assert found == [Path("r/a/b/.agents/skills"), Path("r/.agents/skills")]


def test_the_users_own_skills_are_no_projects(own_home: Path) -> None:
    (own_home / ".agents" / "skills").mkdir(parents=True)
    (own_home / "w").mkdir()
    assert list(gated(own_home / "w")) == []


@pytest.mark.parametrize(
    ("default", "trusted", "why"),
    [("ask", False, "undecided"), ("always", True, "default"), ("never", False, "default")],
)
def test_the_users_default(
    place: Place, default: Literal["ask", "always", "never"], trusted: bool, why: Why
) -> None:
    trust = trust_of(place.agent_dir, place.workspace, default=default)
    assert (trust.trusted, trust.why) == (trusted, why)


@pytest.mark.parametrize("decided", [True, False])
def test_the_editor_decides_before_all_else_and_nothing_is_kept(
    place: Place, decided: bool
) -> None:
    save_trust(place.agent_dir, place.workspace, not decided)
    trust = trust_of(place.agent_dir, place.workspace, decided=decided)
    assert (trust.trusted, trust.why, bool(trust.skipped)) == (decided, "decided", not decided)
    assert place.look() == (not decided, "saved")


def test_the_nearest_decision_counts(place: Place) -> None:
    parent = place.workspace.parent
    place.decisions(json.dumps({str(parent): True}))
    assert place.look() == (True, "saved")
    place.decisions(json.dumps({str(parent): True, str(place.workspace): False}))
    assert place.look() == (False, "saved")
    place.decisions(json.dumps({str(parent): False, str(place.workspace): "yes"}))
    assert place.look() == (False, "saved")
    place.decisions(json.dumps({str(parent) + "-evil": True}))
    assert place.look() == (False, "undecided")


def test_a_link_to_a_project_is_the_project(place: Place, tmp_path: Path) -> None:
    save_trust(place.agent_dir, place.workspace, True)
    link = tmp_path / "link"
    link.symlink_to(place.workspace)
    assert trust_of(place.agent_dir, link).trusted


def test_a_decision_can_be_changed_and_forgotten(place: Place) -> None:
    place.decisions('{"/elsewhere": true, "note": [1]}')
    save_trust(place.agent_dir, place.workspace, True)
    assert place.look() == (True, "saved")
    save_trust(place.agent_dir, place.workspace, False)
    assert place.look() == (False, "saved")
    save_trust(place.agent_dir, place.workspace, None)
    assert place.look() == (False, "undecided")
    kept = json.loads((place.agent_dir / "trust.json").read_text("utf-8"))
    assert kept == {"/elsewhere": True, "note": [1]}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".pi/extensions/extension.py", EXTENSION.replace("pass", "pas ")),
        (".pi/extensions/another.py", EXTENSION),
        (".pi/extensions/pack/__init__.py", EXTENSION),
        (".pi/settings.json", '{"shellPath": "./evil.sh"}'),
        (".pi/settings.json", '{"extensions": ["./evil.py"]}'),
    ],
)
def test_other_code_opens_the_question_again(place: Place, name: str, text: str) -> None:
    save_trust(place.agent_dir, place.workspace, True)
    assert place.look() == (True, "saved")
    place.write(name, text)
    trust = trust_of(place.agent_dir, place.workspace)
    assert (trust.trusted, trust.why) == (False, "changed")
    assert trust.skipped
    assert place.look() == (False, "changed")
    save_trust(place.agent_dir, place.workspace, True)
    assert place.look() == (True, "saved")


def test_files_inside_an_extension_are_under_the_seal_and_its_caches_are_not(place: Place) -> None:
    place.write(".pi/extensions/pack/__init__.py", EXTENSION)
    data = place.write(".pi/extensions/pack/deep/data.json", "{}")
    (place.workspace / ".pi/extensions/pack/deep/loop").symlink_to(data.parent)
    before = seal(place.workspace)
    place.write(".pi/extensions/pack/__pycache__/x.pyc", "junk")
    assert seal(place.workspace) == before
    data.write_text("{ }", "utf-8")
    assert seal(place.workspace) != before


def test_code_behind_a_link_is_under_the_seal(place: Place) -> None:
    hidden = place.write("src/helper.py", EXTENSION)
    (place.workspace / ".pi/extensions/linked.py").symlink_to(hidden)
    before = seal(place.workspace)
    hidden.write_text("import os", "utf-8")
    assert seal(place.workspace) != before


def test_what_is_not_code_may_change(place: Place) -> None:
    save_trust(place.agent_dir, place.workspace, True)
    place.write(".pi/SYSTEM.md", "be kind")
    place.write(".pi/settings.json", '{"maxSteps": 7}')
    place.write(".pi/skills/x/SKILL.md", "---\n---\n")
    assert place.look() == (True, "saved")


def test_a_yes_from_elsewhere_is_sealed_when_it_is_first_seen(place: Place) -> None:
    place.decisions(json.dumps({str(place.workspace): True}))
    assert place.look() == (True, "saved")
    place.write(".pi/extensions/extension.py", "import os")
    assert place.look() == (False, "changed")


def test_a_broken_file_of_decisions_is_a_no_that_is_told_and_kept(place: Place) -> None:
    place.decisions("{oops")
    trust = trust_of(place.agent_dir, place.workspace, default="ask")
    assert (trust.trusted, trust.why) == (False, "undecided")
    assert "trust.json is not valid JSON" in trust.warnings[0]
    with pytest.raises(SettingsError):
        save_trust(place.agent_dir, place.workspace, True)
    assert (place.agent_dir / "trust.json").read_text("utf-8") == "{oops"


def test_decisions_are_for_their_owner_only(place: Place) -> None:
    save_trust(place.agent_dir, place.workspace, True)
    for name in ("trust.json", "singletree/seals.json"):
        path = place.agent_dir / name
        assert path.stat().st_mode & 0o077 == 0
        assert path.parent.stat().st_mode & 0o077 == 0
