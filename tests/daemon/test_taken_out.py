"""Sessions taken out, put away, copied and looked through, over the protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.real import Place, daemon, opened, place, prompt, settled
from tests.rpc.client import Failed, RawClient
from tests.rpc.contract import fits

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


async def said(client: RawClient, session_id: str, *words: str) -> None:
    for one in words:
        await prompt(client, session_id, one)
        await settled(client, session_id)


async def ask(client: RawClient, method: str, **params: Any) -> Any:
    return await client.call(f"agent/{method}", params)


async def refused(client: RawClient, method: str, **params: Any) -> Any:
    with pytest.raises(Failed) as caught:
        await ask(client, method, **params)
    return caught.value.data


async def test_a_session_is_exported_open_or_not(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, {"text": "hello <b>"}, {"text": "x" * 200_000}) as client:
        session_id = await opened(client, where)
        await said(client, session_id, "first")
        made = await ask(client, "session/export", sessionId=session_id, format="md")
        fits("Exported", made)
        assert "## You\n\nfirst\n" in made["text"]
        page = await ask(client, "session/export", format="html", path="page.html")
        assert page == {"path": str(where.folder / "page.html")}
        assert "hello &lt;b&gt;" in (where.folder / "page.html").read_text("utf-8")
        again = await refused(client, "session/export", format="html", path="page.html")
        assert again["code"] == "session_error"
        await ask(client, "session/export", format="html", path="page.html", replace=True)
        await said(client, session_id, "more")
        long = await refused(client, "session/export", sessionId=session_id, format="jsonl")
        assert long["code"] == "unsupported"
        await ask(client, "session/close", sessionId=session_id)
        out = tmp_path / "out.jsonl"
        await ask(client, "session/export", sessionId=session_id, format="jsonl", path=str(out))
        lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        assert lines[0]["id"] == session_id
        assert [line["type"] for line in lines].count("message") == 4
        none = await refused(client, "session/export", sessionId="none", format="md")
        assert none["code"] == "session_not_found"


async def test_the_context_comes_by_pages_and_sums_up(tmp_path: Path) -> None:
    where = place(tmp_path)
    async with daemon(where, *({"text": "x" * 100_000} for _ in range(4))) as client:
        session_id = await opened(client, where)
        await said(client, session_id, *"abcd")
        parts: list[Any] = []
        cursor: str | None = None
        pages = 0
        while cursor is not None or not parts:
            page = await ask(client, "context/get", include=["messages"], limit=7, cursor=cursor)
            fits("ContextResult", page)
            parts += page["parts"]
            cursor = page["next"]
            pages += 1
        assert pages > 2
        assert sum(part["tokens"] for part in parts[: page["seen"]]) == page["tokens"]
        usage = (await ask(client, "session/state"))["contextUsage"]
        assert usage["tokens"] == page["tokens"]
        assert page["budget"]["compactsAbove"] == usage["window"] - page["budget"]["reserve"]
        said_by = [part["message"]["role"] for part in parts if "message" in part]
        assert said_by == ["user", "assistant"] * 4
        first = next(part for part in parts if part["kind"] == "user")
        there = await ask(client, "context/get", entryId=first["entryId"])
        assert there["entryId"] == first["entryId"]
        assert {"rule": "off_path", "count": 1} in there["leftOut"]
        assert (await refused(client, "context/get", entryId="no"))["code"] == "entry_not_found"


def the_files(where: Place) -> list[Path]:
    return sorted((where.agent_dir / "sessions").glob("*/*.jsonl"))
