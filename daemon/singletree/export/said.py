"""One entry -> HTML: what was said, called, answered, summed up.

Everything is escaped; pictures are put in as they are stored. A call is shown with its answer, and
both can be folded. Never knows where in the page it stands. Read next: page.py, marked.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from urllib.parse import quote

from pydantic import JsonValue

from singletree.excerpt import excerpt
from singletree.export.marked import code, html_of
from singletree.history.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
)
from singletree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    Block,
    CustomMessage,
    Image,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)

_PICTURE = re.compile(r"image/(png|jpeg|gif|webp|bmp)").fullmatch
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*").fullmatch
_LONG = 100
ENDS = {
    "aborted": "Stopped.",
    "error": "Failed: {why}",
    "length": "Cut off: the answer was longer than the model may write.",
}

Results = Mapping[str, tuple[str, ToolResultMessage]]
"""Call id -> the entry that answers it, and its message."""


def shown(entry: Entry, results: Results) -> str:
    """The inside of an entry's article; empty for what has nothing to show."""
    match entry:
        case MessageEntry(message=message):
            return _message(message, results)
        case CustomMessageEntry(display=True):
            return _content(entry.content)
        case CompactionEntry():
            about = f"Compacted at {entry.tokens_before:,} tokens. What came before became:"
            return f'<p class="note">{about}</p>{html_of(entry.summary)}'
        case BranchSummaryEntry():
            about = "Another branch was left. What was done there:"
            return f'<p class="note">{about}</p>{html_of(entry.summary)}'
        case ModelChangeEntry():
            return _note(f"Model: {entry.provider}/{entry.model_id}")
        case ThinkingLevelChangeEntry():
            return _note(f"Thinking: {entry.thinking_level}")
        case SessionInfoEntry(name=str() as name) if name:
            return _note(f"Named: {name}")
        case ContextEditEntry():
            return _edit(entry)
        case _:
            return ""


def speaker(entry: Entry) -> tuple[str, str]:
    """Who speaks, as a class for the style and as words."""
    match entry:
        case MessageEntry(message=UserMessage()):
            return "user", "You"
        case MessageEntry(message=AssistantMessage(model=model)):
            return "assistant", model or "Assistant"
        case MessageEntry(message=ToolResultMessage(tool_name=name)):
            return "result", f"Answer of {name}"
        case MessageEntry(message=BashExecutionMessage()):
            return "user", "You ran"
        case MessageEntry(message=SystemMessage()):
            return "quiet", "System prompt"
        case MessageEntry(message=CustomMessage(custom_type=kind)):
            return "custom", kind
        case CustomMessageEntry(custom_type=kind):
            return "custom", kind
        case CompactionEntry():
            return "summary", "Compaction"
        case BranchSummaryEntry():
            return "summary", "Branch summary"
        case _:
            return "quiet", ""


def anchor(entry_id: str) -> str:
    """The attribute that makes an element the one an entry's links lead to."""
    return f'id="e-{escape(entry_id)}"'


def link(entry_id: str, text: str) -> str:
    """A link to an entry."""
    return f'<a href="#e-{quote(entry_id)}">{escape(text)}</a>'


def _message(message: object, results: Results) -> str:
    match message:
        case UserMessage(content=content) | CustomMessage(content=content):
            return _content(content)
        case AssistantMessage():
            return "".join(_answer(message, results))
        case ToolResultMessage():
            return _output(message)
        case BashExecutionMessage():
            label = "excluded from the context" if message.exclude_from_context else ""
            failed = bool(message.exit_code) or message.cancelled
            return _fold("tool", message.command, code(message.output), failed, label)
        case SystemMessage():
            sections = [text for text in (message.sections or {}).values() if text]
            text = "\n\n".join([text_of(message.content), *sections]).strip()
            return _fold("system", "System prompt as pi stored it", code(text)) if text else ""
        case _:
            return ""


def _answer(message: AssistantMessage, results: Results) -> Iterator[str]:
    for block in message.content:
        match block:
            case Thinking(thinking=text) if text.strip():
                yield _fold("thinking", "Thinking", html_of(text))
            case ToolCall():
                yield _call(block, results)
            case Text() | Image():
                yield _content([block])
    if message.stop_reason in ENDS:
        why = message.error_message or "no reason was given"
        yield f'<p class="failed">{escape(ENDS[message.stop_reason].format(why=why))}</p>'


def _call(call: ToolCall, results: Results) -> str:
    about = next((v for v in call.arguments.values() if isinstance(v, str) and v.strip()), "")
    title = f"{call.name}  {excerpt(about, _LONG)}"
    rest = {k: v for k, v in call.arguments.items() if v is not about or len(about) > _LONG}
    inside = _arguments(rest)
    if call.id not in results:
        return _fold("tool", title, inside + '<p class="note">No answer.</p>')
    entry_id, result = results[call.id]
    return _fold("tool", title, inside + _output(result), result.is_error, entry_id=entry_id)


def _arguments(given: Mapping[str, JsonValue]) -> str:
    rows: list[str] = []
    for name, value in given.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        rows.append(f"<dt>{escape(name)}</dt><dd>{code(text)}</dd>")
    return f"<dl>{''.join(rows)}</dl>" if rows else ""


def _output(result: ToolResultMessage) -> str:
    details = result.details if isinstance(result.details, dict) else {}
    diff = details.get("diff")
    if isinstance(diff, str) and diff:
        return _diff(diff)
    return _plain(result.content)


def _diff(diff: str) -> str:
    rows: list[str] = []
    for line in diff.splitlines():
        tag = {"+": "ins", "-": "del"}.get(line[:1], "span")
        rows.append(f"<{tag}>{escape(line)}</{tag}>")
    return '<pre class="diff"><code>' + "".join(rows) + "</code></pre>"


def _content(content: str | Sequence[Block]) -> str:
    if isinstance(content, str):
        return html_of(content)
    parts = [html_of(b.text) if isinstance(b, Text) else _picture(b) for b in content]
    return "".join(parts)


def _plain(content: str | Sequence[Block]) -> str:
    """Output of a program: as it is, not as Markdown."""
    if isinstance(content, str):
        return code(content)
    return "".join(code(b.text) if isinstance(b, Text) else _picture(b) for b in content)


def _picture(block: Block) -> str:
    if not isinstance(block, Image):
        return ""
    if not _PICTURE(block.mime_type) or not _BASE64(block.data):
        return _note(f"A picture that cannot be shown ({block.mime_type}).")
    return f'<img alt="" src="data:{block.mime_type};base64,{block.data}">'


def _edit(entry: ContextEditEntry) -> str:
    what = "Hidden from the model" if entry.replacement is None else "Altered for the model"
    return f'<p class="note">{what}: {link(entry.target_id, "an earlier message")}.</p>'


def _fold(
    kind: str,
    title: str,
    inside: str,
    failed: bool = False,
    label: str = "",
    entry_id: str | None = None,
) -> str:
    mark = ' <span class="failed">failed</span>' if failed else ""
    more = f' <span class="note">{escape(label)}</span>' if label else ""
    summary = f"<summary>{escape(title)}{mark}{more}</summary>"
    named = "" if entry_id is None else f" {anchor(entry_id)}"
    return f'<details class="{kind}"{named}>{summary}<div>{inside}</div></details>'


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'
