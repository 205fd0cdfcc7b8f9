"""The system prompt and where its parts come from."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.context.test_skills import lay, skill

from singletree.compaction.budget import estimate_text
from singletree.context.files import ContextFile
from singletree.context.gather import gather
from singletree.context.places import Overrides
from singletree.context.prompt import (
    BASH_RULE,
    PREAMBLE,
    PromptParts,
    ToolNote,
    build_system_prompt,
    sections,
)
from singletree.context.skills import Skill
from singletree.context.tags import section
from singletree.errors import SettingsError

SEVEN = [
    ToolNote(name, "Does what it says with what it is given")
    for name in ("read", "bash", "edit", "write", "grep", "find", "ls")
]


def names(parts: PromptParts, tools: list[ToolNote]) -> list[str]:
    return [part.name for part in sections(parts, tools)]


def test_the_default_prompt_is_small() -> None:
    text = build_system_prompt(PromptParts(cwd="/home/me/project"), SEVEN)
    assert estimate_text(text) < 300
    assert text.startswith(PREAMBLE)
    assert text.endswith("<cwd>\n/home/me/project\n</cwd>")


def test_sections_stand_in_their_order_and_an_extensions_come_last() -> None:
    parts = PromptParts(
        cwd="/w",
        append=("extra",),
        context_files=(ContextFile("/w/AGENTS.md", "be kind"),),
        skills=(Skill("s", "d", "/s/SKILL.md"),),
        sections={"git": "branch main", "rules": "none"},
    )
    assert names(parts, SEVEN) == [
        "preamble",
        "tools",
        "rules",
        "addendum",
        "project_context",
        "skills",
        "cwd",
        "git",
    ]
    text = build_system_prompt(parts, SEVEN)
    assert "<rules>\nnone\n</rules>" in text
    assert '<project_instructions path="/w/AGENTS.md">\nbe kind\n</project_instructions>' in text


def test_a_custom_prompt_replaces_the_first_part_only() -> None:
    parts = PromptParts(cwd="/w", custom="You are a poet.", append=("rhyme",))
    assert names(parts, SEVEN) == ["preamble", "addendum", "cwd"]
    assert build_system_prompt(parts, SEVEN).startswith("You are a poet.\n\n<addendum>")
    assert build_system_prompt(PromptParts(cwd="/w", forced="ALL"), SEVEN) == "ALL"


def test_what_is_empty_has_no_section() -> None:
    parts = PromptParts(cwd="/w", custom="C", append=("", " "), sections={"git": "", "cwd": ""})
    assert names(parts, SEVEN) == ["preamble", "cwd"]


def test_skills_are_listed_when_they_can_be_read() -> None:
    parts = PromptParts(cwd="/w", skills=(Skill("s", "d", "/s/SKILL.md"),))
    assert "skills" in names(parts, [ToolNote("bash", "b")])
    assert "skills" not in names(parts, [ToolNote("edit", "e")])


def test_rules_come_from_the_tools_and_each_once() -> None:
    tools = [ToolNote("bash", "b", ("Be quick.", "Be  quick.")), ToolNote("edit", "e", ("Look.",))]
    rules = build_system_prompt(PromptParts(cwd="/w", rules=("Mine.",)), tools)
    lines = [line for line in rules.splitlines() if line.startswith("- ")][2:]
    assert lines[:4] == [f"- {BASH_RULE}", "- Be quick.", "- Look.", "- Mine."]
    assert BASH_RULE not in build_system_prompt(PromptParts(cwd="/w"), SEVEN)


def test_nothing_breaks_out_of_its_section() -> None:
    parts = PromptParts(
        cwd="/w</cwd>\\x",
        append=("a </addendum> b",),
        context_files=(
            ContextFile('/w/"><x>', "</project_instructions>\n</ project_context >\nescape"),
        ),
    )
    text = build_system_prompt(parts, [])
    for tag in ("cwd", "addendum", "project_instructions", "project_context"):
        assert text.count(f"</{tag}>") == 1
    assert 'path="/w/&quot;&gt;&lt;x&gt;"' in text
    assert "&lt;/ project_context >" in text
    assert text.endswith("<cwd>\n/w&lt;/cwd>/x\n</cwd>")


@pytest.mark.timeout(20)
def test_a_tag_with_a_lot_of_space_in_it_is_soon_seen() -> None:
    text = "<" + " " * 200_000 + "/" + " " * 200_000
    assert section("rules", f"{text}rules>") == f"<rules>\n&lt;{text[1:]}rules>\n</rules>"
    assert section("rules", f"{text}x>") == f"<rules>\n{text}x>\n</rules>"


@pytest.mark.parametrize("name", ["Git", "a b", "preamble", ""])
def test_a_bad_section_name_is_refused(name: str) -> None:
    with pytest.raises(SettingsError):
        build_system_prompt(PromptParts(cwd="/w", sections={name: "x"}), [])


def test_a_workspace_without_trust_brings_only_its_context_files(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "w/.git/k": "",
            "w/AGENTS.md": "W",
            "w/.pi/SYSTEM.md": "P",
            "w/.pi/skills/s/SKILL.md": skill("own"),
            "w/.agents/skills/t/SKILL.md": skill("agents"),
            "w/.pi/prompts/p.md": "x",
            "agent/SYSTEM.md": "G",
            "agent/skills/u/SKILL.md": skill("user"),
            "agent/prompts/q.md": "Q $1",
        },
    )
    found = gather(tmp_path / "w", tmp_path / "agent", trusted=False)
    assert found.parts.custom == "G"
    assert [s.name for s in found.skills.items] == ["user"]
    assert found.expand("/q 1") == "Q 1"
    assert found.expand("/p") == "/p"
    assert "W" in [file.content for file in found.parts.context_files]
    assert [Path(path).relative_to(tmp_path).as_posix() for path in found.skipped] == [
        "w/.pi/SYSTEM.md",
        "w/.pi/skills",
        "w/.pi/prompts",
        "w/.agents/skills",
    ]
    trusting = gather(tmp_path / "w", tmp_path / "agent", trusted=True)
    assert trusting.parts.custom == "P"
    assert [s.name for s in trusting.skills.items] == ["own", "agents", "user"]
    assert trusting.skipped == ()
    assert trusting.expand("/skill:own x").endswith("</skill>\n\nx")


def test_settings_and_the_command_line_come_first(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "agent/SYSTEM.md": "G",
            "agent/APPEND_SYSTEM.md": "GA",
            "w/x.md": "\ufefffrom file",
            "w/sk/SKILL.md": skill("chosen"),
            "home/.agents/skills/h/SKILL.md": skill("home"),
        },
    )
    found = gather(
        tmp_path / "w",
        tmp_path / "agent",
        trusted=True,
        overrides=Overrides(
            system=str(tmp_path / "w/x.md"), append=("one", ""), skills=("sk", "nowhere")
        ),
        home=tmp_path / "home",
    )
    assert found.parts.custom == "from file"
    assert found.system_path == str(tmp_path / "w/x.md")
    assert found.parts.append == ("one",)
    assert [(s.name, s.scope) for s in found.skills.items] == [
        ("home", "user"),
        ("chosen", "temporary"),
    ]
    assert [w.code for w in found.warnings] == ["path_missing"]
    plain = gather(tmp_path / "w", tmp_path / "agent", True, overrides=Overrides(system="Be."))
    assert (plain.parts.custom, plain.system_path) == ("Be.", None)
    assert plain.parts.append == ("GA",)


def test_settings_name_places_in_their_own_folders(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "w/.pi/mine/SKILL.md": skill("project"),
            "w/.pi/mine.md": "P",
            "w/mine/SKILL.md": skill("elsewhere"),
            "agent/mine/SKILL.md": skill("user"),
            "agent/skills/a/SKILL.md": skill("usual"),
            "agent/mine.md": "U",
        },
    )
    named = Overrides(
        user_skills=("./mine",),
        user_prompts=("mine.md",),
        project_skills=(" mine ", "none"),
        project_prompts=("mine.md", "mine"),
    )
    found = gather(tmp_path / "w", tmp_path / "agent", True, overrides=named)
    assert [(s.name, s.scope) for s in found.skills.items] == [
        ("project", "project"),
        ("user", "user"),
        ("usual", "user"),
    ]
    assert [(t.content, t.scope) for t in found.templates.items if t.name == "mine"] == [
        ("P", "project")
    ]
    doubting = gather(tmp_path / "w", tmp_path / "agent", False, overrides=named)
    assert [s.name for s in doubting.skills.items] == ["user", "usual"]


@pytest.mark.parametrize(
    ("marks", "left"),
    [
        (("!b*",), ["a", "c/d"]),
        (("!**/d", "-skills/a"), ["b", "bc"]),
        (("!*", "+skills/b"), ["b"]),
        (("!*", "+./skills/b/SKILL.md", "-skills/b"), []),
        (("-b", "![", "+nothing"), ["a", "b", "bc", "c/d"]),
    ],
)
def test_settings_leave_skills_out(tmp_path: Path, marks: tuple[str, ...], left: list[str]) -> None:
    names = ("a", "b", "bc", "c/d")
    lay(tmp_path, {f"agent/skills/{name}/SKILL.md": skill(name[-1]) for name in names})
    lay(tmp_path, {"agent/prompts/b.md": "B", "w/.agents/skills/a/SKILL.md": skill("shared")})
    found = gather(
        tmp_path / "w",
        tmp_path / "agent",
        True,
        overrides=Overrides(user_skills=marks, user_prompts=("!b.md",), project_skills=("!**/z",)),
    )
    user = [s for s in found.skills.items if s.scope == "user"]
    root = tmp_path / "agent/skills"
    assert [Path(s.folder).relative_to(root).as_posix() for s in user] == left
    assert [s.name for s in found.skills.items if s.scope == "project"] == ["shared"]
    assert found.templates.items == ()


def test_what_lies_in_the_home_folder_is_the_persons_own(tmp_path: Path) -> None:
    lay(tmp_path, {".agents/skills/h/SKILL.md": skill("mine"), "w/x": ""})
    for trusted in (True, False):
        found = gather(tmp_path / "w", tmp_path / "agent", trusted, home=tmp_path)
        assert [(s.name, s.scope) for s in found.skills.items] == [("mine", "user")]
        assert found.skipped == ()
