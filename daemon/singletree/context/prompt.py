"""The system prompt, built anew before every step from its parts.

Sections in this order: what the assistant is, its tools, rules, added text, the project's own
instructions, skills, the working folder; then an extension's. Never imports a tool: it is given
notes about them. Read next: gather.py (where the parts come from), xray.py (what each part costs).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from singletree.context.files import ContextFile
from singletree.context.skills import Skill, listing
from singletree.context.tags import defuse, escape, section
from singletree.errors import SettingsError

PREAMBLE = (
    "You are a coding assistant inside the user's editor. You read, search, change and run the "
    "files of their workspace with the tools below; edits of open files show up in the editor at "
    "once and can be undone there. Look before you change anything, and check what you did. Go on "
    "until the request is done; if something can't be done, say why."
)
NO_TOOLS = "(none)"
MORE_TOOLS = "Other tools may be there as well; use them as their descriptions say."
BASH_RULE = "Look at files with bash: ls, grep -rn, find, sed -n."
RULES = (
    "Answer briefly and in plain words.",
    "Name files by their paths, as the tools take them.",
)
PROJECT_INTRO = "Instructions for this project, general to particular; follow them."
SKILLS_INTRO = (
    "Texts with know-how for certain tasks. When a task matches a description, {read} before you "
    "begin. Relative paths in it are meant from its folder."
)
READ_WITH = "read the file at its location with {tool}"
READ_SOMEHOW = "read the file at its location"

_LOOKERS = ("grep", "find", "ls")
_SHELLS = ("bash", "powershell")
_SECTION_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class ToolNote:
    """An active tool as the prompt knows it. Without a snippet it is not listed."""

    name: str
    snippet: str = ""
    guidelines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptParts:
    """What the prompt is made of. `forced` stands for the whole, `custom` for the first part.

    `rules` are added to those of the tools; `sections` are an extension's: one with the name of
    ours takes its place, any other comes last.
    """

    cwd: str
    custom: str | None = None
    append: tuple[str, ...] = ()
    context_files: tuple[ContextFile, ...] = ()
    skills: tuple[Skill, ...] = ()
    rules: tuple[str, ...] = ()
    sections: Mapping[str, str] = field(default_factory=dict)
    forced: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the prompt as it is sent. The first, without a tag, is named `preamble`."""

    name: str
    text: str


def build_system_prompt(parts: PromptParts, tools: Sequence[ToolNote]) -> str:
    """The whole prompt."""
    return joined(sections(parts, tools))


def joined(parts: Sequence[Section]) -> str:
    """Sections as they are sent: one text."""
    return "\n\n".join(part.text for part in parts)


def sections(parts: PromptParts, tools: Sequence[ToolNote]) -> list[Section]:
    """The parts that have something to say, in order. SettingsError for a bad section name."""
    if parts.forced is not None:
        return [Section("preamble", parts.forced)]
    for name in parts.sections:
        if name == "preamble" or not _SECTION_NAME.fullmatch(name):
            raise SettingsError(f"A prompt section can't be named {name!r}.")
    made: dict[str, str] = {"preamble": parts.custom or PREAMBLE}
    if not parts.custom:
        made["tools"] = section("tools", _tools(tools))
        made["rules"] = section("rules", _rules(parts, tools))
    if append := [text for text in parts.append if text.strip()]:
        made["addendum"] = section("addendum", "\n\n".join(append))
    if parts.context_files:
        made["project_context"] = _project_context(parts.context_files)
    if skills := _skills(parts.skills, tools):
        made["skills"] = skills
    made["cwd"] = section("cwd", parts.cwd.replace("\\", "/"))
    made |= {name: section(name, text) for name, text in parts.sections.items() if text}
    return [Section(name, text) for name, text in made.items()]


def _tools(tools: Sequence[ToolNote]) -> str:
    lines = [f"- {tool.name}: {_line(tool.snippet)}" for tool in tools if tool.snippet]
    return "\n".join(lines or [NO_TOOLS]) + f"\n\n{MORE_TOOLS}"


def _rules(parts: PromptParts, tools: Sequence[ToolNote]) -> str:
    names = {tool.name for tool in tools}
    rules = []
    if names.intersection(_SHELLS) and not names.intersection(_LOOKERS):
        rules.append(BASH_RULE)
    for tool in tools:
        rules.extend(tool.guidelines)
    rules.extend((*parts.rules, *RULES))
    told = (_line(rule) for rule in rules)
    return "\n".join(f"- {rule}" for rule in dict.fromkeys(told) if rule)


def _project_context(files: Sequence[ContextFile]) -> str:
    blocks = [
        f'<project_instructions path="{escape(file.path)}">\n'
        f"{defuse(file.content, 'project_instructions', 'project_context')}\n"
        "</project_instructions>"
        for file in files
    ]
    return "\n\n".join(["<project_context>\n" + PROJECT_INTRO, *blocks]) + "\n</project_context>"


def _skills(skills: Sequence[Skill], tools: Sequence[ToolNote]) -> str:
    reader = next((t for name in ("read", "bash") for t in tools if t.name == name), None)
    listed = listing(skills)
    if reader is None or not listed:
        return ""
    how = READ_WITH.format(tool=reader.name) if reader.snippet else READ_SOMEHOW
    return f"<skills>\n{SKILLS_INTRO.format(read=how)}\n\n{listed}\n</skills>"


def _line(text: str) -> str:
    return " ".join(text.split())
