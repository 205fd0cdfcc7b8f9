"""Model servers on this machine: asked whether they are there, and which models they have.

Speaks just enough HTTP for one GET, so that a start needs no HTTP library; only loopback addresses
are ever asked. Read next: catalog.py (who asks).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

import anyio
from pydantic import JsonValue

from singletree.jsontext import decoded
from singletree.model.base import ModelInfo
from singletree.model.catalogue import Provider
from singletree.model.proxies import host_of, is_loopback

PROBE_SECONDS = 0.3
NOBODY = "no model answers at {url}; start the server"
_BYTES = 1_000_000
_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*(\d{1,9})[ \t]*\r?$")
_HOSTS = {
    "ollama": "OLLAMA_HOST",
    "llama.cpp": "LLAMA_CPP_HOST",
    "lmstudio": "LMSTUDIO_HOST",
}
_OLLAMA_WINDOW = 4096
"""What Ollama gives a model unless it is told otherwise; more is cut off without a word."""
_NOT_CHAT = ("embed", "rerank", "whisper", "tts")


def at_host(provider: Provider, env: Mapping[str, str]) -> Provider:
    """The provider at the address that its variable names, as its own tools read it.

    A variable that holds no address changes nothing.
    """
    host = env.get(_HOSTS.get(provider.id, ""), "").strip().rstrip("/")
    if not host:
        return provider
    if "://" not in host:
        host = f"http://{host}"
    try:
        parts, port = urlsplit(host), urlsplit(host).port
    except ValueError:
        return provider
    name = parts.hostname or "127.0.0.1"
    name = "127.0.0.1" if name in ("0.0.0.0", "::") else name  # what a server listens on
    shown = f"[{name}]" if ":" in name else name
    port = port or urlsplit(provider.base_url).port
    path = parts.path.rstrip("/") or "/v1"
    return replace(provider, base_url=f"{parts.scheme}://{shown}:{port}{path}")


def how_to_reach(provider: Provider) -> str:
    """What to do about a server that does not answer."""
    variable = _HOSTS.get(provider.id)
    said = NOBODY.format(url=provider.base_url)
    return f"{said}, or name its address in {variable}" if variable else said


async def probe(
    provider: Provider, env: Mapping[str, str], key: str | None = None
) -> list[ModelInfo]:
    """The models a server on this machine offers; none if it does not answer in time.

    One that answers and names none has those that are written down for it.
    """
    base = provider.base_url.rstrip("/")
    found: list[ModelInfo] = []
    with anyio.move_on_after(PROBE_SECONDS):
        listed = await _get(f"{base}/models", key)
        names = _ids(listed)
        if isinstance(listed, dict) and not names:
            return list(provider.models)
        window = await _window(provider, base, listed, env) if names else None
        for name in names:
            found.append(_info(provider, name, window))
    return found


def _info(provider: Provider, name: str, window: int | None) -> ModelInfo:
    known = next((m for m in provider.models if m.id == name), None)
    if known is not None:
        return known
    size = window or ModelInfo("", "").context_window
    return ModelInfo(
        provider=provider.id,
        id=name,
        name=name.rpartition("/")[2] or name,
        context_window=size,
        max_output=min(size // 2, ModelInfo("", "").max_output),
    )


async def _window(
    provider: Provider, base: str, listed: JsonValue, env: Mapping[str, str]
) -> int | None:
    """Tokens of context, where the server tells."""
    root = base.removesuffix("/v1")
    if provider.id == "llama.cpp":
        props = await _get(f"{root}/props", None)
        settings = props.get("default_generation_settings") if isinstance(props, dict) else None
        return _number(settings, "n_ctx")
    if provider.id == "ollama":
        given = env.get("OLLAMA_CONTEXT_LENGTH", "")
        running = await _get(f"{root}/api/ps", None)
        models = running.get("models") if isinstance(running, dict) else None
        loaded = [_number(m, "context_length") for m in models] if isinstance(models, list) else []
        sizes = [size for size in loaded if size]
        return int(given) if given.isdigit() else (min(sizes) if sizes else _OLLAMA_WINDOW)
    first = _entries(listed)[:1]
    return _number(first[0], "max_model_len") or _number(first[0], "max_context_length")


def _number(value: JsonValue, key: str) -> int | None:
    number = value.get(key) if isinstance(value, dict) else None
    return number if isinstance(number, int) and number > 0 else None


def _entries(listed: JsonValue) -> Sequence[JsonValue]:
    data = listed.get("data") if isinstance(listed, dict) else None
    return data if isinstance(data, list) else []


def _ids(listed: JsonValue) -> list[str]:
    names = [entry.get("id") for entry in _entries(listed) if isinstance(entry, dict)]
    return [
        name
        for name in names
        if isinstance(name, str) and name and not any(word in name.lower() for word in _NOT_CHAT)
    ]


async def _get(url: str, key: str | None) -> JsonValue:
    """The JSON at a loopback address, {} where a server has nothing there, None otherwise."""
    host = host_of(url)
    if not (url.startswith("http://") and is_loopback(host)):
        return None
    parts = urlsplit(url)
    lines = [f"GET {parts.path} HTTP/1.0", f"Host: {parts.netloc}", "Accept: application/json"]
    lines.append("Connection: close")
    if key:
        lines.append(f"Authorization: Bearer {key}")
    try:
        async with await anyio.connect_tcp(host, parts.port or 80) as stream:
            await stream.send("\r\n".join([*lines, "", ""]).encode())
            answer = b""
            while len(answer) < _BYTES and not _whole(answer):
                try:
                    answer += await stream.receive()
                except anyio.EndOfStream:
                    break
        head, _, body = answer.partition(b"\r\n\r\n")
        status = head.split(b"\r\n", 1)[0] + b" "
        if b" 404 " in status:
            return {}
        if b" 200 " not in status:
            return None
        value = decoded(body)
    except (OSError, ValueError, anyio.BrokenResourceError):
        return None
    return value


def _whole(answer: bytes) -> bool:
    """Whether all of it is there, as far as it says how long it is: not every server hangs up."""
    head, end, body = answer.partition(b"\r\n\r\n")
    length = _LENGTH.search(head) if end else None
    return length is not None and len(body) >= int(length[1])
