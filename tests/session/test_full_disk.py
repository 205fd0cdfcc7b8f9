"""A disk that takes no more: what was said stays where it was, and a person is told."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import anyio
import anyio.to_thread
import pytest
from tests.history.made import encoded, files_no_larger_than, header, user, write
from tests.history.made import said as said_line
from tests.session.stage import Casting, outline, said, stage

from singletree.errors import SessionError, SingletreeError
from singletree.history.entries import MessageEntry
from singletree.history.store import Store
from singletree.messages import AssistantMessage, Text, UserMessage
from singletree.model.keys import write_key
from singletree.model.scripted import ScriptedModel, call, say, wait
from singletree.session.events import (
    EntryAppended,
    MessageEnded,
    SessionEvent,
    TurnEnded,
    Warned,
)
from singletree.session.settings.file import write_value
from singletree.session.tree.conversation import Conversation
from singletree.session.turn.partials import read_partial, write_partial


def ours(tmp_path: Path, name: str) -> Path:
    return tmp_path / "agent" / "singletree" / name


def no_folder(path: Path) -> None:
    shutil.rmtree(path)
    path.write_text("no folder")


def at_once(rename: Callable[[Path], object], to: Path) -> None:
    """Beside the loop, which waits for it."""
    thread = Thread(target=rename, args=(to,))
    thread.start()
    while thread.is_alive():
        pass


async def test_a_waiting_text_leaves_the_queue_only_as_an_entry(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("one"), say("two")])) as on:
        await on.say("first")
        await on.session.turns.steer(said("S" * 500), when_idle="queue")
        file = on.session.history.file
        with files_no_larger_than(file.stat().st_size + 200), pytest.raises(SessionError):
            await on.session.turns.prompt(said("P"))
        assert [dict(i.content[0])["text"] for i in on.session.queue.items] == ["S" * 500]
        await on.say("next")
        assert outline(on.model.requests[1].messages)[-2:] == ["user: " + "S" * 500, "user: next"]


async def test_a_text_that_is_written_but_not_synced_is_accepted_and_told(tmp_path: Path) -> None:
    """Its folder is away while the disk is asked to keep its name."""
    there, away = tmp_path / "agent/sessions", tmp_path / "elsewhere"
    turned: list[SessionEvent] = []

    def hears(event: SessionEvent) -> None:
        match event:
            case EntryAppended(entry=MessageEntry(message=UserMessage())) if not turned:
                turned.append(event)
                at_once(there.rename, away)
            case Warned():
                at_once(away.rename, there)

    model = ScriptedModel([say("one"), say("two")])
    async with stage(tmp_path, model, casting=Casting(hears=hears)) as on:
        first = await on.session.turns.prompt(said("go"), client_message_id="m")
        await on.session.turns.wait()
        assert await on.session.turns.prompt(said("go"), client_message_id="m") == first
        assert [type(e) for e in on.events].count(Warned) == 1
        await on.say("more")
        assert outline(on.model.requests[1].messages) == [
            "user: go",
            "assistant: one",
            "user: more",
        ]


async def test_what_is_taken_out_waits_on_where_that_cannot_be_kept(tmp_path: Path) -> None:
    model = ScriptedModel([wait(30) + say("x")])
    async with stage(tmp_path, model) as on:
        turns = on.session.turns
        await turns.prompt(said("go"))
        await turns.follow_up(said("one"))
        await turns.follow_up(said("two"))
        ids = {item.queue_id for item in on.session.queue.items}
        (file,) = ours(tmp_path, "queues").iterdir()
        with files_no_larger_than(10), pytest.raises(SingletreeError):
            await turns.take_out(lambda: on.session.queue.remove([max(ids)]))
        assert {item.queue_id for item in on.session.queue.items} == ids
        file.unlink()
        file.mkdir()
        with pytest.raises(SingletreeError):
            await turns.abort(queue="return")
        assert {item.queue_id for item in on.session.queue.items} == ids
        file.rmdir()
        assert len((await turns.abort(queue="return")).queue) == 2
        assert on.session.queue.items == ()


async def test_a_text_that_cannot_be_kept_is_not_accepted(tmp_path: Path) -> None:
    model = ScriptedModel([call("bash", command="sleep 0.3"), say("ok"), say("more")])
    async with stage(tmp_path, model) as on:
        await on.session.turns.prompt(said("go"))
        ours(tmp_path, "queues").write_text("no folder")
        with pytest.raises(SessionError, match="could not be written"):
            await on.session.turns.follow_up(said("later"))
        assert on.session.queue.items == ()
        await on.session.turns.wait()
        assert [e.reason for e in on.events if isinstance(e, TurnEnded)] == ["end_turn"]
        ours(tmp_path, "queues").unlink()


async def test_an_answer_that_cannot_be_written_is_an_entry_later(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([wait(0.2) + say("x" * 2000), say("two")])) as on:
        await on.session.turns.prompt(said("go"))
        file = on.session.history.file
        with files_no_larger_than(file.stat().st_size + 100):
            await on.session.turns.wait()
            assert [e.reason for e in on.events if isinstance(e, TurnEnded)] == ["error"]
            entries = {e.entry.id for e in on.events if isinstance(e, EntryAppended)}
            assert {e.id for e in on.events if isinstance(e, MessageEnded)} <= entries
        await on.say("again")
        asked = outline(on.model.requests[1].messages)
        assert asked == ["user: go", "assistant: " + "x" * 2000, "user: again"]


@pytest.mark.parametrize("text", ["short", "x" * 2000])
async def test_an_answer_that_was_never_written_is_there_in_the_next_life(
    tmp_path: Path, text: str
) -> None:
    """Another program has put another file in the place of the session's."""
    async with stage(tmp_path, ScriptedModel([say(text)])) as on:
        await on.session.turns.prompt(said("go"))
        file = on.session.history.file
        copy = file.with_suffix(".copy")
        copy.write_bytes(file.read_bytes())
        copy.replace(file)
        await on.session.turns.wait()
        assert [e.reason for e in on.events if isinstance(e, TurnEnded)] == ["error"]
    async with stage(tmp_path, ScriptedModel([]), session_id=on.session.id) as on:
        last = on.session.history.context_path()[-1]
        assert isinstance(last, MessageEntry) and isinstance(last.message, AssistantMessage)
        assert (last.message.content, last.message.stop_reason) == ([Text(text=text)], "aborted")


