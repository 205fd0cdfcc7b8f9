"""What takes the place of a spot: only what the new text changes against the old one.

Lines that both have stay as the file has them, with their line ends, quotes and blanks; of a line
that changes, its unchanged beginning and end stay, but blanks at its very end go. New lines get the
line ends and the indentation of their surroundings. Never looks for anything. Read next: match.py
(spots), edit.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from singletree.tools.compare import opcodes, shared
from singletree.tools.match import EOL, Spot, View, boundaries, indentation


def replacement(view: View, spot: Spot, old: str, new: str) -> str:
    """The text for the spot of `old`; the line ends of `old` and `new` are LF."""
    was = view.text[spot.start : spot.end]
    contents = EOL.split(was)
    ends = EOL.findall(was)
    old_lines, new_lines = old.split("\n"), new.split("\n")
    if len(contents) < len(old_lines):
        old_lines.pop()
        if new_lines[-1] == "":
            new_lines.pop()
    lines: list[tuple[str, str]] = []
    for kind, i, i_end, j, j_end in opcodes(old_lines, new_lines):
        for k in range(j_end - j):
            end = ends[i + k] if i + k < min(i_end, len(ends)) else ""
            if kind == "equal":
                lines.append((contents[i + k], end))
            elif i_end - i == j_end - j:
                pair = old_lines[i + k], new_lines[j + k]
                lines.append((_changed(contents[i + k], *pair, spot.indent), end))
            else:
                lines.append((_indented(new_lines[j + k], spot.indent), end))
    return _joined(lines, ends[-1] if ends else _end_of_line_at(view, spot.end))


def _joined(lines: list[tuple[str, str]], usual: str) -> str:
    """Lines put together; one that has no end of its own gets that of the line before."""
    text = ""
    last = next((end for _, end in lines if end), usual)
    for content, end in lines[:-1]:
        last = end or last
        text += content + last
    return text + lines[-1][0] if lines else ""


def _end_of_line_at(view: View, position: int) -> str:
    """The line end of the line there, or of the one before if it has none."""
    index = view.line_at(position)
    for line in (view.line(index), view.line(max(index - 1, 0))):
        if line.next > line.end:
            return view.text[line.end : line.next]
    return "\n"


def _changed(was: str, old: str, new: str, indent: Mapping[str, str]) -> str:
    """A line of the file that changes from `old` to `new`: what they share stays as it was."""
    if was == old:
        return new
    if indent:
        begin = _indented(new, indent) if indentation(new) != indentation(old) else was
        return indentation(begin) + _changed(was.lstrip(), old.lstrip(), new.lstrip(), {})
    blanks = new[len(new.rstrip()) :]
    return _spliced(was.rstrip(), old.rstrip(), new.rstrip()) + blanks


def _spliced(was: str, old: str, new: str) -> str:
    """`new`, but with the file's own form of what it shares with `old` at its two ends."""
    there: dict[int, int] = {}
    for at, seen in boundaries(was):
        there.setdefault(seen, at)
    marks = [(at, there[seen]) for at, seen in boundaries(old) if seen in there]
    head = shared(old, new)
    tail = min(shared(old[::-1], new[::-1]), min(len(old), len(new)) - head)
    at, here = max(mark for mark in marks if mark[0] <= head)
    behind = [mark for mark in marks if mark[0] >= len(old) - tail and mark[1] >= here]
    to, there_to = min(behind, default=(len(old), len(was)))
    return was[:here] + new[at : len(new) - (len(old) - to)] + was[there_to:]


def _indented(line: str, indent: Mapping[str, str]) -> str:
    """A new line with the file's indentation in place of the one it was given."""
    if not indent or not line.strip():
        return line
    given = indentation(line)
    return _translated(given, indent) + line[len(given) :]


def _translated(given: str, known: Mapping[str, str]) -> str:
    if given in known:
        return known[given]
    below = [old for old in known if given.startswith(old)]
    if below:
        base = max(below, key=len)
        return known[base] + _steps(given[len(base) :], known)
    for old, there in known.items():
        if old.endswith(there):
            return given.removeprefix(old[: len(old) - len(there)])
    return given


def _steps(rest: str, known: Mapping[str, str]) -> str:
    """Further levels of indentation, in the file's kind where a step of both is known."""
    pairs = [(deep, known[deep]) for deep in known if set(deep) != set(known[deep])]
    pairs += [
        (deep[len(flat) :], known[deep][len(known[flat]) :])
        for deep in known
        for flat in known
        if deep.startswith(flat) and known[deep].startswith(known[flat])
    ]
    for old, there in sorted(pairs, key=lambda pair: len(pair[0])):
        if old and there and rest == old * (len(rest) // len(old)):
            return there * (len(rest) // len(old))
    return rest
