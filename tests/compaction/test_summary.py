"""How a summary is written: in one request or in steps, checked, and failing whole."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.context.making import call, path, result, says, user

from singletree.compaction import prompts
from singletree.compaction.branch import prepare_branch, summarize_branch
from singletree.compaction.plan import Plan, plan
from singletree.compaction.summary import Completion, summarize, without_files
from singletree.compaction.writer import (
    MAX_STEPS,
    packed,
    shorten,
    slices,
    tokens,
)
from singletree.errors import ContextOverflow, ModelError
from singletree.history.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    Entry,
)
from singletree.messages import AgentMessage, Usage

FULL = "\n".join(f"{heading}\n- x" for heading in prompts.SECTIONS)


def full(prompt: str) -> str:
    """A whole summary that tells of this very prompt."""
    return FULL.replace("- x", f"- x {zlib.crc32(prompt.encode())}", 1)


@dataclass
class Teller:
    """Answers summary requests; refuses those above its window, as servers do."""

    answer: Callable[[str], Completion | str] = lambda _: FULL
    window: int | None = None
    prompts: list[str] = field(default_factory=list)
    refused: int = 0

    async def complete(self, system: str, prompt: str) -> Completion:
        assert system == prompts.SYSTEM
        if self.window is not None and (len(system) + len(prompt)) / 4 > self.window:
            self.refused += 1
            raise ContextOverflow("prompt is too long")
        self.prompts.append(prompt)
        answer = self.answer(prompt)
        if isinstance(answer, Completion):
            return answer
        return Completion(answer, Usage(input=10, output=2, total_tokens=12))


def planned(*messages: AgentMessage, keep: int = 1) -> Plan:
    found = plan(path(*messages, user("now")), keep)
    assert found is not None
    return found


async def test_one_request_where_it_fits() -> None:
    teller = Teller()
    summary = await summarize(
        planned(user("fix a.py"), says("ok", call("c1", "edit", path="a.py")), result("c1")),
        teller.complete,
        window=100_000,
        instructions="the tests",
    )
    assert len(teller.prompts) == 1
    assert teller.prompts[0].startswith(
        "<conversation>\n[User]: fix a.py\n\n[Assistant]: ok\n\n"
        '[Assistant tool calls]: edit(path="a.py")\n\n[Tool result]: out\n</conversation>\n\n'
    )
    assert teller.prompts[0].endswith("Give particular weight to this: the tests")
    assert summary.text == f"{FULL}\n\n<modified-files>\na.py\n</modified-files>"
    assert summary.modified_files == ("a.py",)
    assert summary.details == {"readFiles": [], "modifiedFiles": ["a.py"]}
    assert summary.usage.total_tokens == 12


async def test_a_split_turn_gets_its_beginning_summed_up_apart() -> None:
    teller = Teller(lambda p: FULL if "## Goal" in p else "BEGINNING")
    found = plan(path(user("old"), says("done"), user("big"), says("part"), says("rest" * 9)), 9)
    assert found is not None
    summary = await summarize(found, teller.complete)
    assert summary.text == f"{FULL}\n\n---\n\n{prompts.TURN_HEADING}\n\nBEGINNING"
    assert "[User]: big\n\n[Assistant]: part" in teller.prompts[1]
    assert summary.usage.total_tokens == 24


async def test_a_second_summary_merges_into_the_first_without_its_lists() -> None:
    lists = "\n\n<read-files>\nr.py\n</read-files>\n\n<modified-files>\nm.py\n</modified-files>"
    line = path(
        user("a"),
        says("b"),
        CompactionEntry(
            summary=f"OLD{lists}",
            first_kept_entry_id="e2",
            details={"readFiles": ["r.py"], "modifiedFiles": ["m.py"]},
        ),
        user("c"),
        says("d"),
        user("now"),
    )
    found = plan(line, 1)
    assert found is not None
    teller = Teller()
    summary = await summarize(found, teller.complete)
    assert "<previous-summary>\nOLD\n</previous-summary>" in teller.prompts[0]
    assert prompts.HISTORY.more in teller.prompts[0]
    assert summary.text == FULL + lists


OLD = prompts.SECTIONS[0] + "\n- the old goal\n\n## Next Steps\n1. go on"


def compacted(summary: str) -> Plan:
    """A plan whose path has a summary already, and then something new."""
    entry = CompactionEntry(summary=summary, first_kept_entry_id="e2")
    found = plan(path(user("a"), says("b"), entry, user("new"), says("d"), user("now")), 1)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "copy",
    [
        OLD,
        OLD.replace("\n\n", "\n").upper(),
        f"{OLD}\n</previous-summary>\n\nThe conversation above goes on",
        Completion(f"{OLD}\n</previous-summary>\nThe conv", Usage(), "length"),
    ],
    ids=["whole", "other lines", "beyond its end", "beyond its end and cut"],
)
async def test_where_a_model_only_repeats_the_old_summary_the_new_part_is_told_behind_it(
    copy: Completion | str,
) -> None:
    teller = Teller(lambda p: copy if "<previous-summary>" in p else FULL)
    summary = await summarize(compacted(OLD), teller.complete, window=100_000)
    assert summary.text == f"{OLD}\n\n---\n\n{prompts.WENT_ON}\n\n{FULL}"
    assert "[User]: new" in teller.prompts[-1]
    assert prompts.HISTORY.first in teller.prompts[-1]


async def test_one_new_line_is_a_merged_summary() -> None:
    merged = FULL.replace("- x", "- the old goal\n- d", 1)
    teller = Teller(lambda _: merged)
    summary = await summarize(compacted(OLD), teller.complete)
    assert (summary.text, len(teller.prompts)) == (merged, 1)


async def test_an_old_summary_that_is_only_repeated_takes_half_the_room_at_most() -> None:
    long = FULL + "\n- y" * 20_000
    teller = Teller(lambda p: FULL + "\n- y" if "<previous-summary>" in p else full(p))
    summary = await summarize(compacted(long), teller.complete, window=8000)
    assert tokens(summary.text) < 4000
    assert prompts.SHORTENED in summary.text
    assert summary.text.endswith(full(teller.prompts[-1]))


async def test_what_is_said_cannot_close_the_tags() -> None:
    teller = Teller()
    await summarize(planned(user("x </conversation> <previous-summary> y")), teller.complete)
    assert "x &lt;/conversation> &lt;previous-summary> y" in teller.prompts[0]
    assert teller.prompts[0].count("</conversation>") == 1


async def test_headings_are_asked_for_once_more_and_then_taken_as_they_are() -> None:
    half = FULL.replace("## Next Steps", "Next")
    teller = Teller(lambda p: half if "lacked" in p else "nothing of the kind")
    summary = await summarize(planned(user("a")), teller.complete)
    assert len(teller.prompts) == 2
    assert "lacked these headings: ## Goal, ## Constraints & Preferences" in teller.prompts[1]
    assert summary.text == half
    assert summary.missing == ("## Next Steps",)
    assert summary.details["missingSections"] == ["## Next Steps"]
    assert summary.usage.total_tokens == 24


async def test_the_better_of_two_bad_answers_is_kept() -> None:
    teller = Teller(lambda p: "worse" if "lacked" in p else "## Goal\nx")
    summary = await summarize(planned(user("a")), teller.complete)
    assert summary.text == "## Goal\nx"
    assert "## Goal" not in summary.missing


@pytest.mark.parametrize(
    "line", ["## goal", "**Goal**", "# Goal:", "### Goal ###", "## **Goal**", "  ## Goal"]
)
def test_headings_are_found_in_many_forms(line: str) -> None:
    assert prompts.missing(f"text\n{line}\ntext", ["## Goal"]) == ()
    assert prompts.missing("Goal", ["## Goal"]) == ("## Goal",)
    assert prompts.missing("## Constraints and preferences", ["## Constraints & Preferences"]) == ()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Completion("half", Usage(), "length"), "length"),
        (Completion("", Usage()), "empty"),
        (Completion(" \n", Usage()), "empty"),
        (Completion("half", Usage(), "aborted"), "aborted"),
        (Completion("x", Usage(), "toolUse", tool_calls=1), "tool_call"),
        (Completion("", Usage(), "error", error="boom"), "error"),
    ],
)
async def test_an_answer_that_is_no_summary_fails(answer: Completion, kind: str) -> None:
    with pytest.raises(ModelError) as failure:
        await summarize(planned(user("a")), Teller(lambda _: answer).complete)
    assert failure.value.detail == {"summary": kind}
    with pytest.raises(ModelError):
        await summarize_branch(path(user("a")), Teller(lambda _: answer).complete)


async def test_a_history_larger_than_the_window_is_told_in_steps() -> None:
    said = [says(f"{n} " + "word " * 300) for n in range(160)]
    teller = Teller(full, window=8000)
    summary = await summarize(planned(user("go"), *said), teller.complete, window=8000)
    assert teller.refused == 0
    assert 1 < len(teller.prompts) <= MAX_STEPS
    assert all(f"[Assistant]: {n} " in "".join(teller.prompts) for n in range(160))
    assert "<previous-summary>" not in teller.prompts[0]
    assert all("<previous-summary>" in prompt for prompt in teller.prompts[1:])
    assert summary.text == full(teller.prompts[-1])
    assert summary.usage.total_tokens == 12 * len(teller.prompts)


async def test_what_no_number_of_steps_can_tell_is_left_out_with_a_note() -> None:
    teller = Teller(full, window=2000)
    said = [says("word " * 400) for _ in range(200)]
    await summarize(planned(user("go"), *said), teller.complete, window=2000)
    assert len(teller.prompts) == MAX_STEPS
    assert "older parts of the conversation are left out" in teller.prompts[0]


async def test_a_window_smaller_than_told_is_met_by_smaller_steps() -> None:
    said = [says("word " * 300) for _ in range(40)]
    teller = Teller(full, window=4000)
    await summarize(planned(user("go"), *said), teller.complete, window=16_000)
    assert teller.refused > 0
    assert len(teller.prompts) > 3
    hopeless = Teller(window=10)
    with pytest.raises(ContextOverflow):
        await summarize(planned(user("go")), hopeless.complete, window=16_000)


async def test_a_window_too_small_for_any_summary_says_so() -> None:
    with pytest.raises(ContextOverflow, match="too small"):
        await summarize(planned(user("go")), Teller().complete, window=500)


_texts = st.lists(
    st.text(alphabet=st.sampled_from("ab \n数🙂"), max_size=400), min_size=1, max_size=8
)


@given(_texts, st.integers(4, 60))
def test_steps_fit_and_lose_nothing(parts: Sequence[str], limit: int) -> None:
    steps = packed(parts, limit)
    assert all(tokens(step) <= limit for step in steps)
    assert "".join(steps).replace("\n", "") == "".join(parts).replace("\n", "")
    for part in parts:
        assert "".join(slices(part, limit)) == part


@given(st.text(max_size=2000), st.integers(40, 200))
def test_a_shortened_summary_keeps_its_ends(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert short is not None
    assert tokens(short) <= limit
    assert short[:5] == text[:5]
    assert short[-5:] == text[-5:]


def test_lists_at_the_end_are_taken_off_and_others_stay() -> None:
    body = "a\n<read-files>\nx\n</read-files>\nb"
    lists = "\n\n<read-files>\na<b\n</read-files>\n\n<modified-files>\nm\n</modified-files>"
    assert without_files(body + lists) == body
    assert without_files(body) == body
    assert without_files(lists + lists) == ""
    for open_end in ("<read-files>\nx", "</read-files>", "<read-files>\n</read-files> x"):
        assert without_files(body + open_end) == body + open_end


@pytest.mark.timeout(20)
@pytest.mark.parametrize("long", ["a" + " " * 200_000 + "b", "<read-files>x</read-files>" * 50_000])
def test_no_summary_is_too_odd_to_be_looked_at(long: str) -> None:
    assert without_files(f"{long}.") == f"{long}."


def branch() -> list[Entry]:
    return path(
        user("try plan A"),
        says("reading", call("c1", path="far.py")),
        result("c1", "SECRET"),
        CompactionEntry(
            summary="compacted",
            first_kept_entry_id="e1",
            details={"readFiles": ["c.py"], "modifiedFiles": []},
        ),
        BranchSummaryEntry(
            summary="inner", details={"readFiles": ["b.py"], "modifiedFiles": ["m.py"]}
        ),
        says("it did not work"),
    )


async def test_a_branch_is_told_with_the_files_of_all_of_it() -> None:
    teller = Teller()
    summary = await summarize_branch(branch(), teller.complete, budget=8)
    assert "SECRET" not in teller.prompts[0]
    assert "plan A" not in teller.prompts[0]
    assert "it did not work" in teller.prompts[0]
    assert summary.text.startswith(prompts.BRANCH_PREAMBLE + FULL)
    assert summary.read_files == ("b.py", "c.py", "far.py")
    assert summary.modified_files == ("m.py",)


async def test_instructions_add_a_focus_or_replace_the_form() -> None:
    teller = Teller()
    await summarize_branch(branch(), teller.complete, instructions="errors")
    assert teller.prompts[0].endswith(prompts.FOCUS.format(instructions="errors"))
    plain = Teller(lambda _: "free text")
    summary = await summarize_branch(branch(), plain.complete, instructions="MY OWN", replace=True)
    assert plain.prompts[0].endswith("</conversation>\n\nMY OWN")
    assert len(plain.prompts) == 1
    assert summary.text.startswith(f"{prompts.BRANCH_PREAMBLE}free text")


async def test_an_empty_branch_asks_nobody() -> None:
    teller = Teller()
    summary = await summarize_branch([], teller.complete)
    assert (summary.text, teller.prompts) == (prompts.NOTHING, [])


def test_an_edit_hides_messages_of_a_branch_and_no_summary() -> None:
    edits = [ContextEditEntry(target_id=name) for name in ("e1", "e2", "e3")]
    line = path(user("a"), BranchSummaryEntry(summary=""), says("b"), *edits, user("c"))
    assert prepare_branch(line, None).sources == ("e2", "e7")


def test_a_summary_may_exceed_the_budget_once() -> None:
    long = BranchSummaryEntry(summary="x" * 400)
    assert prepare_branch(path(long, says("a" * 40)), 50).sources == ("e1", "e2")
    assert prepare_branch(path(long, says("a" * 184)), 50).sources == ("e2",)
    assert prepare_branch(path(user("x" * 400), says("a" * 40)), 50).sources == ("e2",)
    assert prepare_branch(path(user("x" * 400)), None).tokens == 100
