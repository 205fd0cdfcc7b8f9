"""The family `compaction`: estimates, cuts, plans, summary requests, signs of an overflow."""

from __future__ import annotations

import hashlib
import math
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from tests.vectors import flow_compaction, runner
from tests.vectors.runner import Case
from tests.vectors.wording import marked

from singletree.compaction.budget import (
    Limits,
    Size,
    context_tokens,
    estimate,
    over,
    units,
)
from singletree.compaction.flatten import CUT, flatten
from singletree.compaction.plan import Plan, find_cut, plan
from singletree.compaction.prompts import FOCUS, SECTIONS
from singletree.compaction.summary import Completion, Summary, summarize
from singletree.compaction.touched import Touched
from singletree.compaction.writer import CAUTIOUS_UNITS_PER_TOKEN
from singletree.context.projection import Projection, project, said, summary_message
from singletree.errors import ModelError, SessionError
from singletree.history.entries import ENTRY, CompactionEntry, Entry
from singletree.messages import (
    AGENT_MESSAGE,
    AgentMessage,
    AssistantMessage,
    Usage,
    utf16_units,
)
from singletree.model.base import ModelInfo
from singletree.model.failure import classify
from singletree.session.settings.keys import Settings
from singletree.session.turn import recovery

FAMILY = "compaction"


def entries(raw: Sequence[Any]) -> list[Entry]:
    return [ENTRY.validate_python(item) for item in raw]


def messages(raw: Sequence[Any]) -> list[AgentMessage]:
    return [AGENT_MESSAGE.validate_python(item) for item in raw]


def estimate_tokens(case: Case) -> None:
    message = AGENT_MESSAGE.validate_python(case.input["message"])
    assert {"tokens": estimate(message)} == case.expected


def request_estimate(case: Case) -> None:
    raw = {"toolCallId": "", **case.input["message"]}
    message = AGENT_MESSAGE.validate_python(raw)
    assert {"tokens": math.ceil(units(message) / CAUTIOUS_UNITS_PER_TOKEN)} == case.expected


def usage_tokens(case: Case) -> None:
    assert {"tokens": Usage.model_validate(case.input["usage"]).used} == case.expected


def as_row(found: Size) -> dict[str, int | None]:
    return {
        "tokens": found.tokens,
        "usage_tokens": found.measured,
        "trailing_tokens": found.estimated,
        "last_usage_index": found.at,
    }


def estimate_context(case: Case) -> None:
    assert (
        as_row(context_tokens(Projection(tuple(messages(case.input["messages"]))))) == case.expected
    )


def estimate_projected(case: Case) -> None:
    assert as_row(context_tokens(project(entries(case.input["branch"])))) == case.expected


def should_compact(case: Case) -> None:
    given = case.input["settings"]
    limits = Limits(given["reserveTokens"], given["keepRecentTokens"], given["enabled"])
    full = over(case.input["context_tokens"], case.input["context_window"], limits.reserve)
    assert {"compact": limits.enabled and full} == case.expected


def find_cut_point(case: Case) -> None:
    line = entries(case.input["entries"])
    seen = {one.id: message for one in line if (message := by_itself(one)) is not None}
    cut = find_cut(
        line, seen, case.input["start"], case.input["end"], case.input["keep_recent_tokens"]
    )
    assert {
        "first_kept_index": cut.first_kept,
        "turn_start_index": -1 if cut.turn_start is None else cut.turn_start,
        "split_turn": cut.turn_start is not None,
    } == case.expected


def by_itself(entry: Entry) -> AgentMessage | None:
    return summary_message(entry) if isinstance(entry, CompactionEntry) else said(entry)


def prepare(case: Case) -> None:
    found = plan(entries(case.input["branch"]), case.input["settings"]["keepRecentTokens"])
    assert (found and plan_row(found)) == case.expected


def plan_row(found: Plan) -> dict[str, Any]:
    rows = list(zip(found.sources, (*found.messages, *found.prefix), strict=True))
    at = len(found.messages)
    return {
        "first_kept_entry_id": found.first_kept_id,
        "split_turn": found.split,
        "summarize": [[source, message.role] for source, message in rows[:at]],
        "turn_prefix": [[source, message.role] for source, message in rows[at:]],
        "tokens_before": found.tokens_before,
        "previous_summary": found.previous,
        **files_row(found.touched),
    }


