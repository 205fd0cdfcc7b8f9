"""The family `resources`: context files, skills, templates, the system prompt and its parts."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.vectors import runner
from tests.vectors.runner import Case

from singletree.context import prompt as p
from singletree.context.files import ContextFile, find_context_files
from singletree.context.frontmatter import BadHead, parse
from singletree.context.gather import Gathered, gather
from singletree.context.places import Overrides, chosen
from singletree.context.prompt import PromptParts, ToolNote, build_system_prompt
from singletree.context.reading import Problem
from singletree.context.skills import (
    RELATIVE,
    Skill,
    Skills,
    Source,
    find_skills,
    listing,
)
from singletree.context.templates import (
    Template,
    Templates,
    arguments,
    find_templates,
    substitute,
)
from singletree.errors import SettingsError

FAMILY = "resources"


@contextmanager
def folder(files: Mapping[str, Any]) -> Iterator[Path]:
    """A folder with these files; `{ROOT}` in contents is the folder."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            match content:
                case {"dir": _}:
                    target.mkdir()
                case {"link": link}:
                    target.symlink_to(link)
                case _:
                    target.write_bytes(content.replace("{ROOT}", str(root)).encode())
        yield root


def shown(value: Any, root: Path) -> Any:
    """A JSON value with the folder as `{ROOT}`."""
    if isinstance(value, str):
        return value.replace(str(root), "{ROOT}")
    if isinstance(value, list):
        return [shown(item, root) for item in value]
    if isinstance(value, dict):
        return {key: shown(item, root) for key, item in value.items()}
    return value


def at(root: Path, value: str) -> Path:
    return Path(value.replace("{ROOT}", str(root)))


def context_files(case: Case) -> None:
    with folder(case.input["files"]) as root:
        cwd, agent = at(root, case.input["cwd"]), at(root, case.input["agent_dir"])
        cwd.mkdir(parents=True, exist_ok=True)
        found = find_context_files(cwd, agent).files
        rows = [{"path": file.path, "content": file.content} for file in found]
        assert shown(rows, root) == case.expected


def context_files_worktree(case: Case) -> None:
    """A repository with two worktrees, one of them inside the main checkout."""
    with folder({"main/AGENTS.md": "x"}) as root:
        git = ["git", "-C", str(root / "main"), "-c", "user.name=n", "-c", "user.email=e@x"]
        for command in (
            ["init", "-q"],
            ["add", "AGENTS.md"],
            ["commit", "-qm", "x"],
            ["worktree", "add", "-q", str(root / "main/wt/feat")],
            ["worktree", "add", "-q", str(root / "sibling")],
        ):
            subprocess.run([*git, *command], check=True, capture_output=True)
        found = find_context_files(at(root, case.input["cwd"]), root / "agent").files
        assert shown([file.path for file in found], root) == case.expected


def skill_row(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "file": skill.path,
        "base_dir": skill.folder,
        "disable_model_invocation": skill.hidden,
        "scope": skill.scope,
    }


def problem_row(problem: Problem) -> dict[str, Any]:
    row = {"code": problem.code, "path": problem.path}
    if problem.code == "name_collision" and problem.name:
        row.update(name=problem.name, winner=problem.winner, loser=problem.path)
    return row


def skill_rows(found: Skills) -> dict[str, Any]:
    return {
        "skills": [skill_row(skill) for skill in found.items],
        "diagnostics": [problem_row(problem) for problem in found.warnings],
    }


def roots(root: Path, case: Case) -> tuple[Path, Path]:
    """The workspace and the agent folder."""
    return at(root, case.input["cwd"]), at(root, case.input["agent_dir"])


def skill_frontmatter(case: Case) -> None:
    with folder({case.input["file"]: case.input["content"]}) as root:
        found = find_skills([Source(root / "s", "user")])
        assert shown(skill_rows(found), root) == case.expected


def skill_tree(case: Case) -> None:
    with folder(case.input["files"]) as root:
        found = find_skills([Source(at(root, case.input["dir"]), "user")])
        assert shown(skill_rows(found), root) == case.expected


def skill_load(case: Case) -> None:
    """The places in pi's order; the order of a session's own is measured by `loader`."""
    with folder(case.input["files"]) as root:
        cwd, agent_dir = roots(root, case)
        usual = [Source(agent_dir / "skills", "user"), Source(cwd / ".pi/skills", "project")]
        named = chosen(shown_at(root, case.input["skill_paths"]), cwd, agent_dir, "skills")
        found = find_skills([*(usual if case.input["include_defaults"] else []), *named])
        assert shown(skill_rows(found), root) == case.expected


def shown_at(root: Path, values: Any) -> list[str]:
    return [value.replace("{ROOT}", str(root)) for value in values]


