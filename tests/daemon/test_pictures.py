"""Pictures in a prompt: taken by their bytes, made fit before they are stored, never a dead end."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.daemon.provider import MODEL, provided, says
from tests.daemon.real import daemon, opened, place, settled, text
from tests.faults.test_b053_images import BMP, HTML, jpeg, pictures_of, strict
from tests.rpc.client import Failed, RawClient
from tests.tools.drawn import drawn, png

PNG, JPEG = "image/png", "image/jpeg"


def block(data: bytes, mime: str = PNG) -> dict[str, Any]:
    return {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": mime}


def width(data: bytes) -> int:
    with Image.open(io.BytesIO(data)) as image:
        return image.width


async def said(client: RawClient, session: str, *blocks: object) -> None:
    content = [*text("look"), *blocks]
    await client.call("agent/prompt", {"sessionId": session, "content": content})
    assert (await settled(client, session))["lastTurn"]["reason"] == "end_turn"


@pytest.mark.parametrize(
    ("data", "mime", "sent", "note"),
    [
        (png(20, 20), PNG, (PNG, 20), ""),
        (drawn("JPEG", 20, 20), PNG, (JPEG, 20), ""),
        (png(9000, 10), PNG, (PNG, 2000), "It is shown as image/png at 2000x2"),
        (drawn("BMP", 20, 20), PNG, (PNG, 20), "It is shown as image/png."),
        (jpeg(4_600_000), JPEG, None, "It is not shown: "),
        (BMP, PNG, None, "It is not shown: its bytes are no PNG"),
        (HTML, PNG, None, "It is not shown: its bytes are no PNG"),
        (b"", PNG, None, "It is not shown: its bytes are no PNG"),
        (png(20, 20)[:-30], PNG, None, "It is not shown: the picture is damaged"),
    ],
    ids=["good", "wrong label", "wide", "bmp", "large", "broken bmp", "page", "empty", "cut"],
)
async def test_a_picture_is_made_fit_before_it_is_stored(
    tmp_path: Path, data: bytes, mime: str, sent: tuple[str, int] | None, note: str
) -> None:
    where = place(tmp_path)
    async with (
        provided(where, [says("ok")], input=["text", "image"]) as server,
        daemon(where, model=MODEL) as client,
    ):
        server.rules.append(strict)
        session = await opened(client, where)
        await said(client, session, block(data, mime))
        await said(client, session)
    for body in server.bodies:
        assert [(m, width(d)) for m, d in pictures_of(body)] == ([] if sent is None else [sent])
        assert note in str(body)
    (file,) = where.agent_dir.glob("sessions/*/*.jsonl")
    kept = file.read_text("utf-8")
    assert (block(data)["data"] in kept) == (note == "" or not data)
    assert len(kept) < 200_000


async def test_settings_keep_pictures_as_they_are_or_away_from_models(tmp_path: Path) -> None:
    where = place(tmp_path)
    wide = png(2600, 20)
    async with provided(where, [says("ok")], input=["text", "image"]) as server:
        where.settings(images={"autoResize": False})
        async with daemon(where, model=MODEL) as client:
            session = await opened(client, where)
            await said(client, session, block(wide))
            asked = {"sessionId": session}
            assert (await client.call("agent/session/state", asked))["images"] is True
            change = {"key": "images.blockImages", "value": True, "sessionId": session}
            await client.call("agent/settings/set", change)
            assert (await client.call("agent/session/state", asked))["images"] is False
            await said(client, session)
    assert [d for _, d in pictures_of(server.bodies[0])] == [wide]
    assert list(pictures_of(server.bodies[1])) == []
    assert "the settings keep pictures from models" in str(server.bodies[1])


async def test_a_resource_that_is_a_picture_is_one(tmp_path: Path) -> None:
    where = place(tmp_path)
    blob = base64.b64encode(png(9, 9)).decode()
    resource = {"uri": "file:///a.png", "mimeType": PNG, "blob": blob}
    async with (
        provided(where, [says("ok")], input=["text", "image"]) as server,
        daemon(where, model=MODEL) as client,
    ):
        session = await opened(client, where)
        await said(client, session, {"type": "resource", "resource": resource})
    assert [m for m, _ in pictures_of(server.bodies[0])] == [PNG]


def image(data: str) -> dict[str, Any]:
    return {"type": "image", "data": data, "mimeType": PNG}


def resource(**fields: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": "file:///a", **fields}}


NO_BASE64 = "must be base64, without line ends and without a data: prefix"
WRONG: list[tuple[dict[str, Any], str, str]] = [
    (image("!"), "data", NO_BASE64),
    (image("AAA"), "data", NO_BASE64),
    (image("data:image/png;base64,AAAA"), "data", NO_BASE64),
    (image("AA\nAA"), "data", NO_BASE64),
    (image("\u00e4"), "data", NO_BASE64),
    (image("AA==AA"), "data", NO_BASE64),
    ({"type": "audio", "data": "?", "mimeType": "audio/wav"}, "data", NO_BASE64),
    (resource(), "resource", "must have text or blob"),
    (resource(blob="%"), "resource/blob", NO_BASE64),
    ({"type": "diagnostic", "diagnostic": {}}, "uri", "Field required"),
]


async def test_what_is_no_content_is_refused_with_its_place(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "never"}) as client:
        session = await opened(client, where)
        for wrong, pointer, why in WRONG:
            content = [*text("look"), wrong]
            with pytest.raises(Failed) as caught:
                await client.call("agent/prompt", {"sessionId": session, "content": content})
            fault = {"pointer": f"/content/1/{pointer}", "message": why}
            assert (caught.value.code, caught.value.data["errors"]) == (-32602, [fault])


async def test_a_problem_at_no_place_is_refused(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "never"}) as client:
        session = await opened(client, where)
        problem = {"message": "wrong", "range": {"start": 1}}
        content = [{"type": "diagnostic", "uri": "file:///a", "diagnostic": problem}]
        with pytest.raises(Failed) as caught:
            await client.call("agent/prompt", {"sessionId": session, "content": content})
        assert caught.value.code == -32602
