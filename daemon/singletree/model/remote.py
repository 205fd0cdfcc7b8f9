"""A model behind HTTP: a request goes out in its API's form, deltas come back.

Never knows where a key came from. Read next: apis.py (the forms), http.py (the way), catalog.py
(who makes these).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from singletree.model.apis import APIS
from singletree.model.base import ModelEvent, ModelInfo, ModelRequest
from singletree.model.http import Call, Http, Limits


class RemoteModel:
    """One model of one provider. `headers` are sent as they are, and win over our own."""

    def __init__(
        self,
        info: ModelInfo,
        http: Http,
        *,
        key: str | None,
        headers: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._info = info
        self._http = http
        self.key = key
        self.headers: Mapping[str, str] = dict(headers or {})
        self._limits = limits or Limits()

    @property
    def info(self) -> ModelInfo:
        """What it is."""
        return self._info

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask, and tell what comes."""
        api = APIS[self._info.api]
        decoder = api.decoder(self._info, request.thinking)
        call = Call(
            url=self._info.base_url.rstrip("/") + api.path,
            headers={**api.headers(self._info, request, self.key), **self.headers},
            body=api.encode(self._info, request),
            provider=self._info.provider,
            secrets=tuple(s for s in (self.key, *self.headers.values()) if s),
            limits=self._limits,
            done=lambda: decoder.over,
        )
        async with aclosing(self._http.stream(call)) as arrivals:
            async for events in arrivals:
                for event in events:
                    for delta in decoder.feed(event):
                        yield delta
        for delta in decoder.finish():
            yield delta
