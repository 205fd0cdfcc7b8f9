"""A model behind HTTP: a request goes out in its API's form, deltas come back.

Never knows where a key came from. Read next: apis.py (the forms), http.py (the way), catalog.py
(who makes these).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

import anyio.to_thread

from singletree.errors import ModelError
from singletree.messages import AssistantMessage
from singletree.model.apis import APIS
from singletree.model.base import ModelEvent, ModelInfo, ModelRequest
from singletree.model.draft import Draft
from singletree.model.failure import hide
from singletree.model.http import Call, Http, Limits
from singletree.model.memo import Memo

FEW = 200
"""Messages that are encoded in the loop; more would hold it up."""


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
        self._api = APIS[info.api]
        self._memo = Memo(self._api.form, info)

    @property
    def info(self) -> ModelInfo:
        """What it is."""
        return self._info

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask, and tell what comes."""
        api = self._api
        decoder = api.decoder(Draft(self._info, request.thinking, lambda: _call_ids(request)))
        call = Call(
            url=self._info.base_url.rstrip("/") + api.path,
            headers={**api.headers(self._info, request, self.key), **self.headers},
            body=await self._encoded(request),
            provider=self._info.provider,
            secrets=tuple(s for s in (self.key, *self.headers.values()) if s),
            limits=self._limits,
            done=lambda: decoder.over,
        )
        try:
            async with aclosing(self._http.stream(call)) as arrivals:
                async for events in arrivals:
                    for event in events:
                        for delta in decoder.feed(event):
                            yield delta
        except ModelError as error:
            hide(error, call.secrets)
            raise
        for delta in decoder.finish():
            yield delta

    async def _encoded(self, request: ModelRequest) -> bytes:
        """The body; a long conversation that is new here is encoded beside the loop."""
        if self._memo.fresh(request) < FEW:
            return self._memo.encode(request)
        return await anyio.to_thread.run_sync(self._memo.encode, request)


def _call_ids(request: ModelRequest) -> set[str]:
    said = (m for m in request.messages if isinstance(m, AssistantMessage))
    return {call.id for message in said for call in message.tool_calls}
