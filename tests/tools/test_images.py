"""Pictures by their bytes: type, size, whole or not; and made small enough."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.drawn import drawn, noise, png
from tests.tools.worlds import run_tool, world_of

from singletree.messages import Image, Text
from singletree.tools.images import Picture, picture, picture_type, still
from singletree.tools.pictures import show_picture
from singletree.tools.read import read_tool
from singletree.tools.shrink import MAX_ENCODED, fits, pillow, shrink


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "RGBA"])
@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
def test_what_pillow_writes_is_known(form: str, mode: str) -> None:
    mode = "L" if form == "JPEG" and mode in ("P", "RGBA") else mode
    data = drawn(form, 37, 21, mode)
    mime = f"image/{form.lower()}"
    assert picture(data) == Picture(mime, 37, 21, plain=form != "BMP")
    assert picture_type(data) == mime
    for cut in (len(data) // 2, len(data) - 1, 30, 20, 13, 9):
        assert picture(data[:cut]) is None


def test_lossless_webp_is_known() -> None:
    import io

    from PIL import Image as Pillow

    out = io.BytesIO()
    Pillow.new("RGB", (300, 200)).save(out, "WEBP", lossless=True)
    assert picture(out.getvalue()) == Picture("image/webp", 300, 200)


@given(st.sampled_from(["PNG", "JPEG", "GIF", "WEBP", "BMP"]), st.data())
def test_damage_never_raises(form: str, data: st.DataObject) -> None:
    whole = bytearray(drawn(form, 9, 7))
    for _ in range(3):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    damaged = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    found = picture(damaged)
    assert found is None or picture_type(damaged) == found.mime


def test_a_damaged_png_is_none() -> None:
    data = bytearray(png(5, 5))
    data[-20] ^= 1
    assert picture(bytes(data)) is None


def test_an_animated_png_is_shown_as_its_first_frame() -> None:
    moving = png(4, 4, ((b"acTL", b"\0" * 8), (b"fcTL", b"\0" * 26)))
    assert still(moving) == png(4, 4)
    output = show_picture("a.png", moving, len(moving), None)
    image = output.content[-1]
    assert isinstance(image, Image)
    assert base64.b64decode(image.data) == png(4, 4)


def test_a_picture_is_shown_as_it_is() -> None:
    data = drawn("JPEG", 40, 30)
    output = show_picture("a.jpg", data, len(data), shrink)
    assert output.content == (
        Text(text=f"[a.jpg: image/jpeg, 40x30 pixels, {len(data)}B]"),
        Image(data=base64.b64encode(data).decode(), mime_type="image/jpeg"),
    )


def test_a_large_one_is_made_smaller_and_told() -> None:
    data = png(2600, 1300)
    note, image = show_picture("a.png", data, 12, shrink).content
    assert isinstance(note, Text) and isinstance(image, Image)
    assert note.text == (
        "[a.png: image/png, 2600x1300 pixels, 12B. It is shown as image/png at 2000x1000:"
        " multiply coordinates by 1.30.]"
    )
    assert picture(base64.b64decode(image.data)) == Picture("image/png", 2000, 1000)


def test_without_pillow_a_large_one_is_replaced_by_a_note() -> None:
    (note,) = show_picture("a.png", png(2600, 1300), 12, None).content
    assert isinstance(note, Text)
    assert note.text == (
        "[a.png: image/png, 2600x1300 pixels, 12B. It is not shown: it is too large, or of a kind"
        " that models do not take. Make a PNG or JPEG of at most 2000x2000 pixels and read that.]"
    )


def test_a_bitmap_becomes_png() -> None:
    data = drawn("BMP", 40, 30)
    note, image = show_picture("a.png", data, len(data), shrink).content
    assert isinstance(note, Text) and isinstance(image, Image)
    assert note.text.endswith("It is shown as image/png.]")
    assert picture(base64.b64decode(image.data)) == Picture("image/png", 40, 30)


def test_what_takes_too_many_bytes_loses_quality_before_size() -> None:
    data = noise("PNG", 1900, 1900)
    found = picture(data)
    assert found is not None and not fits(data, found)
    small = shrink(data, found)
    assert small is not None
    assert (small.mime, small.width, small.height) == ("image/jpeg", 1900, 1900)
    assert (len(small.data) + 2) // 3 * 4 <= MAX_ENCODED


def test_what_cannot_be_decoded_is_not_shrunk() -> None:
    data = png(3000, 10).replace(b"IDAT", b"IDAX")
    assert shrink(data, Picture("image/png", 3000, 10)) is None
    assert shrink(data, Picture("image/png", 100_000, 100_000)) is None
    assert pillow() is shrink


async def test_read_shows_a_picture_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(drawn("GIF", 3, 2))
    output = await run_tool(read_tool(world_of(tmp_path)), path="notes.txt")
    assert not output.is_error
    note, image = output.content
    assert isinstance(note, Text) and note.text.startswith("[notes.txt: image/gif, 3x2 pixels")
    assert isinstance(image, Image) and image.mime_type == "image/gif"
