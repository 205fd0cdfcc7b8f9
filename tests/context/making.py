"""Short words for making paths and messages, any tree, and the provider that refuses."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from singletree.history.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    CustomEntry,
    CustomMessageEntry,
    Entry,
    EntryBase,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    ThinkingLevelChangeEntry,
    UnknownEntry,
)
from singletree.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    Block,
    CustomMessage,
    Image,
    Message,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UnknownBlock,
    UnknownMessage,
    Usage,
    UserMessage,
)


def user(text: str = "hello") -> UserMessage:
    return UserMessage(content=text, timestamp=1)


def says(
    *parts: str | Block, stop: str = "stop", used: int = 0, error: str | None = None
) -> AssistantMessage:
    """An answer; a plain string is text."""
    content = [Text(text=p) if isinstance(p, str) else p for p in parts]
    return AssistantMessage(
        content=content,
        provider="p",
        model="m",
        stop_reason=stop,
        usage=Usage(input=used, total_tokens=used),
        error_message=error,
        timestamp=2,
    )


def call(key: str, name: str = "read", **arguments: str) -> ToolCall:
    return ToolCall(id=key, name=name, arguments=dict(arguments))


def result(key: str, text: str = "out", *, error: bool = False) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=key,
        tool_name="read",
        content=[Text(text=text)],
        is_error=error,
        timestamp=3,
    )


def path(*items: AgentMessage | Entry) -> list[Entry]:
    """Entries in one line: `e1`, `e2` …; an entry with an id keeps it."""
    entries: list[Entry] = []
    parent: str | None = None
    for number, item in enumerate(items, 1):
        entry: Entry
        if isinstance(item, EntryBase):
            entry = item.model_copy(
                update={
                    "id": item.id or f"e{number}",
                    "parent_id": parent,
                    "timestamp": item.timestamp or "2026-01-05T08:00:00.000Z",
                }
            )
        else:
            entry = MessageEntry(
                id=f"e{number}",
                parent_id=parent,
                timestamp="2026-01-05T08:00:00.000Z",
                message=item,
            )
        entries.append(entry)
        parent = entry.id
    return entries


def refuse(messages: Sequence[Message]) -> None:
    """A provider at its strictest: AssertionError where it would answer 400."""
    waiting: list[str] = []
    seen: set[str] = set()
    if messages:
        assert isinstance(messages[0], UserMessage), "the first word is not the user's"
    for message in messages:
        if isinstance(message, ToolResultMessage):
            assert waiting, "a result without its call"
            assert message.tool_call_id == waiting.pop(0), "a result out of its place"
        else:
            assert not waiting, "a call without its result"
        assert message.content, "an empty message"
        if isinstance(message.content, str):
            assert message.content.strip(), "blank text"
        else:
            for block in message.content:
                assert not isinstance(block, UnknownBlock), "an unknown block"
                assert not isinstance(block, Text) or block.text.strip(), "blank text"
        if isinstance(message, AssistantMessage):
            assert message.stop_reason not in ("error", "aborted"), "a failed answer"
            for asked in message.tool_calls:
                assert asked.id, "a call without an id"
                assert asked.id not in seen, "an id twice"
                seen.add(asked.id)
                waiting.append(asked.id)
    assert not waiting, "a call without its result at the end"


_keys = st.sampled_from(["c1", "c2", "c3", ""])
_texts = st.sampled_from(["", " ", "hi", "a longer text " * 9, "</summary>", "数据 🙂"])
_blocks = st.one_of(
    st.builds(lambda t: Text(text=t), _texts),
    st.builds(lambda t: Thinking(thinking=t), _texts),
    st.builds(lambda k: call(k, path="a.py"), _keys),
    st.just(Image(data="aGVsbG8=", mime_type="image/png")),
    st.just(UnknownBlock(type="later")),
)
_used = st.sampled_from([0, 0, 7, 100, 5000])
agent_messages = st.one_of(
    st.builds(user, _texts),
    st.builds(
        lambda parts, stop, used: says(*parts, stop=stop, used=used),
        st.lists(_blocks, max_size=4),
        st.sampled_from(["stop", "stop", "toolUse", "length", "error", "aborted"]),
        _used,
    ),
    st.builds(result, _keys, _texts),
    st.builds(result, _keys, _texts),
    st.builds(lambda t: BashExecutionMessage(command="ls", output=t, timestamp=4), _texts),
    st.builds(lambda t: CustomMessage(custom_type="note", content=t, timestamp=4), _texts),
    st.just(SystemMessage(content="you are", timestamp=4)),
    st.just(UnknownMessage(role="later", timestamp=4)),
)
_ids = st.integers(1, 20).map(lambda n: f"e{n}")
entries = st.one_of(
    agent_messages.map(lambda m: MessageEntry(message=m)),
    agent_messages.map(lambda m: MessageEntry(message=m)),
    agent_messages.map(lambda m: MessageEntry(message=m)),
    st.builds(
        lambda first, text: CompactionEntry(summary=text, first_kept_entry_id=first), _ids, _texts
    ),
    st.builds(lambda text: BranchSummaryEntry(summary=text), _texts),
    st.builds(
        lambda target, new: ContextEditEntry(target_id=target, replacement=new),
        _ids,
        st.sampled_from([None, {"content": "new"}, {"content": 5}, 7]),
    ),
    st.just(CustomEntry(custom_type="state")),
    st.builds(lambda t: CustomMessageEntry(custom_type="n", content=t), _texts),
    st.just(LabelEntry(target_id="e1", label="x")),
    st.just(ModelChangeEntry(provider="q", model_id="n")),
    st.just(ThinkingLevelChangeEntry(thinking_level="high")),
    st.just(UnknownEntry(type="later")),
)
paths = st.lists(entries, max_size=20).map(lambda items: path(*items))
long_paths = st.lists(entries, min_size=6, max_size=16).map(
    lambda items: path(user(), *items, user())
)
