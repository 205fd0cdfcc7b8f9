"""A session as one HTML page: its tree beside its conversation, every branch in it.

The page needs nothing but itself: no script, no font, no address; its own rule forbids them. It is
light or dark as the reader's system is, or as they choose. Made piece by piece, so that a large
session needs little memory. Never writes a file. Read next: chapters.py, said.py, page.css.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from singletree.export.chapters import Chapter, chapters, leaving
from singletree.export.said import Results, anchor, link, shown, speaker
from singletree.export.title import title_of
from singletree.history.entries import Entry, MessageEntry
from singletree.history.index import NO_ROW
from singletree.history.outline import Row
from singletree.history.preview import preview
from singletree.history.reading import Reading
from singletree.messages import AssistantMessage, ToolResultMessage

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
THEMES = ("Auto", "Light", "Dark")
_PAGE = 1000
_ROLES = {"user": "You", "assistant": "", "toolResult": "⚙", "bashExecution": "$"}


def html_page(history: Reading) -> Iterator[str]:
    """The page, in pieces."""
    found = chapters(history.tree)
    yield from _head(history, found)
    yield '<nav class="tree" aria-label="Tree"><h2>Tree</h2><ol>'
    yield from _rows(history)
    yield "</ol></nav><main>"
    forks = leaving(found)
    for number, chapter in enumerate(found):
        yield from _section(history, found, number, chapter, forks)
    if not any(chapter.active for chapter in found):
        yield '<p class="note">The conversation stands before its first message.</p>'
    yield "</main></body></html>"


def _head(history: Reading, found: Sequence[Chapter]) -> Iterator[str]:
    title = escape(title_of(history))
    style = Path(__file__).with_name("page.css").read_text("utf-8")
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield f"<title>{title}</title><style>{style}</style></head><body>"
    header = history.header
    branches = len(found)
    facts = (
        header.cwd,
        header.timestamp[:16].replace("T", " "),
        f"{history.entry_count:,} entries",
        "1 branch" if branches == 1 else f"{branches:,} branches",
        header.id,
    )
    yield f'<header class="top"><h1>{title}</h1><p class="facts">'
    yield " ".join(f"<span>{escape(fact)}</span>" for fact in facts if fact)
    yield '</p><fieldset class="themes"><legend>Colours</legend>'
    for theme in THEMES:
        checked = " checked" if theme == THEMES[0] else ""
        name = theme.lower()
        box = f'<input type="radio" name="theme" id="theme-{name}"{checked}>'
        yield f'<label for="theme-{name}">{box}{theme}</label>'
    yield "</fieldset></header>"


def _rows(history: Reading) -> Iterator[str]:
    start: int | None = 0
    while start is not None:
        page = history.rows(start=start, limit=_PAGE)
        yield from map(_row, page.rows)
        start = page.next


def _row(row: Row) -> str:
    kinds = ["row", "on" if row.on_path else "off", *(["leaf"] if row.is_leaf else [])]
    name = _ROLES.get(row.role or "", row.type.replace("_", " ")) if row.role else row.type
    who = f"<b>{escape(name.replace('_', ' '))}</b> " if name else ""
    text = escape(row.preview) or "…"
    here = ' <span class="here">here</span>' if row.is_leaf else ""
    return (
        f'<li class="{" ".join(kinds)}" style="--in:{min(row.depth, 40)}">'
        f'<a href="#e-{quote(row.entry_id)}">{who}{text}</a>{_label(row.label)}{here}</li>'
    )


def _section(
    history: Reading,
    found: Sequence[Chapter],
    number: int,
    chapter: Chapter,
    forks: Mapping[int, Sequence[int]],
) -> Iterator[str]:
    if chapter.active:
        yield '<section class="active">'
        for other in forks.get(NO_ROW, ()):
            yield _forks(history, found, [other], "Another beginning")
    else:
        yield f'<section class="branch" id="b-{number}"><h2>Branch</h2>'
        yield f'<p class="note">{_origin(history, chapter)} {len(chapter.rows):,} entries.</p>'
    labels = history.tree.labels
    for group in _groups(history, chapter.rows):
        yield from _articles(group, labels)
        rows = [history.tree.row(entry.id) for entry in group]
        yield _forks(history, found, [n for row in rows for n in forks.get(row, ())], "Also here")
    yield "</section>"


def _origin(history: Reading, chapter: Chapter) -> str:
    if chapter.after == NO_ROW:
        return "Another beginning of the session."
    return f"Leaves the conversation {link(history.tree.index.ids[chapter.after], 'here')}."


def _forks(history: Reading, found: Sequence[Chapter], numbers: Sequence[int], words: str) -> str:
    """Links to the branches that leave at one place."""
    if not numbers:
        return ""
    links = [f'<a href="#b-{n}">{escape(_first_words(history, found[n]))}</a>' for n in numbers]
    return f'<nav class="forks">{words}: {" ".join(links)}</nav>'


def _first_words(history: Reading, chapter: Chapter) -> str:
    """What a branch begins with, for its link."""
    for row in chapter.rows[:20]:
        text = preview(history.data(row) or {})
        kind = history.tree.index.kind(row)
        if text and (kind.role or kind.type in ("branch_summary", "compaction", "custom_message")):
            return text
    return f"{len(chapter.rows)} entries"


def _groups(history: Reading, rows: Sequence[int]) -> Iterator[list[Entry]]:
    """Entries that are shown together: an answer with the results of its calls; else one by one."""
    group: list[Entry] = []
    for entry in _entries(history, rows):
        if group and not _belongs(entry, group[0]):
            yield group
            group = []
        group.append(entry)
    if group:
        yield group


def _entries(history: Reading, rows: Iterable[int]) -> Iterator[Entry]:
    ids = history.tree.index.ids
    for row in rows:
        if not history.tree.hidden(row):
            yield from history.entries(ids=[ids[row]]).entries


def _belongs(entry: Entry, first: Entry) -> bool:
    answer = first.message if isinstance(first, MessageEntry) else None
    if not isinstance(answer, AssistantMessage) or not answer.tool_calls:
        return False
    return not isinstance(entry, MessageEntry) or isinstance(entry.message, ToolResultMessage)


def _articles(group: Sequence[Entry], labels: Mapping[str, str]) -> Iterator[str]:
    first = group[0].message if isinstance(group[0], MessageEntry) else None
    called = {c.id for c in first.tool_calls} if isinstance(first, AssistantMessage) else set()
    results: dict[str, tuple[str, ToolResultMessage]] = {}
    for entry in group:
        result = entry.message if isinstance(entry, MessageEntry) else None
        if isinstance(result, ToolResultMessage) and result.tool_call_id in called:
            results.setdefault(result.tool_call_id, (entry.id, result))
    inside = {entry_id for entry_id, _ in results.values()}
    for entry in group:
        if entry.id not in inside:
            yield _article(entry, results, labels)


def _article(entry: Entry, results: Results, labels: Mapping[str, str]) -> str:
    inside = shown(entry, results)
    kind, name = speaker(entry)
    if not inside and kind == "quiet":
        return ""
    if kind == "quiet":
        return f'<div class="quiet" {anchor(entry.id)}>{inside}</div>'
    when = escape(entry.timestamp)
    time = f'<time datetime="{when}">{when[11:16]}</time>' if when else ""
    head = f"<header><b>{escape(name)}</b>{time}{_label(labels.get(entry.id))}</header>"
    return f'<article class="{kind}" {anchor(entry.id)}>{head}{inside}</article>'


def _label(text: str | None) -> str:
    return f' <span class="label">{escape(text)}</span>' if text else ""
