"""What changed, for people: a numbered diff and a patch, made from the changes themselves.

Nothing is compared, so it costs no more than the lines it shows. Line ends are not shown. Never
knows a file. Read next: edit.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from singletree.tools.compare import NO_END
from singletree.tools.looks import shown
from singletree.tools.match import EOL, View
from singletree.tools.truncate import cut_line

CONTEXT = 4
GAP = "..."
MAX_SHOWN = 200_000
MAX_WIDTH = 2000
TOO_MUCH = "[… {count} more lines]"


@dataclass(frozen=True, slots=True)
class Change:
    """Characters `start` to `end` of the old text become `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Block:
    """From line index `at` on, the old lines `old` became `new`."""

    at: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def apply(text: str, changes: Sequence[Change]) -> str:
    """The text with all changes made; they are in order and do not overlap.

    A return and a line feed that come together by it stay two line ends.
    """
    parts, at = list[str](), 0
    for change in (*changes, Change(len(text), len(text), "")):
        for part in filter(None, (text[at : change.start], change.new)):
            if parts and parts[-1].endswith("\r") and part.startswith("\n"):
                parts.append("\n")
            parts.append(part)
        at = change.end
    return "".join(parts)


def blocks(view: View, changes: Sequence[Change]) -> list[Block]:
    """The changed lines. A last line without a line end is not the same as one with it."""
    found: list[Block] = []
    group: list[Change] = []
    for change in changes:
        if group and view.line_at(change.start) > view.line_at(group[-1].end):
            found.append(_block(view, group))
            group = []
        group.append(change)
    return found + ([_block(view, group)] if group else [])


def merged(found: Sequence[Block]) -> list[Block]:
    """Blocks that follow each other without a line between them made one."""
    out: list[Block] = []
    for block in found:
        if out and out[-1].at + len(out[-1].old) == block.at:
            last = out.pop()
            block = Block(last.at, last.old + block.old, last.new + block.new)
        out.append(block)
    return out


def numbered(view: View, found: Sequence[Block]) -> str:
    """Lines with their numbers: old ones for what stays and goes, new ones for what comes."""
    count = _count(view)
    width = len(str(count + sum(len(block.new) for block in found)))
    out: list[str] = []
    shift, done = 0, 0

    def put(sign: str, number: int, line: str) -> None:
        kept, was_cut = cut_line(line.rstrip("\n"), MAX_WIDTH)
        out.append(f"{sign}{number:>{width}} {shown(kept)}{'…' * was_cut}")

    for hunk in _hunks(found):
        start = max(hunk[0].at - CONTEXT, done)
        if start > done:
            out.append(f" {'':>{width}} {GAP}")
        at = start
        for block in hunk:
            for index in range(at, block.at):
                put(" ", index + 1, _row(view, index))
            for index, line in enumerate(block.old, block.at):
                put("-", index + 1, line)
            for index, line in enumerate(block.new, block.at + shift):
                put("+", index + 1, line)
            at = block.at + len(block.old)
            shift += len(block.new) - len(block.old)
        done = min(at + CONTEXT, count)
        for index in range(at, done):
            put(" ", index + 1, _row(view, index))
    if done < count:
        out.append(f" {'':>{width}} {GAP}")
    return bounded_diff("\n".join(out))


def bounded_diff(diff: str) -> str:
    """As much of a diff as is shown: its first lines."""
    if len(diff) <= MAX_SHOWN:
        return diff
    kept = diff[:MAX_SHOWN].rpartition("\n")[0]
    return f"{kept}\n{TOO_MUCH.format(count=diff.count(chr(10)) - kept.count(chr(10)))}"


def patch(view: View, found: Sequence[Block], name: str) -> str:
    """A unified diff that `patch` takes, with LF line ends."""
    out = [f"--- {name}\n+++ {name}\n"]
    shift = 0
    for hunk in _hunks(found):
        start = max(hunk[0].at - CONTEXT, 0)
        end = min(hunk[-1].at + len(hunk[-1].old) + CONTEXT, _count(view))
        grown = sum(len(block.new) - len(block.old) for block in hunk)
        spans = _span(start, end - start), _span(start + shift, end - start + grown)
        out.append(f"@@ -{spans[0]} +{spans[1]} @@\n")
        at = start
        for block in hunk:
            out += [_patch_line(" ", _row(view, index)) for index in range(at, block.at)]
            out += [_patch_line("-", line) for line in block.old]
            out += [_patch_line("+", line) for line in block.new]
            at = block.at + len(block.old)
        out += [_patch_line(" ", _row(view, index)) for index in range(at, end)]
        shift += grown
    return "".join(out)


def _block(view: View, group: Sequence[Change]) -> Block:
    """The whole lines round some changes, without those at both ends that stay the same."""
    first, last = view.line_at(group[0].start), view.line_at(group[-1].end)
    start, end = view.line(first).start, view.line(last).next
    moved = [Change(c.start - start, c.end - start, c.new) for c in group]
    old = lines_of(view.text[start:end])
    new = lines_of(apply(view.text[start:end], moved))
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return Block(
        first + same, tuple(old[same : len(old) - tail]), tuple(new[same : len(new) - tail])
    )


def _count(view: View) -> int:
    """Lines without the empty one behind a final line end."""
    return view.count - (0 if view.content(view.count - 1) else 1)


def _row(view: View, index: int) -> str:
    """A line, with LF if it has an end."""
    line = view.line(index)
    return view.text[line.start : line.end] + ("\n" if line.next > line.end else "")


def lines_of(text: str) -> list[str]:
    """Lines with LF for any line end; nothing behind the last one."""
    parts = EOL.split(text)
    lines = [f"{part}\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _hunks(found: Sequence[Block]) -> list[list[Block]]:
    """Blocks so near to each other that their context touches belong together."""
    hunks: list[list[Block]] = []
    for block in found:
        last = hunks[-1][-1] if hunks else None
        if last is not None and block.at - (last.at + len(last.old)) <= 2 * CONTEXT:
            hunks[-1].append(block)
        else:
            hunks.append([block])
    return hunks


def _span(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"


def _patch_line(sign: str, line: str) -> str:
    end = "" if line.endswith("\n") else f"\n{NO_END}\n"
    return f"{sign}{shown(line)}{end}"
