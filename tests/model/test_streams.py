"""Answers of the APIs: what is tolerated, what is an error, what it costs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from singletree.errors import ModelError
from singletree.messages import AssistantMessage, Thinking
from singletree.model.apis import APIS, Decoder
from singletree.model.base import (
    Delta,
    ModelInfo,
    Price,
    PriceTier,
    TextDelta,
    ToolCallDelta,
)
from singletree.model.draft import Draft
from singletree.model.sse import ServerEvent

CHAT, MESSAGES, RESPONSES = "openai-completions", "anthropic-messages", "openai-responses"
PRICE = Price(1, 10, 0.1, 1.25)


def decoder(api: str, **fields: Any) -> Decoder:
    return APIS[api].decoder(Draft(ModelInfo("fake", "m", api=api, price=PRICE, **fields)))


def feed(one: Decoder, *items: Any) -> list[Delta]:
    texts = [item if isinstance(item, str) else json.dumps(item) for item in items]
    return [e for text in texts for e in one.feed(ServerEvent("", text))]


def whole(api: str, *items: Any, **fields: Any) -> AssistantMessage:
    one = decoder(api, **fields)
    feed(one, *items)
    return one.finish()[1]


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": fields} | ({"finish_reason": finish} if finish else {})
    return {"id": "c", "choices": [choice]}


def texts(message: AssistantMessage) -> list[str]:
    return [str(b.dump().get("text", b.dump().get("thinking"))) for b in message.content]


def test_a_stray_line_is_no_event() -> None:
    message = whole(CHAT, "ping", delta(content="a"), "", "OK", delta("stop"), "[DONE]")
    assert texts(message) == ["a"]


@pytest.mark.parametrize("api", APIS)
def test_an_event_that_is_no_json_is_a_passing_failure(api: str) -> None:
    with pytest.raises(ModelError, match="an event of the answer could not be read") as caught:
        feed(decoder(api), "{nope")
    assert caught.value.retryable


@pytest.mark.parametrize("api", APIS)
def test_an_answer_without_its_end_is_a_passing_failure(api: str) -> None:
    with pytest.raises(ModelError) as caught:
        decoder(api).finish()
    assert caught.value.retryable


def test_content_as_a_list_of_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert texts(whole(CHAT, delta(content=parts), delta("stop"))) == ["ab"]


def test_a_refusal_is_text() -> None:
    assert texts(whole(CHAT, delta(refusal="no"), delta("stop"))) == ["no"]


def test_an_unknown_finish_reason_ends_the_answer() -> None:
    message = whole(CHAT, delta(content="a"), delta("brand_new"))
    assert (message.stop_reason, message.raw_stop_reason) == ("stop", "brand_new")


def test_a_failed_finish_is_a_passing_failure() -> None:
    with pytest.raises(ModelError, match="ended with network_error"):
        whole(CHAT, delta(content="a"), delta("network_error"))


def test_an_id_that_comes_late_is_waited_for() -> None:
    one = decoder(CHAT)
    first = feed(one, delta(tool_calls=[{"index": 0, "function": {"name": "r", "arguments": "{"}}]))
    second = feed(one, delta(tool_calls=[{"index": 0, "id": "c9", "function": {"arguments": "}"}}]))
    assert first == []
    assert second == [ToolCallDelta(0, "c9", "r", "{"), ToolCallDelta(0, "c9", "r", "}")]


def test_a_provider_s_bill_wins() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.5}
    cost = whole(CHAT, delta("stop", content="a"), {"choices": [], "usage": usage}).usage.cost
    assert (cost.total, cost.total_from_provider) == (0.5, 0.5)
    assert cost.input == pytest.approx(0.00001)


@pytest.mark.parametrize(
    ("usage", "figures"),
    [
        ({"cached_tokens": 4}, (6, 4, 0, 0)),
        ({"prompt_cache_hit_tokens": 3, "cached_tokens": 4}, (7, 3, 0, 0)),
        ({"prompt_tokens_details": {"cached_tokens": 0}, "cached_tokens": 4}, (10, 0, 0, 0)),
        ({"prompt_tokens_details": {"cached_tokens": 12, "cache_write_tokens": 2}}, (0, 12, 2, 0)),
        ({"reasoning_tokens": 2}, (10, 0, 0, 2)),
    ],
)
def test_figures_are_found_wherever_a_server_puts_them(
    usage: dict[str, Any], figures: tuple[int, ...]
) -> None:
    told = {"prompt_tokens": 10, "completion_tokens": 5} | usage
    seen = whole(CHAT, delta("stop", content="a") | {"usage": told}).usage
    assert (seen.input, seen.cache_read, seen.cache_write, seen.reasoning) == figures


def test_odd_figures_count_nothing() -> None:
    usage = {"prompt_tokens": None, "completion_tokens": "many", "prompt_tokens_details": 3}
    message = whole(CHAT, delta("stop", content="a"), {"choices": [], "usage": usage})
    assert message.usage.used == 0


@pytest.mark.parametrize("figure", ["1" + "0" * 400, "1e400", "-1", "NaN", "true"])
def test_figures_that_cannot_be_reckoned_with_count_nothing(figure: str) -> None:
    usage = f'{{"prompt_tokens": {figure}, "completion_tokens": 3, "cost": {figure}}}'
    end = f'{{"choices": [], "usage": {usage}}}'
    message = whole(CHAT, delta("stop", content="a"), end)
    assert (message.usage.input, message.usage.output) == (0, 3)
    assert message.usage.cost.total_from_provider in (None, 0)


@pytest.mark.parametrize("api", APIS)
def test_an_event_nested_too_deeply_is_a_passing_failure(api: str) -> None:
    for depth in (200, 900, 100_000):
        event = '{"error": ' + "[" * depth + "]" * depth + "}"
        with pytest.raises(ModelError, match="could not be read") as caught:
            feed(decoder(api), event)
        assert caught.value.retryable


def test_reasoning_details_in_many_pieces_are_whole_at_the_end() -> None:
    def details(*items: dict[str, Any]) -> dict[str, Any]:
        return delta(reasoning="x", reasoning_details=list(items))

    kind = "reasoning.text"
    message = whole(
        CHAT,
        *[details({"type": kind, "text": str(n % 10), "index": 0}) for n in range(5000)],
        details({"type": kind, "text": "", "signature": "s", "index": 0}),
        details({"type": kind, "text": "next", "index": 1}, {"type": "other", "data": "d"}),
        delta("stop", content="a"),
    )
    thinking = message.content[0]
    assert isinstance(thinking, Thinking)
    assert json.loads(thinking.thinking_signature or "") == [
        {"type": kind, "text": "0123456789" * 500, "index": 0, "signature": "s"},
        {"type": kind, "text": "next", "index": 1},
        {"type": "other", "data": "d"},
    ]


def start(**fields: Any) -> dict[str, Any]:
    return {"type": "message_start", "message": {"id": "m1", "model": "m", **fields}}


def block(index: int, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": fields}


def more(index: int, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": fields}


def end(reason: str) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def test_events_without_an_event_line_are_known_by_their_type() -> None:
    message = whole(MESSAGES, start(), block(0, type="text", text="a"), *end("end_turn"))
    assert texts(message) == ["a"]


def test_words_of_a_block_that_never_began_are_not_lost() -> None:
    message = whole(
        MESSAGES,
        start(),
        more(0, type="thinking_delta", thinking="hm"),
        more(1, type="text_delta", text="a"),
        more(1, type="text_delta", text="b"),
        more(2, type="input_json_delta", partial_json="{}"),
        *end("end_turn"),
    )
    assert texts(message) == ["hm", "ab"]


@pytest.mark.parametrize("odd", ["NaN", "-Infinity", "1e999"])
def test_likelihoods_that_are_no_json_spoil_nothing(odd: str) -> None:
    choice = f'{{"delta": {{"content": "a"}}, "logprobs": [{odd}], "finish_reason": "stop"}}'
    assert texts(whole(CHAT, f'{{"choices": [{choice}]}}')) == ["a"]
    kept = f'{{"type": "reasoning", "id": "r", "summary": [], "score": {odd}}}'
    message = whole(
        RESPONSES,
        f'{{"type": "response.output_item.done", "item": {kept}}}',
        {"type": "response.completed", "response": {"status": "completed"}},
    )
    thinking = message.content[0]
    assert isinstance(thinking, Thinking)
    assert json.loads(thinking.thinking_signature or "")["score"] is None


def test_input_that_stands_in_the_start() -> None:
    use = block(0, type="tool_use", id="t", name="read", input={"path": "a"})
    message = whole(MESSAGES, start(), use, *end("tool_use"))
    assert message.tool_calls[0].arguments == {"path": "a"}


def test_a_call_without_an_id_gets_one() -> None:
    use = block(0, type="tool_use", name="read", input={})
    assert whole(MESSAGES, start(), use, *end("tool_use")).tool_calls[0].id


def test_after_the_end_nothing_counts() -> None:
    one = decoder(MESSAGES)
    feed(one, start(), block(0, type="text", text="a"), *end("end_turn"))
    assert one.over
    assert feed(one, block(1, type="text", text="late")) == []
    assert texts(one.finish()[1]) == ["a"]


def test_a_refusal_is_told() -> None:
    message = whole(MESSAGES, start(), block(0, type="text", text="a"), *end("refusal"))
    assert (message.stop_reason, message.raw_stop_reason) == ("error", "refusal")
    assert message.error_message == "The provider's safety filter ended the answer."


def test_redacted_thinking_is_kept() -> None:
    hidden = block(0, type="redacted_thinking", data="BLOB")
    message = whole(MESSAGES, start(), hidden, *end("end_turn"))
    assert message.content[0].dump() == {
        "type": "thinking",
        "thinking": "",
        "thinkingSignature": "BLOB",
        "redacted": True,
    }


def test_another_model_answered() -> None:
    message = whole(MESSAGES, start(model="m-2026"), *end("end_turn"))
    assert (message.model, message.response_model) == ("m", "m-2026")


def item(kind: str, index: int, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.output_item.{kind}", "output_index": index, "item": fields}


def done(**fields: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"id": "r", "status": "completed", **fields}}


def test_a_model_that_answers_instead_costs_what_is_said_of_it() -> None:
    tier = {"inputTokensAbove": 50, "input": 7, "output": "free", "cacheRead": None}
    cost = {"input": 3, "output": 30, "tiers": [tier, 5]}
    others = [{"provider": "fake", "model": "other", "cost": cost}, {"provider": "p"}, 3]
    compat: dict[str, Any] = {"allowedFallbackModels": others}

    def dollars(model: str, tokens: int) -> float:
        usage = {"input_tokens": tokens, "output_tokens": 1}
        begun = {"type": "message_start", "message": {"model": model, "usage": usage}}
        ended = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
        stop = {"type": "message_stop"}
        return whole(MESSAGES, begun, ended, stop, compat=compat).usage.cost.total * 1_000_000

    assert [dollars(*asked) for asked in (("m", 10), ("other", 10), ("other", 100))] == [
        pytest.approx(figure) for figure in (10 + 10, 30 + 30, 700)
    ]


def test_an_item_that_only_ends() -> None:
    said = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "a"}]}
    one = decoder(RESPONSES)
    assert feed(one, item("done", 0, **said), done()) == [TextDelta(0, "a")]
    assert texts(one.draft.message("stop")) == ["a"]


def test_a_failed_response() -> None:
    response = {"status": "failed", "error": {"code": "server_error"}}
    one = decoder(RESPONSES)
    with pytest.raises(ModelError, match="server_error") as caught:
        feed(one, {"type": "response.failed", "response": response})
    assert caught.value.retryable
    assert one.draft.raw_stop == "failed"


@pytest.mark.parametrize(
    ("why", "stop"),
    [("max_output_tokens", "length"), ("content_filter", "error"), ("x", "error"), ("", "error")],
)
def test_a_response_that_is_incomplete_says_why(why: str, stop: str) -> None:
    response = {"status": "incomplete", "incomplete_details": {"reason": why} if why else None}
    message = whole(RESPONSES, {"type": "response.incomplete", "response": response})
    assert (message.stop_reason, bool(message.error_message)) == (stop, stop == "error")


def test_a_total_of_the_provider_and_the_last_word_on_a_thought_win() -> None:
    thought = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "all"}]}
    message = whole(
        RESPONSES,
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "a"},
        {"type": "response.output_item.done", "output_index": 0, "item": thought},
        done(usage={"input_tokens": 10, "output_tokens": 5, "total_tokens": 99}),
    )
    assert (texts(message), message.usage.total_tokens) == (["all"], 99)


def test_a_cancelled_response_is_a_passing_failure() -> None:
    with pytest.raises(ModelError, match="the answer was cancelled"):
        whole(RESPONSES, done(status="cancelled"))


def test_a_call_without_a_call_id() -> None:
    call = {"type": "function_call", "id": "fc_1", "name": "ls", "arguments": "{}"}
    made = whole(RESPONSES, item("done", 0, **call), done()).tool_calls[0]
    assert made.id.endswith("|fc_1")
    assert made.id != "|fc_1"


def test_prices_of_long_requests() -> None:
    tiers = (PriceTier(100, 2, 20), PriceTier(1000, 4, 40))
    model = ModelInfo("f", "m", api=CHAT, price=Price(1, 10, tiers=tiers))
    for tokens, rate in ((100, 1), (101, 2), (1001, 4)):
        one = APIS[CHAT].decoder(Draft(model))
        usage = {"prompt_tokens": tokens, "completion_tokens": 0}
        feed(one, delta("stop"), {"choices": [], "usage": usage})
        assert one.draft.usage.cost.total == pytest.approx(tokens * rate / 1e6)
