"""A model behind HTTP: a request goes out in its API's form, deltas and a message come back.

Never knows where a key came from. Read next: apis.py (the forms), http.py (the way), catalog.py
(who makes these).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby

import anyio.to_thread

from singletree.errors import ModelError
from singletree.messages import AssistantMessage
from singletree.model.apis import APIS, Decoder
from singletree.model.base import Delta, Hear, ModelInfo, ModelRequest, Terms
from singletree.model.draft import Draft
from singletree.model.failure import hide, no_answer
from singletree.model.http import Call, Http
from singletree.model.memo import Memo
from singletree.model.sse import ServerEvent

FEW = 200
"""Messages that are encoded in the loop; more would hold it up."""


class RemoteModel:
    """One model of one provider. `headers` are sent as they are, and win over our own.

    `terms` are asked at every request.
    """

    def __init__(
        self,
        info: ModelInfo,
        http: Http,
        *,
        key: str | None,
        headers: Mapping[str, str] | None = None,
        terms: Callable[[], Terms] = Terms,
    ) -> None:
        self._info = info
        self._http = http
        self.key = key
        self.headers: Mapping[str, str] = dict(headers or {})
        self._terms = terms
        self._api = APIS[info.api]
        self._memo = Memo(self._api.form, info)

    @property
    def info(self) -> ModelInfo:
        """What it is."""
        return self._info

    async def answer(self, request: ModelRequest, hear: Hear) -> AssistantMessage:
        """Ask, and tell what comes."""
        api = self._api
        taken = partial(self._memo.has_call, request)
        decoder = api.decoder(Draft(self._info, request.thinking, taken))
        call = Call(
            url=api.url(self._info),
            headers={**api.headers(self._info, request, self.key), **self.headers},
            body=await self._encoded(request),
            provider=self._info.provider,
            secrets=tuple(_secrets(self.key, self.headers)),
            terms=self._terms(),
            done=lambda: decoder.over,
        )

        def take(events: list[ServerEvent]) -> None:
            deltas: list[Delta] = []
            try:
                for event in events:
                    deltas += decoder.feed(event)
            finally:  # what came before a failure is told
                hear(joined(deltas))

        try:
            said = await self._http.send(call, take)
            if said:  # a server that does not stream
                take([ServerEvent("", said)])
            deltas, message = self._finished(decoder, said)
        except ModelError as error:
            hide(error, call.secrets)
            raise
        hear(deltas)
        return message

    def _finished(self, decoder: Decoder, said: str) -> tuple[list[Delta], AssistantMessage]:
        """The end of the answer. Where there was none, what came instead is told."""
        try:
            return decoder.finish()
        except ModelError:
            if said and not decoder.draft.parts:
                raise no_answer(said, provider=self._info.provider) from None
            raise

    async def _encoded(self, request: ModelRequest) -> bytes:
        """The body; a long conversation that is new here is encoded beside the loop.

        Cancelled, it does not wait for that.
        """
        if self._memo.fresh(request) < FEW:
            return self._memo.encode(request)
        return await anyio.to_thread.run_sync(self._memo.encode, request, abandon_on_cancel=True)


def joined(deltas: Iterable[Delta]) -> list[Delta]:
    """The same with fewer: those of one part that follow one another are one."""
    found: list[Delta] = []
    for _, group in groupby(deltas, key=lambda delta: (type(delta), delta.part)):
        first, *more = group
        found.append(replace(first, text=first.text + "".join(d.text for d in more)))
    return found


def _secrets(key: str | None, headers: Mapping[str, str]) -> Iterator[str]:
    """What no error may quote: also the key in a header that says `Bearer` before it."""
    if key:
        yield key
    for name, value in headers.items():
        yield value
        if "auth" in name.lower():
            yield value.rpartition(" ")[2]
