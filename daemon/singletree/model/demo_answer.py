"""What the demo model says: of itself, and of what its tools gave.

Text for people, in constants that are tested. Never calls a tool. Read next: demo.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from singletree.messages import ToolCall, ToolResultMessage, text_of

WHO = (
    "I am the demo model: a small set of rules inside this program, with no key and no network. "
    "I am here so that you can see the rest work: real tools on your real files, the session tree, "
    "permissions, compaction."
)
ABLE = """\
Things I understand:

- read README.md · show me the first 20 lines of src/main.py
- list src · what files are here?
- find TODO in src · where is parse_args defined? · find *.py
- run git status
- in notes.txt change "old words" to "new words"
- create notes.txt with hello

Names with spaces go in quotes, and "then" joins steps: list src, then read src/main.py."""
REAL = (
    "For real answers, set a key (for example ANTHROPIC_API_KEY or OPENAI_API_KEY) or start a "
    "local server (Ollama, llama.cpp, LM Studio), and choose its model. `singletree doctor` tells "
    "what can be used here, and what is missing."
)
HELLO = "Hello! " + WHO + "\n\n" + ABLE + "\n\n" + REAL
HELP = WHO + "\n\n" + ABLE + "\n\n" + REAL
LOST = "That is beyond me: I only know some plain requests.\n\n" + ABLE + "\n\n" + REAL
THANKS = "You are welcome. What shall I do next?"
NO_DELETE = (
    "I have no tool of my own for that. If you mean it, say it as a command, for example: run rm "
)
NO_TOOL = "I would need the tool `{tool}` for that, and it is not switched on in this session."

SHOWN_LINES = 12
SHOWN_ITEMS = 20
_WIDTH = 160


def small_talk(text: str) -> str:
    """The answer where nothing was asked of a tool."""
    said = text.strip().casefold()
    if not said or re.match(r"(hi|hello|hey|hallo|good (morning|day|evening)|yo|moin)\b", said):
        return HELLO
    if re.match(r"(thanks|thank you|thx|danke|great|nice|cool|perfect)\b", said):
        return THANKS
    gone = re.match(r"(?:please )?(?:delete|remove|erase)\s+(?:the )?(?:file )?(.+)", said)
    if gone:
        return NO_DELETE + text.strip()[-len(gone[1]) :]
    if re.search(r"\bhelp\b|^\?|what can you|who are you|what are you|how do (i|you)", said):
        return HELP
    return LOST


def report(done: Sequence[tuple[ToolCall, ToolResultMessage]]) -> str:
    """What was found or done, in the order it was asked for."""
    return "\n\n".join(_tell(call, result) for call, result in done)


def _tell(call: ToolCall, result: ToolResultMessage) -> str:
    text = text_of(result.content).strip("\n")
    if call.name == "bash":
        return _ran(call, text, result.is_error)
    if result.is_error:
        return f"`{call.name}` did not work: {_first_line(text) or 'it gave no reason.'}"
    match call.name:
        case "read":
            return _was_read(call, text)
        case "ls":
            return _listed(call, text)
        case "grep" | "find":
            return _found(call, text)
        case "edit" | "write":
            word = "Changed" if call.name == "edit" else "Wrote"
            return f"{word} {_path(call)}. It can be undone."
        case _:
            return f"`{call.name}` answered:\n\n{_fenced(text)}"


def _was_read(call: ToolCall, text: str) -> str:
    lines = text.split("\n")
    if not text.strip():
        return f"{_path(call)} is empty."
    heads = [line.lstrip("# ").strip() for line in lines if re.match(r"#{1,3} \S", line)]
    parts = [f"{_path(call)}: {_count(len(lines), 'line')} read."]
    if heads and re.search(r"\.(md|markdown|rst)$", str(call.arguments.get("path", "")), re.I):
        parts.append("Its headings: " + ", ".join(heads[:SHOWN_ITEMS]) + ".")
    names = re.findall(r"^(?:async )?(?:def|class|function|fn|func)\s+(\w+)", text, re.MULTILINE)
    if names:
        parts.append("It defines " + ", ".join(f"`{n}`" for n in names[:SHOWN_ITEMS]) + ".")
    lead = "It begins:" if len(lines) > SHOWN_LINES else "It says:"
    return " ".join(parts) + f" {lead}\n\n" + _fenced(text)


def _listed(call: ToolCall, text: str) -> str:
    where = _path(call) if call.arguments.get("path") else "This folder"
    names = [line for line in text.split("\n") if line.strip() and not line.startswith("[")]
    if not names or text.startswith("("):
        return f"{where} is empty."
    folders = [n for n in names if n.endswith("/")]
    head = f"{where} has {_count(len(names), 'entry', 'entries')}"
    if folders:
        head += f", {_count(len(folders), 'folder')} among them"
    more = f"\n- … and {len(names) - SHOWN_ITEMS} more" if len(names) > SHOWN_ITEMS else ""
    return head + ":\n\n" + "\n".join(f"- {n}" for n in names[:SHOWN_ITEMS]) + more


def _found(call: ToolCall, text: str) -> str:
    pattern = f"`{call.arguments.get('pattern', '')}`"
    where = f" in {_path(call)}" if call.arguments.get("path") else ""
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("[")]
    if not lines or re.match(r"\(?(no|nothing|no line) (matches|files)", text, re.IGNORECASE):
        return f"Nothing matches {pattern}{where}."
    if call.name == "find":
        return f"{_count(len(lines), 'file')} match {pattern}{where}:\n\n" + _fenced(text)
    hits = [line for line in lines if re.match(r".*?:\d+:", line)] or lines
    return f"{pattern} stands in {_count(len(hits), 'line')}{where}:\n\n" + _fenced(text)


def _ran(call: ToolCall, text: str, failed: bool) -> str:
    command = _first_line(str(call.arguments.get("command", "")))
    head = f"`{command}` failed" if failed else f"`{command}` ran"
    if not text.strip() or text.startswith("("):
        return f"{head} and printed nothing."
    lines = text.split("\n")
    if len(lines) <= SHOWN_LINES:
        return f"{head}:\n\n{_fenced(text)}"
    tail = "\n".join(lines[-SHOWN_LINES:])
    return f"{head}; the last {SHOWN_LINES} of {len(lines)} lines:\n\n{_fenced(tail)}"


def _path(call: ToolCall) -> str:
    return f"`{call.arguments.get('path', '.')}`"


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:_WIDTH]


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _fenced(text: str) -> str:
    """The first lines in a code block that its own text cannot close."""
    lines = text.split("\n")
    shown = [line if len(line) <= _WIDTH else line[:_WIDTH] + "…" for line in lines[:SHOWN_LINES]]
    if len(lines) > SHOWN_LINES:
        shown.append(f"… ({len(lines) - SHOWN_LINES} more lines)")
    body = "\n".join(shown)
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{body}\n{fence}"
