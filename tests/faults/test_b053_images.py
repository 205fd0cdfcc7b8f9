"""Pictures that a provider refuses: told in words, so that the next prompt works."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from tests.model.fake_server import Seen, chat, serving, spoken
from tests.model.talk import READ, answer, model_at

from singletree.imagehead import look
from singletree.messages import AssistantMessage, Image, Message, ToolCall, ToolResultMessage


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + crc

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    rows = chunk(b"IDAT", zlib.compress(b"\x00" * ((width + 1) * height)))
    return b"\x89PNG\r\n\x1a\n" + head + rows + chunk(b"IEND", b"")


def jpeg(size: int) -> bytes:
    frame = b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", 100, 100) + b"\x03" + b"\x00" * 9
    return b"\xff\xd8\xff\xe0\x00\x10" + b"JFIF\x00" + b"\x00" * 9 + frame + b"\x00" * size


def given(*pictures: tuple[bytes, str]) -> list[Message]:
    blocks = [Image(data=base64.b64encode(d).decode(), mime_type=m) for d, m in pictures]
    call = ToolCall(id="c1", name="read", arguments={"path": "a.png"})
    said = AssistantMessage(
        content=[call], api="openai-completions", provider="fake", model="m", stop_reason="toolUse"
    )
    return [said, ToolResultMessage(tool_call_id="c1", tool_name="read", content=list(blocks))]


def pictures_of(value: Any) -> Iterator[tuple[str, bytes]]:
    """Type and bytes of every picture in a body."""
    if isinstance(value, list):
        for item in value:
            yield from pictures_of(item)
    elif isinstance(value, dict) and value.get("type") == "image":
        source = value["source"]
        yield source["media_type"], base64.b64decode(source["data"])
    elif isinstance(value, dict) and value.get("type") == "image_url":
        head, _, data = value["image_url"]["url"].partition(";base64,")
        yield head.removeprefix("data:"), base64.b64decode(data)
    elif isinstance(value, dict):
        for item in value.values():
            yield from pictures_of(item)


def strict(seen: Seen) -> str | None:
    """The provider's limits."""
    pictures = list(pictures_of(seen.body))
    for mime, data in pictures:
        looks = look(data)
        if looks is None or looks.mime != mime:
            return f"the image is no {mime}"
        if len(base64.b64encode(data)) > 5 * 1024 * 1024:
            return "image exceeds 5 MB"
        if max(looks.width, looks.height) > (2000 if len(pictures) > 20 else 8000):
            return "image dimensions exceed the limit"
    return None


BMP = b"BM" + b"\x00" * 60
HTML = b"<!doctype html><html><body>not found</body></html>"
CASES: dict[str, tuple[list[tuple[bytes, str]], int]] = {
    "too wide": ([(png(9000, 10), "image/png")], 0),
    "too large": ([(jpeg(4_600_000), "image/jpeg")], 0),
    "a BMP": ([(BMP, "image/png")], 0),
    "a web page": ([(HTML, "image/png")], 0),
    "wrongly labelled": ([(jpeg(10), "image/png")], 1),
    "thirty large ones": ([(png(2100, 2100), "image/png")] * 30, 0),
    "a good one": ([(png(20, 20), "image/png")], 1),
}
APIS = ["openai-completions", "anthropic-messages"]


def ok(api: str) -> bytes:
    return spoken("ok") if api == "anthropic-messages" else chat({"content": "ok"})


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("name", CASES)
async def test_hi_always_works(api: str, name: str) -> None:
    pictures, sent = CASES[name]
    async with serving([ok(api)]) as server, model_at(server, api, images=True) as model:
        server.rules.append(strict)
        await answer(model, "look", *given(*pictures), "hi", tools=(READ,))
    assert len(list(pictures_of(server.bodies[0]))) == sent


@pytest.mark.parametrize("api", APIS)
async def test_a_model_that_cannot_see_gets_a_note(api: str) -> None:
    async with serving([ok(api)]) as server, model_at(server, api) as model:
        await answer(model, "look", *given((png(20, 20), "image/png")), "hi", tools=(READ,))
    assert list(pictures_of(server.bodies[0])) == []
    assert "this model cannot see images" in str(server.bodies[0])


async def test_history_is_not_changed() -> None:
    before = given((BMP, "image/png"))
    dumped = [message.dump() for message in before]
    async with serving([ok("")]) as server, model_at(server, images=True) as model:
        await answer(model, "look", *before, "hi", tools=(READ,))
    assert [message.dump() for message in before] == dumped
