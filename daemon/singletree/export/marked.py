"""Text as a model writes it (a little Markdown) -> HTML, everything escaped.

Knows headings, lists, quotes, rules, fenced and inline code, strong and slanted text, links to the
web. Whatever else is there stays as it was typed. Never lets markup of the text through. Read next:
said.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_ITEM = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])\s+(.*)")
_RULE = re.compile(r"(?:-{3,}|\*{3,}|_{3,})$")
_INLINE = re.compile(
    r"(?<!`)(?P<tick>`++)(?P<code>.+?)(?<!`)(?P=tick)(?!`)"
    r"|\*\*(?P<strong>\S(?:.{0,1000}?\S)?)\*\*"
    r"|(?<![\w*])\*(?P<slanted>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|\[(?P<text>[^\]\[]+)\]\((?P<link>https?://[^\s()<>]+)\)"
)
_DEEPEST = 6


def html_of(text: str) -> str:
    """The text as HTML blocks."""
    return "\n".join(_blocks(text.replace("\r\n", "\n").split("\n")))


def inline(text: str) -> str:
    """One run of text: code, strong, slanted, links; all else escaped."""
    made: list[str] = []
    at = 0
    for found in _INLINE.finditer(text):
        made += [escape(text[at : found.start()]), _marked(found)]
        at = found.end()
    return "".join([*made, escape(text[at:])])


def code(text: str, language: str = "") -> str:
    """A block of code."""
    named = f' data-language="{escape(language)}"' if language else ""
    return f"<pre{named}><code>{escape(text)}</code></pre>"


def _marked(found: re.Match[str]) -> str:
    if (text := found["code"]) is not None:
        return f"<code>{escape(text.strip() or text)}</code>"
    if (text := found["strong"]) is not None:
        return f"<strong>{escape(text)}</strong>"
    if (text := found["slanted"]) is not None:
        return f"<em>{escape(text)}</em>"
    return f'<a href="{escape(found["link"])}" rel="noreferrer">{escape(found["text"])}</a>'


def _blocks(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if fence := _FENCE.match(line):
            end = _fence_end(lines, at + 1, fence[1])
            yield code("\n".join(lines[at + 1 : end]), fence[2])
            at = end + 1
        elif heading := _HEADING.match(line):
            level = min(_DEEPEST, len(heading[1]) + 2)
            yield f"<h{level}>{inline(heading[2])}</h{level}>"
            at += 1
        elif _RULE.match(line.strip()):
            yield "<hr>"
            at += 1
        elif not line.strip():
            at += 1
        else:
            end = _block_end(lines, at)
            yield _block(lines[at:end])
            at = end


def _fence_end(lines: list[str], at: int, mark: str) -> int:
    while at < len(lines):
        bare = lines[at].strip()
        if bare.startswith(mark) and not bare.strip(mark[0]):
            return at
        at += 1
    return at


def _block_end(lines: list[str], at: int) -> int:
    """Where lines of the first one's kind end."""
    kind = _kind(lines[at])
    at += 1
    while at < len(lines) and lines[at].strip() and not _opens(lines[at]):
        now = _kind(lines[at])
        goes_on = now == kind or (kind == "item" and lines[at].startswith(" "))
        if not goes_on:
            break
        at += 1
    return at


def _opens(line: str) -> bool:
    return bool(_FENCE.match(line) or _HEADING.match(line) or _RULE.match(line.strip()))


def _kind(line: str) -> str:
    if _ITEM.match(line):
        return "item"
    return "quote" if line.startswith(">") else "text"


def _block(lines: list[str]) -> str:
    match _kind(lines[0]):
        case "item":
            return f"<ul>{''.join(_items(lines))}</ul>"
        case "quote":
            return f"<blockquote>{_lines([line[1:].strip() for line in lines])}</blockquote>"
        case _:
            return f"<p>{_lines(lines)}</p>"


def _items(lines: list[str]) -> Iterator[str]:
    """Items of a list, each with its own mark, indented as they were."""
    waiting: list[str] = []
    for line in lines:
        if _ITEM.match(line) and waiting:
            yield _item(waiting)
            waiting = []
        waiting.append(line)
    yield _item(waiting)


def _item(lines: list[str]) -> str:
    found = _ITEM.match(lines[0])
    assert found is not None
    depth = min(_DEEPEST, len(found[1].expandtabs(4)) // 2)
    mark = found[2] if found[2][0].isdigit() else "•"
    text = _lines([found[3], *(line.strip() for line in lines[1:])])
    return f'<li class="in{depth}"><span class="mark">{escape(mark)}</span> {text}</li>'


def _lines(lines: list[str]) -> str:
    return "<br>".join(inline(line) for line in lines)
