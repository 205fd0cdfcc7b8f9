"""The truncation family: two limits, UTF-16 slices, sizes, the accumulator."""

from __future__ import annotations

import base64
import codecs
import hashlib
from typing import Any

from tests.vectors.runner import Case, Check, run

from singletree.messages import utf16_head, utf16_units
from singletree.tools.accumulator import Accumulator
from singletree.tools.truncate import (
    MAX_BYTES,
    MAX_LINES,
    Cut,
    cut_line,
    format_size,
    keep_head,
)


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def check_text(wanted: dict[str, Any], text: str) -> None:
    """Short texts are given as they are, long ones as hash and sizes."""
    if "text" in wanted:
        assert text == wanted["text"]
        return
    assert hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() == wanted["sha256"]
    assert size(text) == wanted["utf8_bytes"]
    assert utf16_units(text) == wanted["utf16_units"]


def check_cut(wanted: dict[str, Any], cut: Cut, source: str) -> None:
    if wanted["first_line_exceeds_limit"]:
        # Where pi shows nothing of an over-long first line, we show the part that fits.
        assert cut.partial and cut.first == cut.last == 1 and cut.by == "bytes"
        line = source.split("\n")[0]
        assert line.startswith(cut.text)
        assert size(cut.text) <= wanted["max_bytes"] < size(line[: len(cut.text) + 1])
    else:
        check_text(wanted["content"], cut.text)
        assert cut.by == wanted["truncated_by"]
        assert cut.lines == wanted["output_lines"]
        assert size(cut.text) == wanted["output_bytes"]
        assert cut.partial == wanted["last_line_partial"]
    assert (cut.by is not None) == wanted["truncated"]
    assert cut.total_lines == wanted["total_lines"]
    assert cut.total_bytes == wanted["total_bytes"]


def limits(case: Case) -> None:
    given = case.input
    text = given.get("text")
    if text is None:
        text = "".join(piece * times for piece, times in given["parts"])
    lines = given.get("max_lines", MAX_LINES)
    bound = given.get("max_bytes", MAX_BYTES)
    check_cut(case.expected["head"], keep_head(text, lines, bound), text)
    held = Accumulator(lines, bound)
    held.add(text)
    check_cut(case.expected["tail"], held.cut(), text)


def line(case: Case) -> None:
    kept, was_cut = cut_line(case.input["text"], case.input["max_chars"])
    check_text(case.expected["kept"], kept)
    assert was_cut == case.expected["truncated"] == case.expected["marker_appended"]


def slices(case: Case) -> None:
    assert utf16_head(case.input["text"], case.input["units"]) == case.expected["head"]


def sizes(case: Case) -> None:
    assert format_size(case.input["bytes"]) == case.expected["text"]


def accumulator(case: Case) -> None:
    given, wanted = case.input, case.expected
    if "base64" in given:
        data = base64.b64decode(given["base64"])
    else:
        data = "".join(piece * times for piece, times in given["parts"]).encode()
    held = Accumulator(given["max_lines"], given["max_bytes"])
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    counted, at = [], 0
    step = given.get("chunk_size")
    lengths = given["chunk_sizes"] if step is None else [step] * -(-len(data) // step)
    for length in lengths:
        held.add(decoder.decode(data[at : at + length]))
        counted.append(held.total_lines)
        at += length
    assert at >= len(data)
    held.add(decoder.decode(b"", final=True))
    check_cut(wanted["final"], held.cut(), "")
    if wanted.get("lines_after_each_chunk") is not None:
        assert counted == wanted["lines_after_each_chunk"]
    assert held.overflowed == wanted["full_output_saved"]
    assert held.last_line_bytes == wanted["last_line_bytes"]


CHECKS: dict[str, Check] = {
    "small": limits,
    "default_limits": limits,
    "line": line,
    "slice": slices,
    "format_size": sizes,
    "accumulator": accumulator,
}


def test_truncation_vectors() -> None:
    failed = run("truncation", CHECKS)
    assert failed == [], "\n".join(failed[:10])