@pytest.mark.parametrize("written", [0, 10, 60, 200])
async def test_an_answer_that_was_written_in_part_is_there_in_the_next_life(
    tmp_path: Path, written: int
) -> None:
    """The disk was full behind the beginning of its line; what had streamed is beside it."""
    async with stage(tmp_path, ScriptedModel([say("one")])) as on:
        await on.say("go")
    file, answer = on.session.history.file, on.session.history.path()[-1]
    assert isinstance(answer, MessageEntry) and isinstance(answer.message, AssistantMessage)
    *others, last = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(others) + last[:written])
    partial = ours(tmp_path, "partials") / f"{on.session.id}.json"
    await anyio.to_thread.run_sync(write_partial, partial, answer.id, answer.message)
    async with stage(tmp_path, ScriptedModel([say("two")]), session_id=on.session.id) as on:
        path = on.session.history.context_path()
        assert [type(entry) for entry in path[-2:]] == [MessageEntry, MessageEntry]
        last_said = path[-1]
        assert isinstance(last_said, MessageEntry)
        assert isinstance(last_said.message, AssistantMessage)
        assert last_said.message.content == [Text(text="one")]
        assert last_said.message.stop_reason == "aborted"
        await on.say("again")
    assert not partial.exists()


async def test_a_waiting_text_that_was_written_in_part_can_be_said(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("one")])) as on:
        await on.say("first")
        await on.session.turns.steer(said("S" * 500), when_idle="queue")
        (item,) = on.session.queue.items
    line = encoded(said_line(item.entry_id, on.session.history.leaf, "S" * 500))
    with on.session.history.file.open("ab") as file:
        file.write(line[:200])
    async with stage(tmp_path, ScriptedModel([say("two")]), session_id=on.session.id) as on:
        on.session.queue.update(item.queue_id, paused=False)
        await on.say("next")
        assert outline(on.model.requests[0].messages)[-2:] == ["user: " + "S" * 500, "user: next"]
        assert on.session.queue.items == ()


