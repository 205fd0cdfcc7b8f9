"""The Agent: plain attributes, two queues, one run at a time, a stop that is quick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest
from tests.agent.hands import Hands
from tests.scenario import read, show

from singletree.agent.agent import Agent
from singletree.agent.config import LoopConfig, Step
from singletree.agent.events import AgentEvent, MessageStarted, ToolStarted
from singletree.errors import SessionBusy, SessionError
from singletree.messages import UserMessage
from singletree.model.scripted import ScriptedModel, Turn, call, fail, say


def agent_of(turns: Sequence[Turn], events: list[AgentEvent] | None = None) -> Agent:
    heard = [] if events is None else events
    return Agent(LoopConfig(ScriptedModel(turns)), heard.append)


def user(text: str) -> UserMessage:
    return UserMessage(content=text)


def requests(agent: Agent) -> list[str]:
    assert isinstance(agent.model, ScriptedModel)
    return [show(request.messages) for request in agent.model.requests]


async def test_a_conversation_grows_prompt_by_prompt() -> None:
    agent = agent_of([say("one"), say("two")])
    await agent.prompt([user("a")])
    ended = await agent.prompt([user("b")])
    assert show(agent.messages) == "user: a\nassistant: one\nuser: b\nassistant: two"
    assert show(ended.messages) == "user: b\nassistant: two"
    assert requests(agent)[1] == "user: a\nassistant: one\nuser: b"
    assert not agent.busy


async def test_a_run_gets_a_copy_of_what_it_starts_from() -> None:
    agent = agent_of([say("one")])
    agent.messages = read("user: before\nassistant: yes")
    before = agent.messages[:]
    agent.system, agent.tools, agent.thinking = "short", [Hands().say()], "high"
    await agent.prompt([user("a")])
    assert isinstance(agent.model, ScriptedModel)
    request = agent.model.requests[0]
    assert (request.system, request.thinking) == ("short", "high")
    assert agent.messages[:2] == before


async def test_attributes_set_during_a_run_count_from_the_next_step() -> None:
    other = ScriptedModel([say("from the other")])
    agent = agent_of([call("switch")])

    def switch() -> None:
        agent.model, agent.thinking, agent.system = other, "low", "changed"
        agent.tools = [Hands().say()]

    agent.tools = [Hands().does("switch", switch)]
    await agent.prompt([user("go")])
    request = other.requests[0]
    assert (request.system, request.thinking, request.tools[0].name) == ("changed", "low", "say")
    assert show(agent.messages).endswith("assistant: from the other")


async def test_a_conversation_replaced_between_steps_is_the_agents_too() -> None:
    async def compact(step: Step) -> Step | None:
        if step.index == 0:
            return None
        return replace(step, messages=tuple(read("summary: the past\nuser: go")))

    agent = Agent(
        LoopConfig(ScriptedModel([call("say", text="x"), say("ok")]), before_step=compact),
        lambda event: None,
    )
    agent.tools = [Hands().say()]
    await agent.prompt([user("go")])
    assert show(agent.messages) == "summary: the past\nuser: go\nassistant: ok"


async def test_a_steer_while_idle_joins_behind_the_next_prompt() -> None:
    agent = agent_of([say("ok")])
    agent.steer(user("S1"))
    await agent.prompt([user("go")])
    assert requests(agent) == ["user: go\nuser: S1"]


async def test_queues_are_emptied_in_their_modes() -> None:
    agent = agent_of([say("1"), say("2"), say("3")])
    agent.follow_up_mode = "all"
    for text in ("S1", "S2"):
        agent.steer(user(text))
    for text in ("F1", "F2"):
        agent.follow_up(user(text))
    await agent.prompt([user("go")])
    assert show(agent.messages) == (
        "user: go\nuser: S1\nassistant: 1\nuser: S2\nassistant: 2\nuser: F1\nuser: F2\nassistant: 3"
    )


async def test_a_queued_text_keeps_the_id_of_its_entry() -> None:
    events: list[AgentEvent] = []
    agent = agent_of([say("1"), say("2")], events)
    agent.follow_up(user("F1"), "e9")
    await agent.prompt([("e1", user("go"))])
    ids = [e.id for e in events if isinstance(e, MessageStarted)]
    assert (ids[0], ids[2]) == ("e1", "e9")


async def test_only_one_run_at_a_time() -> None:
    agent = agent_of([call("say", text="x", after=0.05), say("ok")])
    agent.tools = [Hands().say()]
    async with anyio.create_task_group() as group:
        group.start_soon(agent.prompt, [user("go")])
        await anyio.sleep(0.01)
        assert agent.busy
        with pytest.raises(SessionBusy):
            await agent.prompt([user("too soon")])
        with pytest.raises(SessionBusy):
            await agent.resume()
        await agent.wait_idle()
    assert "too soon" not in show(agent.messages)


async def test_a_failed_answer_is_asked_again() -> None:
    agent = agent_of([fail("gone"), say("ok")])
    ended = await agent.prompt([user("go")])
    assert ended.reason == "error"
    agent.messages = agent.messages[:1]
    await agent.resume()
    assert requests(agent) == ["user: go", "user: go"]
    assert show(agent.messages) == "user: go\nassistant: ok"


@pytest.mark.parametrize(
    "story", ["", "user: a\nassistant: b", "user: a\nassistant: b\nassistant [error: x]:"]
)
async def test_a_complete_answer_leaves_nothing_to_resume(story: str) -> None:
    agent = agent_of([say("ok")])
    agent.messages = read(story)
    with pytest.raises(SessionError, match="nothing to go on with"):
        await agent.resume()
    agent.follow_up(user("F1"))
    await agent.resume()
    assert show(agent.messages).endswith("user: F1\nassistant: ok")


@pytest.mark.parametrize(
    "story",
    [
        "user: a",
        "user: a\nassistant [error: x]:",
        "user: a\ncall say {}\nresult say: x",
        "summary: the past",
        "user: a\nassistant: b\ncustom note: look",
    ],
)
async def test_an_open_question_is_resumed(story: str) -> None:
    agent = agent_of([say("ok")])
    agent.messages = read(story)
    await agent.resume()
    assert show(agent.messages) == f"{story}\nassistant: ok"


async def test_an_abort_ends_the_run_and_keeps_the_queues() -> None:
    agent = agent_of([call("stream"), say("never")])
    agent.tools = [Hands().stream()]
    ended = []

    async def run() -> None:
        ended.append(await agent.prompt([user("go")]))

    with anyio.fail_after(1):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await anyio.sleep(0.01)
            agent.steer(user("S1"))
            agent.follow_up(user("F1"))
            assert await agent.abort()
    assert ended[0].reason == "aborted"
    assert len(requests(agent)) == 1
    assert [len(agent.steering), len(agent.follow_ups)] == [1, 1]
    await agent.prompt([user("next")])
    sent = requests(agent)[1].splitlines()
    assert sent[-2:] == ["user: next", "user: S1"]


async def test_an_abort_without_a_run_is_done_at_once() -> None:
    assert await agent_of([]).abort()


async def test_an_abort_tells_when_something_does_not_let_go() -> None:
    async def stubborn(step: Step) -> Step | None:
        with anyio.CancelScope(shield=True):
            await release.wait()
        return None

    release = anyio.Event()
    agent = Agent(LoopConfig(ScriptedModel([]), before_step=stubborn), lambda event: None)
    async with anyio.create_task_group() as group:
        group.start_soon(agent.prompt, [user("go")])
        await anyio.sleep(0.01)
        assert not await agent.abort(within=0.05)
        assert agent.busy
        release.set()
        await agent.wait_idle()
    assert requests(agent) == []


async def test_the_cancellation_of_the_caller_goes_on_upwards() -> None:
    events: list[AgentEvent] = []
    agent = agent_of([call("stream")], events)
    agent.tools = [Hands().stream()]
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(agent.prompt, [user("go")])
            await anyio.sleep(0.02)
            assert any(isinstance(e, ToolStarted) for e in events)
            scope.cancel()
    assert scope.cancelled_caught
    assert not agent.busy
    assert "Interrupted" in show(agent.messages)
