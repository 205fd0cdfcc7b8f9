"""Addresses go out and come back the same; slices put together are the whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from singletree.rpc.addresses import SLICE_BYTES, Address, cut, parse

kinds = st.sampled_from(["entry", "tool", "toolInput", "toolDiff", "queue"])


@given(kinds, st.text(st.characters(codec="utf-8"), min_size=1, max_size=12))
def test_an_address_is_understood_again(kind: str, name: str) -> None:
    address = Address("0199-a", kind, name)  # type: ignore[arg-type]  # sampled from its values
    assert parse(str(address)) == address


def test_addresses_look_as_the_protocol_says() -> None:
    assert str(Address("s", "entry", "e1")) == "agent://s/entry/e1.json"
    assert str(Address("s", "tool", "call/1")) == "agent://s/tool/call%2F1/output.txt"
    assert str(Address("s", "toolInput", "c")) == "agent://s/tool/c/input.json"
    assert str(Address("s", "toolDiff", "c")) == "agent://s/tool/c/changes.diff"


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "file:///entry/a.json",
        "agent:///entry/a.json",
        "agent://s/entry/.json",
        "agent://s/entry/a/b.json",
        "agent://s/other/a.json",
        "agent://[x",
    ],
)
def test_what_is_no_address_is_none(uri: str) -> None:
    assert parse(uri) is None


@given(st.text(max_size=300), st.integers(1, 50))
def test_slices_put_together_are_the_whole(text: str, step: int) -> None:
    start: int | None = 0
    found = ""
    while start is not None:
        piece = cut(text, start, start + step)
        assert piece.size == len(text.encode("utf-8", "replace"))
        found += piece.text
        start = piece.next
    assert found == text.encode("utf-8", "replace").decode()


def test_one_slice_fits_a_message_whatever_it_holds() -> None:
    piece = cut("\x01" * 5_000_000)
    assert len(piece.text) == SLICE_BYTES
    assert piece.next == SLICE_BYTES
    assert len(to_json(piece.text)) < 1_048_576
