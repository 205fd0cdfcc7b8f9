"""A language server for a test, which asks three questions at once and talks on meanwhile.

`python talking.py SIZE`: what it says goes out in pieces of SIZE bytes, without regard for where a
message ends. The first question is taken back at the end of the talk; when all have their answers
it says which. It imports nothing of ours. Read next: test_emacs.py.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

WORDS = [f"{number}: ä€𝄞. " for number in range(60)]
END = "The end."
CHOICES = ("No", "Yes")
CAPABILITIES = {"textDocumentSync": 1, "executeCommandProvider": {"commands": ["agent.prompt"]}}


def permission(number: int, title: str) -> dict[str, Any]:
    options = [{"id": label.lower(), "label": label} for label in CHOICES]
    params = {"requestId": f"p-{number}", "title": title, "reason": "A test.", "options": options}
    return {"id": f"d{number}", "method": "agent/permission/request", "params": params}


def delta(text: str) -> dict[str, Any]:
    return {"method": "agent/delta", "params": {"kind": "text", "text": text}}


def talk() -> Iterator[dict[str, Any]]:
    """The questions, and all that is said while they are open."""
    yield permission(1, "Taken back")
    yield permission(2, "Kept")
    actions = [{"title": title} for title in CHOICES]
    dialog = {"type": 3, "message": "Choose", "actions": actions}
    yield {"id": "d3", "method": "window/showMessageRequest", "params": dialog}
    yield from map(delta, WORDS)
    yield delta(END)
    yield {"method": "agent/request/resolved", "params": {"requestId": "p-1", "by": "abort"}}


def ended(answers: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield delta(json.dumps(answers))
    event = {"type": "turn_ended", "reason": "end_turn"}
    yield {"method": "agent/event", "params": {"event": event}}


def read() -> dict[str, Any]:
    """The next message of the client."""
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length)) if length else {"method": "exit"}


def write(size: int, *messages: dict[str, Any]) -> None:
    """Say them all, in pieces."""
    out = b""
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
        out += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    for at in range(0, len(out), size):
        sys.stdout.buffer.write(out[at : at + size])
        sys.stdout.buffer.flush()
        time.sleep(0.0001)


def main(size: int) -> None:
    """Serve one client."""
    answers: dict[str, Any] = {}
    while (message := read()).get("method") != "exit":
        match message:
            case {"method": "initialize", "id": number}:
                write(size, {"id": number, "result": {"capabilities": CAPABILITIES}})
            case {"method": "workspace/executeCommand", "id": number}:
                write(size, {"id": number, "result": None}, *talk())
            case {"method": _, "id": number}:
                write(size, {"id": number, "result": None})
            case {"id": str() as asked, "result": result}:
                answers[asked] = result
                if len(answers) == 3:
                    write(size, *ended(answers))


if __name__ == "__main__":
    main(int(sys.argv[1]))
