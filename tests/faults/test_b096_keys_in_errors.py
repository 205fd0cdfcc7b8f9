"""A key appears in no error and in no repr."""

from __future__ import annotations

import pytest
from tests.model.fake_server import FakeServer, events, refusal, serving
from tests.model.talk import failure, info_for, model_at

from singletree.model.apis import APIS
from singletree.model.base import ModelInfo
from singletree.model.catalogue import Provider
from singletree.model.http import Call

KEY = "sk-test-123"


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_a_refusal_that_quotes_the_key(api: str, status: int) -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY}.", "code": "invalid"}}
    async with serving([refusal(status, body)]) as server, model_at(server, api) as model:
        _, error = await failure(model)
    assert KEY not in f"{error!r} {error} {error.hint} {error.detail}"
    assert "[key]" in error.message


async def test_an_error_event_that_quotes_the_key() -> None:
    stream = events({"error": {"message": f"bad {KEY}"}})
    async with serving([stream]) as server, model_at(server, key="other") as model:
        _, error = await failure(model)
    assert KEY not in error.message


async def test_a_key_of_no_known_form_in_an_event() -> None:
    key = "plainkey0123456789"
    stream = events({"error": {"message": f"bad {key}"}})
    async with serving([stream]) as server, model_at(server, key=key) as model:
        _, error = await failure(model)
    assert key not in error.message


def test_what_holds_a_key_does_not_show_it() -> None:
    call = Call("http://x", {"authorization": KEY}, KEY.encode(), "p", (KEY,))
    assert KEY not in repr(call)
    assert KEY not in repr(info_for(FakeServer([b""])))
    assert KEY not in repr(ModelInfo("p", "m", compat={"headers": {"authorization": KEY}}))
    assert KEY not in repr(Provider("p", "P", "", "", key=KEY, headers={"authorization": KEY}))


async def test_a_bearer_of_models_json_is_no_word_of_an_error() -> None:
    key = "plainkey0123456789"
    headers = {"Authorization": f"Bearer {key}"}
    body = {"error": {"message": f"the token {key} is unknown"}}
    async with (
        serving([refusal(401, body)]) as server,
        model_at(server, key=None, headers=headers) as model,
    ):
        _, error = await failure(model)
    assert key not in f"{error!r} {error}"
    assert "the token [key] is unknown" in error.message