def files_row(touched: Touched) -> dict[str, Any]:
    return {
        "file_ops": {
            "read": sorted(touched.read),
            "written": sorted(touched.written),
            "edited": sorted(touched.edited),
        },
        "read_files": list(touched.read_files),
        "modified_files": list(touched.modified_files),
    }


def touched_of(raw: Any) -> Touched:
    return Touched(frozenset(raw["read"]), frozenset(raw["written"]), frozenset(raw["edited"]))


def file_lists(case: Case) -> None:
    touched = touched_of(case.input)
    assert {
        "read_files": list(touched.read_files),
        "modified_files": list(touched.modified_files),
        "block": touched.block(),
    } == case.expected


_PART = re.compile(r"\[([^\]]+)\]: (.*)", re.DOTALL)
_NOTE = re.compile(re.escape(CUT).replace(r"\{count\}", r"(\d+)") + r"\Z")


def serialize(case: Case) -> None:
    raw = case.input.get("messages")
    if raw is None:
        raw = [spelled(spec) for spec in case.input["messages_spec"]]
    assert [part_row(part, row) for part, row in paired(raw, case)] == case.expected["parts"]


def paired(raw: Any, case: Case) -> list[tuple[str, Any]]:
    parts = flatten(messages(raw))
    return list(zip(parts, case.expected["parts"], strict=True))


def part_row(part: str, like: Any) -> dict[str, Any]:
    found = _PART.fullmatch(part)
    assert found is not None
    tag, text = found[1], marked(found[2])
    row: dict[str, Any] = {"tag": tag}
    if note := _NOTE.search(text):
        row["truncated_chars"] = int(note[1])
        text = text[: note.start()]
    if "text" in like:
        return {**row, "text": text}
    return {
        **row,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "utf8_bytes": len(text.encode()),
        "utf16_units": utf16_units(text),
        "head": sliced(text, slice(60)),
        "tail": sliced(text, slice(-60, None)),
    }


def sliced(text: str, part: slice) -> str:
    """A part of a text, counted in UTF-16 units."""
    units = array("H", text.encode("utf-16-le", "surrogatepass"))
    return units[part].tobytes().decode("utf-16-le", "surrogatepass")


def spelled(spec: Any) -> dict[str, Any]:
    text = "".join(piece * times for piece, times in spec["text_parts"])
    return {"role": spec["role"], "toolCallId": "1", "content": [{"type": "text", "text": text}]}


@dataclass
class Player:
    """Gives the answers of a vector. Where our form asks for headings, the text gets them."""

    responses: list[Any]
    prompts: list[str] = field(default_factory=list)

    async def complete(self, system: str, prompt: str) -> Completion:
        assert system
        answer = self.responses[len(self.prompts)]
        self.prompts.append(prompt)
        text = answer.get("text", "")
        given = {"input": 10, "output": 5, **answer.get("usage", {})}
        return Completion(
            f"{text}{self.padding(prompt)}" if text else "",
            Usage.model_validate({**given, "totalTokens": given["input"] + given["output"]}),
            answer.get("stop", "stop"),
            len(answer.get("calls", [])),
            answer.get("error"),
        )

    @staticmethod
    def padding(prompt: str) -> str:
        asked = all(heading in prompt for heading in SECTIONS)
        return "\n" + "\n".join(SECTIONS) if asked else ""


def compact_request(case: Case) -> None:
    raw = case.input["preparation"]
    player = Player(case.input["responses"])
    planned = Plan(
        first_kept_id=raw.get("firstKeptEntryId", ""),
        messages=tuple(messages(raw["messagesToSummarize"])),
        prefix=tuple(messages(raw["turnPrefixMessages"])),
        previous=raw.get("previousSummary"),
        touched=touched_of(raw["fileOps"]),
        carried=Touched(),
        tokens_before=raw["tokensBefore"],
    )

    async def run() -> Summary:
        return await summarize(planned, player.complete, instructions=case.input["focus"])

    want = without_note(case.expected["outcome"], raw)
    try:
        summary = anyio.run(run)
    except ModelError as error:
        reason = {"error": "provider_error"}.get(str(error.detail["summary"]))
        assert {"ok": False, "error": reason or error.detail["summary"]} == want
    except SessionError:
        assert want == {"ok": False, "error": "no_first_kept"}
        return
    else:
        assert {
            "ok": True,
            "summary": marked(summary.text.replace(Player.padding(" ".join(SECTIONS)), "")),
            "first_kept_entry_id": planned.first_kept_id,
            "tokens_before": planned.tokens_before,
            "usage": {
                "input": summary.usage.input,
                "output": summary.usage.output,
                "totalTokens": summary.usage.total_tokens,
            },
            "details": summary.details,
        } == want
    asked = [request["blocks"] for request in case.expected["requests"]]
    assert [blocks(prompt) for prompt in player.prompts] == asked


