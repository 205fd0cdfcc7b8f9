"""A session with something of everything: calls, pictures, branches, labels, summaries, malice."""

from __future__ import annotations

from pathlib import Path

from tests.history.made import ANSWER, Line, entry, header, said, write

from singletree.history.record import History
from singletree.history.store import Store

EVIL = "<script>alert('owned')</script><img src=x onerror=alert(1)>"
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
    "rkJggg=="
)
DIFF = "  1 def add(a, b):\n- 2     return a - b\n+ 2     return a + b"
HELLO = """There are **two** ways:

1. Change `add` in [the docs](https://example.org/add), *quickly*
2. Leave it
   - or not

```python
def add(a, b):
    return a + b  # <b>
```

> quoted"""


def call(id_: str, parent: str, tool: str, arguments: Line, text: str = "") -> Line:
    line = said(id_, parent, text, "assistant", **ANSWER, stopReason="toolUse")
    block = {"type": "toolCall", "id": f"call-{id_}", "name": tool, "arguments": arguments}
    line["message"]["content"].append(block)
    return line


def result(id_: str, parent: str, of: str, tool: str, text: str, **more: object) -> Line:
    fields = {"toolCallId": f"call-{of}", "toolName": tool, "isError": False, **more}
    return said(id_, parent, text, "toolResult", **fields)


def answer(id_: str, parent: str, text: str, **more: object) -> Line:
    return said(id_, parent, text, "assistant", **{**ANSWER, "stopReason": "stop", **more})


def lines() -> list[Line]:
    thinking = answer("a1", "u1", HELLO)
    thinking["message"]["content"].insert(0, {"type": "thinking", "thinking": "hm, `add`"})
    picture = said("u4", "a3", "look at this")
    block = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    picture["message"]["content"].append(block)
    return [
        header(cwd="/home/me/project"),
        entry("m1", None, "model_change", provider="p", modelId="m"),
        entry("t1", "m1", "thinking_level_change", thinkingLevel="high"),
        said("u1", "t1", f"Fix add() {EVIL}"),
        thinking,
        said("u2", "a1", "first the other way"),
        call("b1", "u2", "bash", {"command": "make test && echo '<b>'"}, "I run it."),
        result("r1", "b1", "b1", "bash", f"FAILED {EVIL}\n  2 errors", isError=True),
        answer("a2", "r1", "It fails.", stopReason="error", errorMessage="overloaded"),
        said("u3", "a1", "do it"),
        call("e1", "u3", "edit", {"path": "add.py", "edits": [{"oldText": "-", "newText": "+"}]}),
        result("r2", "e1", "e1", "edit", "1 block", details={"diff": DIFF}),
        answer("a3", "r2", "Done."),
        entry("s1", "a1", "branch_summary", fromId="a3", summary="## Goal\nadd was fixed"),
        said("u5", "s1", "and the tests?"),
        answer("a4", "u5", "They pass."),
        entry("l1", "a4", "label", targetId="u1", label="begin <here>"),
        picture,
        entry("c1", "u4", "compaction", summary="All was *good*.", firstKeptEntryId="u4",
              tokensBefore=12345),
        entry("n1", "c1", "session_info", name="Fix <add>"),
        answer("a5", "n1", "A red dot."),
        entry("l2", "a5", "label", targetId="a5", label="end"),
    ]  # fmt: skip


def sample(root: Path) -> History:
    """The session, open for reading."""
    path = write(root / "sessions" / "sample.jsonl", lines())
    return Store(root / "agent", path.parent).open(path, read_only=True)