def gathered(root: Path, case: Case, overrides: Overrides) -> Gathered:
    """What a session would gather."""
    trusted = case.input.get("project_trusted") is not False
    return gather(*roots(root, case), trusted, overrides=overrides, home=root / "home")


def skill_listing(case: Case) -> None:
    skills = [skill_of(raw) for raw in case.input["skills"]]
    parts = PromptParts(cwd="/", skills=tuple(skills))
    intro = p.SKILLS_INTRO.split("{")[0] in build_system_prompt(parts, [ToolNote("read", "r")])
    xml = listing(skills)
    assert {"empty": not xml, "has_intro": intro, "xml": xml or None} == case.expected


def skill_of(raw: Any) -> Skill:
    return Skill(
        raw["name"], raw["description"], raw["filePath"], hidden=raw["disableModelInvocation"]
    )


def skill_command(case: Case) -> None:
    if "files" in case.input:
        head = "---\nname: note\ndescription: d\n---\n"
        with folder(dict.fromkeys(case.input["files"], head)) as root:
            found = gather(root / "proj", root / "agent", True)
            assert [skill.name for skill in found.skills.items] == case.expected["skills"]
        return
    raw = case.input["skill"]
    path = raw["file"].removeprefix("{ROOT}/")
    head = f"---\nname: {raw['name']}\ndescription: d\n---\n"
    with folder({path: head + raw["body"]}) as root:
        found = gather(root / "proj", root / "agent", True)
        text = found.expand(case.input["text"]).replace(RELATIVE, "‹P:relative-to›")
        assert {"text": shown(text, root)} == case.expected


def frontmatter(case: Case) -> None:
    try:
        document = parse(case.input["text"])
    except BadHead:
        assert "error" in case.expected
        return
    assert {"data": document.head, "body": document.body} == case.expected


def template_args(case: Case) -> None:
    assert {"args": arguments(case.input["text"])} == case.expected


def template_substitute(case: Case) -> None:
    text = substitute(case.input["template"], case.input["args"])
    assert {"text": text} == case.expected


def template_expand(case: Case) -> None:
    items = tuple(Template(raw["name"], raw["content"]) for raw in case.input["templates"])
    assert {"text": Templates(items).expand(case.input["text"])} == case.expected


def template_load(case: Case) -> None:
    """Each place by itself: which template of a name is used is measured by `loader`."""
    with folder(case.input["files"]) as root:
        usual = [
            Source(root / "agent/prompts", "user"),
            Source(root / "proj/.pi/prompts", "project"),
        ]
        named = chosen(shown_at(root, case.input["prompt_paths"]), *roots(root, case), "prompts")
        places = usual if case.input["include_defaults"] else []
        places += [replace(place, required=False) for place in named]
        found = [find_templates([place]) for place in places]
        rows = {
            "templates": [
                {
                    "name": template.name,
                    "description": template.description,
                    "argument_hint": template.hint,
                    "content": template.content,
                    "file": template.path,
                    "scope": template.scope,
                }
                for each in found
                for template in each.items
            ],
            "diagnostics": [problem_row(problem) for each in found for problem in each.warnings],
        }
        assert shown(rows, root) == case.expected


def system_prompt(case: Case) -> None:
    raw = case.input
    snippets = raw.get("toolSnippets", {})
    hidden = raw.get("hiddenTools", ())
    names = raw.get("selectedTools", ["read", "bash", "edit", "write"])
    rules = raw.get("toolGuidelines", {})
    notes = [
        ToolNote(n, "" if n in hidden else snippets.get(n, ""), tuple(rules.get(n, ())))
        for n in names
    ]
    parts = PromptParts(
        cwd=raw["cwd"],
        custom=raw.get("customPrompt"),
        append=(raw["appendSystemPrompt"],) if "appendSystemPrompt" in raw else (),
        context_files=tuple(
            ContextFile(file["path"], file["content"]) for file in raw.get("contextFiles", ())
        ),
        skills=tuple(skill_of(skill) for skill in raw.get("skills", ())),
        rules=tuple(raw.get("promptGuidelines", ())),
        sections=raw.get("sections", {}),
        forced=raw.get("forceSystemPrompt"),
    )
    try:
        text = build_system_prompt(parts, notes)
    except SettingsError:
        assert case.expected == {"error": "bad_section_name"}
        return
    if "text" in case.expected:
        assert text == case.expected["text"]
        return
    want = {**case.expected, "order": [s for s in case.expected["order"] if s != "docs"]}
    assert prompt_row(text, parts, want) == want