def without_note(outcome: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Where no history is before a split turn pi says so, and we say nothing."""
    if "summary" not in outcome or given["messagesToSummarize"] or given.get("previousSummary"):
        return outcome
    return {**outcome, "summary": outcome["summary"].partition("\n\n---\n\n")[2]}


def blocks(prompt: str) -> list[dict[str, Any]]:
    """A prompt of ours in the vectors' blocks."""
    conversation, rest = tagged(prompt, "conversation")
    rows: list[dict[str, Any]] = [{"tag": "conversation", "text": marked(conversation)}]
    if rest.startswith("<previous-summary>"):
        previous, rest = tagged(rest, "previous-summary")
        rows.append({"tag": "previous-summary", "text": previous})
    headings = [line for line in rest.splitlines() if line.startswith("#")]
    if "## Goal" in headings:
        rows.append({"tag": "instructions", "headings": headings})
    else:
        rows[0]["tag"] = "conversation(turn-prefix)"
        rows.append({"tag": "instructions", "own_headings": len(headings)})
    _, found, focus = rest.partition("\n\n" + FOCUS.format(instructions=""))
    if found:
        rows.append({"tag": "focus", "text": focus})
    return rows


def tagged(text: str, name: str) -> tuple[str, str]:
    """What stands in a tag, and what follows it."""
    found = re.fullmatch(rf"<{name}>\n(.*)\n</{name}>\n\n(.*)", text, re.DOTALL)
    assert found is not None
    return found[1], found[2]


def error_class(case: Case) -> None:
    kind = classify(case.input["error_message"])
    overflow = kind.code == "context_overflow"
    assert {"overflow": overflow, "retryable": kind.retryable} == case.expected


def silent_overflow(case: Case) -> None:
    usage = Usage.model_validate(case.input["usage"])
    message = AssistantMessage(stop_reason=case.input["stop_reason"], usage=usage)
    info = ModelInfo("p", "m", context_window=case.input["context_window"])
    assert {"overflow": recovery.overflowed(message, info)} == case.expected


def recoverable_length(case: Case) -> None:
    usage = Usage(output=case.input["output"])
    message = AssistantMessage(stop_reason=case.input["stop_reason"], usage=usage)
    info = ModelInfo("p", "m", max_output=case.input["desired_max_output"])
    assert {"recoverable": recovery.cut_by_window(message, info)} == case.expected


def retry_delay(case: Case) -> None:
    base, attempt, cap = (case.input[key] for key in ("base_delay_ms", "attempt", "cap_ms"))
    cap = Settings().retry.max_agent_delay_ms if cap is None else cap
    assert {"delay_ms": recovery.backoff(attempt, base, cap)} == case.expected


CHECKS: dict[str, runner.Check] = {
    **flow_compaction.CHECKS,
    "estimate_tokens": estimate_tokens,
    "request_estimate": request_estimate,
    "usage_tokens": usage_tokens,
    "estimate_context": estimate_context,
    "estimate_projected": estimate_projected,
    "estimate_projected_edit": estimate_projected,
    "should_compact": should_compact,
    "find_cut_point": find_cut_point,
    "prepare": prepare,
    "prepare_edit": prepare,
    "file_lists": file_lists,
    "serialize": serialize,
    "compact_request": compact_request,
    "error_class": error_class,
    "silent_overflow": silent_overflow,
    "recoverable_length": recoverable_length,
    "retry_delay": retry_delay,
}


def test_compaction() -> None:
    failed = runner.run(FAMILY, CHECKS)
    assert failed == [], "\n".join(failed[:5])
