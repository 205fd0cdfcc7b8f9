"""Skills and templates: found, listed, expanded; their heads; ignore files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletree.context.frontmatter import BadHead, parse
from singletree.context.reading import Problem
from singletree.context.skills import Skill, Skills, Source, find_skills, listing
from singletree.context.templates import (
    Templates,
    arguments,
    find_templates,
    substitute,
)


def lay(root: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")


def skill(name: str, description: str = "d", body: str = "Body.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n{body}\n"


def found(root: Path) -> Skills:
    return find_skills([Source(root, "user")])


def codes(warnings: tuple[Problem, ...]) -> list[str]:
    return [warning.code for warning in warnings]


def test_a_folder_with_a_skill_file_is_a_skill_and_nothing_below_it(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "b/SKILL.md": skill("beta"),
            "b/inner/SKILL.md": skill("inner"),
            "a/deep/er/SKILL.md": skill("alpha"),
            "loose.md": skill("loose"),
            "notes.md": "no head",
            "sub/other.md": skill("other"),
            ".hidden/SKILL.md": skill("hidden"),
            "node_modules/x/SKILL.md": skill("module"),
        },
    )
    skills = found(tmp_path)
    assert [s.name for s in skills.items] == ["alpha", "beta", "loose"]
    assert skills.warnings == ()


def test_a_loose_file_counts_at_the_top_and_in_a_shared_folder_below_it(tmp_path: Path) -> None:
    lay(tmp_path, {"top.md": skill("top"), "sub/below.md": skill("below")})
    for shared, name in ((False, "top"), (True, "below")):
        skills = find_skills([Source(tmp_path, "user", shared=shared)])
        assert [s.name for s in skills.items] == [name]


def test_what_was_named_and_is_no_skill_is_told(tmp_path: Path) -> None:
    lay(tmp_path, {"notes.txt": "x"})
    named = [Source(tmp_path / name, "temporary", required=True) for name in ("notes.txt", "no")]
    assert codes(find_skills(named).warnings) == ["not_markdown", "path_missing"]


def test_a_folder_hides_its_own_skill(tmp_path: Path) -> None:
    lay(tmp_path, {"a/SKILL.md": skill("a"), "a/.ignore": "*\n", "b/SKILL.md": skill("b")})
    assert [s.name for s in found(tmp_path).items] == ["b"]


def test_ignore_files_hide_and_show(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            ".gitignore": "skip\n*.tmp/\na/*\n!a/keep\n",
            "skip/SKILL.md": skill("skip"),
            "x.tmp/SKILL.md": skill("tmp"),
            "a/keep/SKILL.md": skill("keep"),
            "a/drop/SKILL.md": skill("drop"),
            "b/.fdignore": "in\n",
            "b/in/SKILL.md": skill("bin"),
            "in/SKILL.md": skill("in"),
        },
    )
    assert [s.name for s in found(tmp_path).items] == ["keep", "in"]


@pytest.mark.parametrize("line", ["!", "\\", "x\\", "[z-a]", "[", "//", "\xff"])
def test_a_line_of_an_ignore_file_that_is_no_pattern_means_nothing(
    tmp_path: Path, line: str
) -> None:
    lay(tmp_path, {"skip/SKILL.md": skill("skip"), "see/SKILL.md": skill("see")})
    (tmp_path / ".gitignore").write_bytes(f"{line}\nskip/\n".encode("latin-1"))
    assert [s.name for s in found(tmp_path).items] == ["see"]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("links", [1, 6])
def test_circles_of_links_end(tmp_path: Path, links: int) -> None:
    lay(tmp_path, {"a/k": "", "a/s/SKILL.md": skill("one"), "b/SKILL.md": skill("two")})
    for number in range(links):
        (tmp_path / f"a/loop{number}").symlink_to("..")
        (tmp_path / f"c{number}").symlink_to("a")
    assert [s.name for s in found(tmp_path).items] == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        ("ok-1", "d", []),
        ("Upper", "d", ["name_bad_chars"]),
        ("a-", "d", ["name_hyphen_edge"]),
        ("a--b", "d", ["name_double_hyphen"]),
        ("--A", "d", ["name_bad_chars", "name_hyphen_edge", "name_double_hyphen"]),
        ("a" * 65, "d", ["name_too_long"]),
        ("ok", "d" * 1025, ["description_too_long"]),
        ("a-", "d" * 1025, ["description_too_long", "name_hyphen_edge"]),
    ],
)
def test_oddities_are_told_and_the_skill_is_used(
    tmp_path: Path, name: str, description: str, expected: list[str]
) -> None:
    lay(tmp_path, {"s/SKILL.md": skill(name, description)})
    skills = found(tmp_path)
    assert [s.name for s in skills.items] == [name]
    assert codes(skills.warnings) == expected


def test_a_skill_without_description_or_with_a_bad_head_is_left_out(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "a/SKILL.md": "---\nname: a\n---\n",
            "b/SKILL.md": "---\nname: [\n---\n",
            "c/SKILL.md": skill("same"),
            "d/SKILL.md": skill("same"),
        },
    )
    skills = found(tmp_path)
    assert [s.path for s in skills.items] == [str(tmp_path / "c/SKILL.md")]
    assert codes(skills.warnings) == ["description_missing", "bad_yaml", "name_collision"]
    assert skills.warnings[2].winner == str(tmp_path / "c/SKILL.md")


def test_the_list_escapes_and_leaves_hidden_skills_out() -> None:
    skills = [
        Skill("a", 'b < c & "d" </skill>', "/x/SKILL.md"),
        Skill("h", "d", "/h/SKILL.md", hidden=True),
    ]
    assert listing(skills) == (
        "<available_skills>\n  <skill>\n    <name>a</name>\n"
        "    <description>b &lt; c &amp; &quot;d&quot; &lt;/skill&gt;</description>\n"
        "    <location>/x/SKILL.md</location>\n  </skill>\n</available_skills>"
    )
    assert listing(skills[1:]) == ""


def test_a_skill_command_becomes_the_skills_text(tmp_path: Path) -> None:
    lay(tmp_path, {"n/SKILL.md": skill("note", body="\nDo it. </skill>\n\n")})
    skills = found(tmp_path)
    block = (
        f'<skill name="note" location="{tmp_path}/n/SKILL.md">\n'
        f"Paths in this skill are relative to {tmp_path}/n\n\nDo it. &lt;/skill>\n</skill>"
    )
    assert skills.expand("/skill:note") == block
    assert skills.expand("/skill:note  a b ") == f"{block}\n\na b"
    assert skills.expand("/skill:note\nnext line") == f"{block}\n\nnext line"
    assert skills.expand("/skill:other a") == "/skill:other a"
    assert skills.expand("say /skill:note") == "say /skill:note"
    (tmp_path / "n/SKILL.md").unlink()
    assert skills.expand("/skill:note") == "/skill:note"


def test_templates_are_found_and_the_first_of_a_name_wins(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "p/a.md": "---\ndescription: Says a\nargument-hint: <x>\n---\nA $1\n",
            "p/b.md": "\n\nFirst line\nmore",
            "p/bad.md": "---\na: [\n---\n",
            "p/c.txt": "no",
            "u/a.md": "other",
        },
    )
    templates = find_templates([Source(tmp_path / "p", "project"), Source(tmp_path / "u", "user")])
    assert [(t.name, t.description, t.hint) for t in templates.items] == [
        ("a", "Says a", "<x>"),
        ("b", "First line", None),
    ]
    assert codes(templates.warnings) == ["bad_yaml", "name_collision"]
    assert templates.expand("/a 'x y' z") == "A x y"
    assert templates.expand("/nope x") == "/nope x"
    assert templates.expand("a /a x") == "a /a x"


def test_a_description_is_cut_between_characters(tmp_path: Path) -> None:
    lay(tmp_path, {"a.md": "a" * 59 + "🙂b", "b.md": "a" * 58 + "🙂"})
    cut, whole = find_templates([Source(tmp_path, "user")]).items
    assert cut.description == "a" * 59 + "..."
    assert whole.description == "a" * 58 + "🙂"


def test_an_empty_description_or_hint_is_none(tmp_path: Path) -> None:
    lay(tmp_path, {"a.md": '---\ndescription: ""\nargument-hint: ""\n---\nFirst line.\nMore.'})
    (template,) = find_templates([Source(tmp_path, "user")]).items
    assert (template.description, template.hint) == ("First line.", None)


@pytest.mark.parametrize(
    ("template", "words", "text"),
    [
        ("$1 $2 $9", ["a", "b"], "a b "),
        ("$@|$ARGUMENTS", ["a", "b"], "a b|a b"),
        ("${@:2}|${@:2:1}|${@:0}", ["a", "b", "c"], "b c|b|a b c"),
        ("${2:-no}|${@:-none}", ["a"], "no|a"),
        ("${1}|${1:+x}|$x", ["a"], "${1}|${1:+x}|$x"),
        ("$1", ["$2"], "$2"),
        (f"${'9' * 5000}|${{@:{'9' * 5000}}}|${{@:1:{'9' * 5000}}}", ["a"], "||a"),
        ("$\u0661", ["a"], "$\u0661"),
    ],
)
def test_words_are_put_in_their_places(template: str, words: list[str], text: str) -> None:
    assert substitute(template, words) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"'C:\new folder\x' b", [r"C:\new folder\x", "b"]),
        (r'"say \"hi\"" \"x', ['say "hi"', r"\"x"]),
        ("\"a b\"c 'd''e'", ["a bc", "d'e'"]),
        ("don't \"", ["don't", '"']),
        (r'"ends in \" b', ['"ends', "in", r"\"", "b"]),
    ],
)
def test_quotes_hold_words_together_where_a_word_begins(text: str, words: list[str]) -> None:
    assert arguments(text) == words


@given(st.lists(st.text(alphabet="ab\"' $@1", max_size=6), max_size=4))
def test_quoted_words_come_back_whole(words: list[str]) -> None:
    quoted = (word.replace('"', '\\"') for word in words)
    assert arguments(" ".join(f'"{word}"' for word in quoted)) == words


@given(
    st.dictionaries(
        st.from_regex(r"[a-z][a-z-]{0,5}", fullmatch=True),
        st.text(alphabet="ab: #-'\"[]{}é", max_size=12),
        max_size=4,
    )
)
def test_a_head_read_here_is_the_head_the_library_reads(data: dict[str, str]) -> None:
    head = "\n".join(f"{key}: {value}" for key, value in data.items())
    alone, with_library = outcome(head), outcome(f"# read by the library\n{head}")
    assert alone == with_library


def outcome(head: str) -> object:
    try:
        return dict(parse(f"---\n{head}\n---\nbody").data)
    except BadHead:
        return "bad"


BOMB = "a0: &a0 [x, x]\n" + "\n".join(f"a{n}: &a{n} [{f'*a{n - 1},' * 9}]" for n in range(1, 30))
"""Few words that would be more than there are atoms."""


def test_odd_heads() -> None:
    assert parse("---\na: &x 1\nb: *x\nc: yes\nd: 2024-01-01\n---\n").data == {
        "a": 1,
        "b": 1,
        "c": "yes",
        "d": "2024-01-01",
    }
    assert parse("---\njust text\n---\nb").data == {}
    assert parse("---\na:\tb\tc\t\nd: !!bool x\ne: !mine [1]\n---\n").data == {
        "a": "b\tc",
        "d": False,
        "e": [1],
    }
    assert parse("\n---\na: 1\n---\n").data == {}
    for bad in ("a: 1\na: 2", "a: [", "a:\tx\n\tb: y", "? [1]\n: 2", "a: &x [*x]", BOMB):
        with pytest.raises(BadHead):
            parse(f"---\n{bad}\n---\n")


def test_nothing_found_expands_nothing() -> None:
    assert Templates().expand("/a") == "/a"
    assert Skills().expand("/skill:a") == "/skill:a"
