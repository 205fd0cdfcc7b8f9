"""One page with everything in it and nothing from elsewhere, and no text of it is markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.export.sample import EVIL, PICTURE, lines, sample
from tests.history.made import encoded, entry, header, said, write

from singletree.export.marked import html_of
from singletree.export.page import html_page
from singletree.history.store import Store

VOID = {"meta", "input", "br", "hr", "img"}
OURS = {
    *("html", "head", "title", "style", "body", "header", "nav", "main", "section", "article"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "ol", "ul", "li", "dl", "dt", "dd", "div", "span"),
    *("a", "b", "em", "strong", "code", "pre", "ins", "del", "blockquote", "time"),
    *("details", "summary", "fieldset", "legend", "label", *VOID),
}


class Reader(HTMLParser):
    """Reads a page strictly: every element is one of ours, closed where it was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.addresses: list[str] = []
        self.texts: list[str] = []
        self.folds: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in OURS, tag
        given = dict(attrs)
        assert not any(name.startswith("on") for name in given), given
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [value for name, value in attrs if name == "href" and value]
        self.addresses += [value for name, value in attrs if name == "src" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)
        if self.open and self.open[-1] == "summary":
            self.folds.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    assert len(set(reader.ids)) == len(reader.ids)
    inner = [unquote(link[1:]) for link in reader.links if link.startswith("#")]
    assert set(inner) <= set(reader.ids)
    return reader


def test_all_that_was_said_is_there_and_all_of_it_is_text(tmp_path: Path) -> None:
    history = sample(tmp_path)
    reader = read("".join(html_page(history)))
    told = "".join(reader.texts)
    for words in ("first the other way", "I run it.", "Done.", "They pass.", "A red dot."):
        assert words in told
    assert told.count(EVIL) == 4
    assert "Failed: overloaded" in told
    assert "begin <here>" in told
    assert reader.addresses == [f"data:image/png;base64,{PICTURE}"]
    assert [link for link in reader.links if not link.startswith("#")] == [
        "https://example.org/add"
    ]
    history.close()


def test_calls_are_folded_with_their_answers_inside(tmp_path: Path) -> None:
    history = sample(tmp_path)
    page = "".join(html_page(history))
    reader = read(page)
    assert reader.folds == ["Thinking", "edit  add.py", "bash  make test && echo '<b>' "]
    assert "<details open" not in page
    fold = page[page.index('<details class="tool" id="e-r2">') :]
    fold = fold[: fold.index("</details>")]
    assert "<del>- 2     return a - b</del><ins>+ 2     return a + b</ins>" in fold
    history.close()


def test_every_branch_is_there_and_linked_from_where_it_leaves(tmp_path: Path) -> None:
    history = sample(tmp_path)
    page = "".join(html_page(history))
    first, *others = page.split('<section class="branch"')
    assert len(others) == 2
    fork = re.search(r'<nav class="forks">(.*?)</nav>', first)
    assert fork is not None
    assert re.findall(r'href="(#b-\d)"', fork[1]) == ["#b-1", "#b-2"]
    assert first.index('id="e-a1"') < fork.start() < first.index('id="e-u3"')
    assert all('href="#e-a1"' in other for other in others)
    rows = re.findall(r'<li class="(row[^"]*)" style="--in:(\d+)">', page)
    assert sum("on" in kinds.split() for kinds, _ in rows) == 8
    assert [kinds for kinds, _ in rows if "leaf" in kinds] == ["row on leaf"]
    assert [depth for _, depth in rows][:4] == ["0", "0", "1", "1"]
    history.close()


def test_the_page_forbids_itself_what_it_does_not_need(tmp_path: Path) -> None:
    history = sample(tmp_path)
    page = "".join(html_page(history))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src &#x27;none&#x27;;")
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "prefers-color-scheme: dark" in style
    assert "<script" not in page.replace(EVIL, "")
    history.close()


def test_a_conversation_before_its_first_message(tmp_path: Path) -> None:
    mark = entry("z1", None, customType="singletree.leaf", data={"leafId": None})
    made = [*lines(), mark]
    path = write(tmp_path / "sessions" / "s.jsonl", made)
    history = Store(tmp_path / "agent", path.parent).open(path, read_only=True)
    page = "".join(html_page(history))
    read(page)
    assert "stands before its first message" in page
    assert page.count('<section class="branch"') == 3
    history.close()


def test_a_tree_as_deep_as_it_likes(tmp_path: Path) -> None:
    """Every entry leaves a branch behind; neither the page nor its maker nests."""
    made = [header()]
    above = None
    for n in range(2000):
        made += [said(f"d{n}", above, f"dead {n}"), said(f"e{n}", above, f"on {n}")]
        above = f"e{n}"
    path = write(tmp_path / "sessions" / "s.jsonl", made)
    history = Store(tmp_path / "agent", path.parent).open(path, read_only=True)
    reader = Reader()
    reader.feed("".join(html_page(history)))
    assert reader.open == []
    assert len([i for i in reader.ids if i.startswith("b-")]) == 2000
    history.close()


def test_odd_entries_do_no_harm(tmp_path: Path) -> None:
    """Ids with quotes, pictures that are none, broken bodies, results without calls."""
    picture = said('a"b', None, "")
    picture["message"]["content"] = [
        {"type": "image", "data": '"><script>', "mimeType": "image/png"},
        {"type": "image", "data": "AAAA", "mimeType": 'text/html" onload="x'},
        {"type": "nonsense", "x": 1},
    ]
    lone = said("r", 'a"b', "lost", "toolResult", toolCallId="gone", toolName="x", isError=False)
    path = write(tmp_path / "sessions" / "s.jsonl", [header(cwd=EVIL), picture, lone])
    with path.open("ab") as out:
        out.write(encoded(entry("k", "r"))[:-3] + b"\n")
    history = Store(tmp_path / "agent", path.parent).open(path, read_only=True)
    reader = read("".join(html_page(history)))
    told = "".join(reader.texts)
    assert told.count("A picture that cannot be shown") == 2
    assert "lost" in told
    history.close()


@pytest.mark.timeout(20)
def test_a_line_full_of_marks_that_close_nothing_is_soon_told() -> None:
    assert html_of("**a " * 50_000).count("**a") == 50_000
    assert html_of("a " + "`" * 100_000 + "b") == f"<p>a {'`' * 100_000}b</p>"


@given(st.text(alphabet=st.sampled_from("*_`~#->1. \n[]()<&\"'abhttps://x\\"), max_size=120))
def test_no_text_becomes_markup_of_its_own(text: str) -> None:
    reader = Reader()
    reader.feed(html_of(text))
    reader.close()
    assert reader.open == []
    letters = "".join(c for c in "".join(reader.texts) if c in "ab<&\"'")
    assert set(letters) <= set(text)
    assert all(link.startswith(("http://", "https://")) for link in reader.links)