async def test_a_stream_that_cannot_be_kept_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel([say("half") + wait(1.2) + say(" whole")])
    ours(tmp_path, "").mkdir(parents=True)
    ours(tmp_path, "partials").write_text("no folder")
    async with stage(tmp_path, model) as on:
        await on.say("go")
        assert [e.reason for e in on.events if isinstance(e, TurnEnded)] == ["end_turn"]
        assert len(on.told(Warned)) == 1
        assert ours(tmp_path, "partials").read_text() == "no folder"


def test_what_was_put_off_waits_for_room(tmp_path: Path) -> None:
    history = Store(tmp_path).create("/w")
    warned: list[str] = []
    talk = Conversation(history, lambda event: None, lambda code, text: warned.append(code))
    talk.add(user("first"))
    talk.put_off(user("x" * 500), id="later")
    with files_no_larger_than(history.file.stat().st_size + 100):
        talk.bring_in()
    assert (history.entry_count, warned) == (1, ["session_error"])
    talk.bring_in()
    talk.bring_in()
    assert [entry.id for entry in history.path()][1:] == ["later"]
    history.close()


async def test_what_stands_in_the_place_of_our_files_is_put_aside(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("one")])) as on:
        await on.say("hi")
        session_id = on.session.id
    for name in ("queues", "partials"):
        folder = ours(tmp_path, name) / f"{session_id}.json"
        folder.mkdir(parents=True)
        (folder / "kept").write_text(name)
    async with stage(tmp_path, ScriptedModel([]), session_id=session_id):
        for name in ("queues", "partials"):
            (aside,) = ours(tmp_path, name).glob(f"{session_id}.json.damaged-*")
            assert (aside / "kept").read_text() == name


async def test_a_session_for_reading_only_leaves_what_streamed(tmp_path: Path) -> None:
    write(Store(tmp_path / "agent").folder("/w") / "x_s1.jsonl", [header(version=4)])
    partial = ours(tmp_path, "partials") / "s1.json"
    message = AssistantMessage(content=[Text(text="half")])
    await anyio.to_thread.run_sync(write_partial, partial, "e1", message)
    async with stage(tmp_path, ScriptedModel([]), session_id="s1") as on:
        assert on.session.history.read_only
    assert await anyio.to_thread.run_sync(read_partial, partial) == ("e1", message)


async def test_closing_lets_the_file_go_whatever_fails(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup, match="unhandled"):
        async with stage(tmp_path, ScriptedModel([say("one")])) as on:
            await on.say("hi")
            await on.session.turns.steer(said("S"), when_idle="queue")
            session_id = on.session.id
            await anyio.to_thread.run_sync(no_folder, ours(tmp_path, "queues"))
    history = await anyio.to_thread.run_sync(Store(tmp_path / "agent").open_id, session_id)
    assert not history.read_only
    await anyio.to_thread.run_sync(history.close)


async def test_a_session_that_found_no_room_has_its_lock_later(tmp_path: Path) -> None:
    async with stage(tmp_path, ScriptedModel([say("one")])) as on:
        with files_no_larger_than(0), pytest.raises(SessionError, match="locked"):
            await on.session.turns.prompt(said("first"))
        await on.say("second")
        assert outline(on.model.requests[0].messages) == ["user: second"]


@pytest.mark.parametrize("name", ["settings.json", "auth.json"])
def test_a_setting_or_a_key_that_finds_no_room_is_told(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"a": {"b": "old"}}')
    with files_no_larger_than(5), pytest.raises(SessionError, match=name):
        if name == "auth.json":
            write_key(path, "p", "new")
        else:
            write_value(path, "a.b", "new")
    assert path.read_text() == '{"a": {"b": "old"}}'
    assert [p.name for p in tmp_path.iterdir()] == [name]