def prompt_row(text: str, parts: PromptParts, like: Mapping[str, Any]) -> dict[str, Any]:
    """Our prompt taken apart. pi's section on its own documents has no counterpart here."""
    preamble, *rest = re.split(r"\n\n(?=<(?!available_)[a-z][a-z0-9_-]*>\n)", text)
    tagged = {m[1]: m[2] for part in rest if (m := re.fullmatch(_SECTION, part, re.DOTALL))}
    tools, rules = tagged.get("tools"), tagged.get("rules")
    replaced = bool(parts.sections.get("tools"))
    skills = tagged.get("skills")
    project = tagged.get("project_context")
    lines = (tools or "").splitlines()
    return {
        "order": ["preamble", *tagged],
        "preamble_is_custom": preamble == parts.custom,
        "tools_listed": None
        if tools is None
        else [line[2:].split(":")[0] for line in lines if line.startswith("- ")],
        "tools_none_marker": None if tools is None else p.NO_TOOLS in lines and not replaced,
        "rules": None if rules is None else [rule_row(line) for line in rules.splitlines()],
        "addendum": tagged.get("addendum"),
        "project_context": project
        and [
            {"path": path, "content": content}
            for path, content in re.findall(_INSTRUCTIONS, project, re.DOTALL)
        ],
        "skills": skills
        and [
            {"name": name, "description": description, "location": location}
            for name, description, location in re.findall(_SKILL, skills, re.DOTALL)
        ],
        "skill_reader": skills and reader(skills),
        "cwd": tagged["cwd"],
        "custom_sections": {
            name: f"<{name}>\n{tagged[name]}\n</{name}>"
            for name in parts.sections
            if name in tagged
        },
        "last_line": text.splitlines()[-1],
        "each_section_tagged": len(tagged) == len(rest),
        "joined_by_blank_line": text == "\n\n".join([preamble, *rest]),
        "ends_with_cwd_section": text.endswith("</cwd>"),
    }


_SECTION = r"<([a-z][a-z0-9_-]*)>\n(.*)\n</\1>"
_INSTRUCTIONS = r'<project_instructions path="([^"]*)">\n(.*?)\n</project_instructions>'
_SKILL = r"<name>(.*?)</name>\s*<description>(.*?)</description>\s*<location>(.*?)</location>"


def rule_row(line: str) -> str:
    rule = line.removeprefix("- ")
    return "‹P:builtin-rule›" if rule in (p.BASH_RULE, *p.RULES) else rule


def reader(skills: str) -> str:
    for tool in ("read", "bash"):
        if p.READ_WITH.format(tool=tool) in skills:
            return tool
    return "unnamed" if p.READ_SOMEHOW in skills else ""


def loader(case: Case) -> None:
    with folder(case.input["files"]) as root:
        options = case.input["options"]
        system = options.get("systemPrompt")
        found = gathered(
            root,
            case,
            Overrides(
                system=system and system.replace("{ROOT}", str(root)),
                append=tuple(shown_at(root, options.get("appendSystemPrompt", []))),
                context_files=not options.get("noContextFiles"),
                user_skills=named_in(root / "agent", "skills"),
                user_prompts=named_in(root / "agent", "prompts"),
                project_skills=named_in(root / "proj/.pi", "skills"),
                project_prompts=named_in(root / "proj/.pi", "prompts"),
                skills=tuple(shown_at(root, options.get("additionalSkillPaths", []))),
                prompts=tuple(shown_at(root, options.get("additionalPromptTemplatePaths", []))),
            ),
        )
        rows = {
            "system_prompt": found.parts.custom,
            "system_prompt_source": found.system_path,
            "append": list(found.parts.append),
            "context_files": [file.path for file in found.parts.context_files],
            "skills": [[s.name, s.path, s.scope] for s in found.skills.items],
            "skill_diagnostics": [problem_row(w) for w in found.skills.warnings],
            "prompts": [[t.name, t.path, t.scope] for t in found.templates.items],
            "prompt_diagnostics": [
                {"code": w.code, "path": w.path} for w in found.templates.warnings
            ],
        }
        assert shown(rows, root) == case.expected


def named_in(folder: Path, key: str) -> tuple[str, ...]:
    """The paths in settings.json: reading it is the session's affair."""
    path = folder / "settings.json"
    said = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return tuple(said.get(key, ()))


CHECKS: dict[str, runner.Check] = {
    "context_files": context_files,
    "context_files_worktree": context_files_worktree,
    "skill_frontmatter": skill_frontmatter,
    "skill_tree": skill_tree,
    "skill_load": skill_load,
    "skill_listing": skill_listing,
    "skill_command": skill_command,
    "frontmatter": frontmatter,
    "template_args": template_args,
    "template_substitute": template_substitute,
    "template_expand": template_expand,
    "template_load": template_load,
    "system_prompt": system_prompt,
    "loader": loader,
}


def test_resources() -> None:
    failed = runner.run(FAMILY, CHECKS)
    assert failed == [], "\n".join(failed[:5])
