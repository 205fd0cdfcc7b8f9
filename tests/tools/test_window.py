"""A window shows the same whatever the pieces are, and holds only what it shows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from singletree.tools.window import Window

TEXTS = st.text(alphabet="ab\n\n\r é🙂\x1b", max_size=80)


@given(
    TEXTS,
    st.integers(1, 12),
    st.none() | st.integers(1, 12),
    st.integers(4, 60),
    st.lists(st.integers(1, 9), max_size=30),
)
def test_any_pieces_give_the_same_lines(
    text: str, offset: int, limit: int | None, size: int, steps: list[int]
) -> None:
    data, window, at = text.encode(), Window(offset, limit, size), 0
    for step in steps:
        window.feed(data[at : at + step])
        at += step
    window.feed(data[at:])
    seen = window.look()
    lines = text.removesuffix("\n").split("\n") if text else []
    wanted = lines[offset - 1 :][:limit]
    assert seen.total_lines == len(lines)
    assert seen.total_bytes == len(data)
    assert seen.cut.total_lines == len(wanted)
    drawn = [line.replace("\x1b", "\u241b") for line in wanted]
    shown = seen.cut.text
    assert len(shown.encode()) <= size
    if seen.cut.partial:
        assert drawn[0].startswith(shown)
        assert seen.long_line == len(wanted[0].encode())
    elif seen.cut.by is not None:
        assert shown == "\n".join(drawn[: seen.cut.lines])
    else:
        assert seen.cut.lines == len(wanted)
        assert shown in ("\n".join(drawn), "\n".join(drawn) + "\n")
    assert (seen.cut.first, seen.cut.last) == (offset, offset + seen.cut.lines - 1)


def test_a_long_stream_is_not_held() -> None:
    window = Window(offset=50_000, limit=10, size=1000)
    for _ in range(2000):
        window.feed(b"0123456789012345678901234567890\n" * 100)
    seen = window.look()
    assert len(window._buffer) < 1100
    assert seen.cut.lines == 10 and seen.cut.first == 50_000
    assert seen.total_lines == 200_000


def test_a_character_at_the_edge_of_what_is_held_is_not_halved() -> None:
    window = Window(size=7)
    window.feed("🙂🙂🙂🙂🙂🙂".encode())
    seen = window.look()
    assert seen.cut.text == "🙂" and seen.cut.partial and not seen.foreign
