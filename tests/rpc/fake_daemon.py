"""A daemon for clients to be tested against: the real wire, no agent behind it.

What happens after a prompt is decided by its first word. Everything read and written goes, one JSON
object a line, into the file named by FAKE_LOG, so that a test can hold both sides to the contract.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Message = dict[str, Any]
SESSION = "0199d2c4-7a51-7d0e-8a8e-0c2f5f1f7a11"
USAGE = {
    "input": 1200,
    "output": 34,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 1234,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.5},
}
ROWS = [
    ("a1b2c3d4", "user", 0, False, "start", "Hello there"),
    ("b2c3d4e5", "assistant", 0, True, None, "Hi \x1b[31mred"),
    ("c3d4e5f6", "user", 1, False, None, "Another way"),
]


class Fake:
    def __init__(self) -> None:
        self.log = Path(os.environ["FAKE_LOG"])
        self.seq = 0
        self.turn = 0
        self.session = SESSION
        self.waiting: Callable[[Message], None] | None = None
        self.queue: list[Message] = []

    # -- the wire ------------------------------------------------------------

    def messages(self) -> None:
        self.note("started", sys.argv[1:])
        stream = sys.stdin.buffer
        while head := stream.readline():
            length = int(head.split(b":")[1])
            stream.readline()
            message = json.loads(stream.read(length))
            self.note("in", message)
            if self.receive(message):
                return

    def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.note("out", {"jsonrpc": "2.0", **message})
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        sys.stdout.buffer.flush()

    def note(self, way: str, message: Any) -> None:
        with self.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps({way: message}) + "\n")

    def event(self, type: str, **fields: Any) -> None:
        self.seq += 1
        params = {
            "sessionId": self.session,
            "epoch": "e",
            "seq": self.seq,
            "ts": 1,
            "event": {"type": type, **fields},
        }
        self.send(method="agent/event", params=params)

    def delta(self, words: str, start: int, kind: str = "text", part: int = 0) -> None:
        params = {
            "sessionId": self.session,
            "after": self.seq,
            "itemId": f"m{self.turn}",
            "kind": kind,
            "part": part,
            "from": start,
            "to": start + 1,
            "text": words,
        }
        self.send(method="agent/delta", params=params)

    # -- requests ------------------------------------------------------------

    def receive(self, message: Message) -> bool:
        method = message.get("method")
        if method == "exit":
            return True
        if method is None:
            assert self.waiting
            self.waiting(message)
        elif "id" in message:
            name = str(method).replace("agent/", "").replace("/", "_")
            answer = getattr(self, f"on_{name}", None)
            if answer is None:
                self.refuse(message, -32601, f"no {method}", {})
            else:
                answer(message, message.get("params", {}))
        return False

    def answer(self, message: Message, result: Any) -> None:
        self.send(id=message["id"], result=result)

    def refuse(self, message: Message, number: int, words: str, data: Message) -> None:
        self.send(id=message["id"], error={"code": number, "message": words, "data": data})

    def on_initialize(self, message: Message, params: Message) -> None:
        info = {"name": "fake", "version": "9.9"}
        self.answer(message, {"capabilities": {}, "serverInfo": info})

    def on_shutdown(self, message: Message, params: Message) -> None:
        self.answer(message, None)

    def state(self) -> Message:
        return {
            "sessionId": self.session,
            "cwd": "/w",
            "path": None,
            "name": None,
            "phase": "idle",
            "turnId": None,
            "model": "fake/model",
            "images": False,
            "thinking": "off",
            "tools": ["read"],
            "mode": "ask",
            "queue": {"items": self.queue, "version": 0},
            "leafId": "b2c3d4e5",
            "treeVersion": 1,
            "contextUsage": {"tokens": 100, "window": 1000, "percent": 10.0},
            "counts": {"entries": 3, "messages": 2},
            "pending": [],
            "trusted": False,
            "skipped": [{"kind": "settings", "path": ".pi/settings.json"}],
            "readOnly": False,
            "warnings": [{"code": "damaged", "message": "A line was damaged."}],
        }

    def attached(self, message: Message) -> None:
        entry = {
            "type": "message",
            "id": "a1b2c3d4",
            "parentId": None,
            "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {"role": "user", "content": "Hello there", "timestamp": 1},
        }
        self.answer(
            message,
            {
                "sessionId": self.session,
                "mode": "snapshot",
                "state": self.state(),
                "history": {"entries": [entry], "leafId": "a1b2c3d4", "prevCursor": None},
                "inFlight": [],
                "tools": [],
                "pending": [],
                "cursor": {"epoch": "e", "seq": self.seq},
            },
        )

    def on_session_open(self, message: Message, params: Message) -> None:
        self.attached(message)

    def on_session_new(self, message: Message, params: Message) -> None:
        self.session = "1" + SESSION[1:]
        self.attached(message)

    def on_session_switch(self, message: Message, params: Message) -> None:
        self.session = params["sessionId"]
        self.attached(message)

    def on_session_state(self, message: Message, params: Message) -> None:
        self.answer(message, self.state())

    def on_session_list(self, message: Message, params: Message) -> None:
        row = {
            "sessionId": SESSION,
            "path": "/s.jsonl",
            "cwd": "/w",
            "name": "my talk",
            "preview": "Hello there",
            "createdAt": "2026-01-01T00:00:00.000Z",
            "updatedAt": "2026-01-02T03:04:05.000Z",
            "live": True,
        }
        self.answer(message, {"sessions": [row], "next": None})

    def on_session_rename(self, message: Message, params: Message) -> None:
        self.answer(message, {"name": params["name"] or None})

    def on_session_fork(self, message: Message, params: Message) -> None:
        result = {"sessionId": "2" + SESSION[1:], "editorText": "Hello there", "path": None}
        self.answer(message, result)

    def on_tree_get(self, message: Message, params: Message) -> None:
        rows = [
            {
                "entryId": entry,
                "type": "message",
                "role": role,
                "timestamp": "2026-01-01T00:00:00.000Z",
                "depth": depth,
                "parentId": None,
                "onPath": depth == 0,
                "isLeaf": leaf,
                "label": label,
                "preview": preview,
                "childCount": 1,
            }
            for entry, role, depth, leaf, label, preview in ROWS
        ]
        rows = [row for row in rows if str(params.get("search", "")) in str(row["preview"])]
        second = params.get("cursor") == "2"
        shown, after = (rows[2:], None) if second else (rows[:2], "2")
        told = {"rows": shown, "leafId": "b2c3d4e5", "treeVersion": 1, "next": after}
        self.answer(message, told)

    def on_tree_navigate(self, message: Message, params: Message) -> None:
        result = {"leafId": None, "editorText": "Hello there", "cancelled": False}
        self.answer(message, result)

    def on_tree_label(self, message: Message, params: Message) -> None:
        result = {**{k: params[k] for k in ("entryId", "label")}, "labelEntryId": "d4"}
        self.answer(message, result)

    def on_compact(self, message: Message, params: Message) -> None:
        self.event("compaction", id="k", status="started", reason="manual")
        result = {
            "entryId": "e9",
            "summary": "# Goal",
            "firstKeptEntryId": "b2c3d4e5",
            "tokensBefore": 9000,
            "tokensAfterEstimate": 1000,
            "usage": USAGE,
            "details": {"readFiles": [], "modifiedFiles": []},
        }
        self.event("compaction", id="k", status="completed", reason="manual", result=result)
        self.answer(message, result)

    def on_model_list(self, message: Message, params: Message) -> None:
        row = {
            "provider": "fake",
            "name": "Model",
            "contextWindow": 200000,
            "maxOutput": 1000,
            "reasoning": False,
            "images": False,
            "levels": ["off"],
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        }
        models = [
            {**row, "model": "fake/model", "id": "model", "auth": "notNeeded"},
            {**row, "model": "fake/other", "id": "other", "auth": "missing"},
        ]
        self.answer(message, {"models": models, "current": "fake/model"})

    def on_model_set(self, message: Message, params: Message) -> None:
        if params["model"] == "fake/none":
            data = {"code": "not_found", "retryable": False, "hint": "/model lists them."}
            self.refuse(message, -32803, "No such model.", data)
            return
        self.answer(message, {"model": params["model"], "thinking": "off"})

    def on_thinking_list(self, message: Message, params: Message) -> None:
        self.answer(message, {"levels": ["off", "high"], "current": "off"})

    def on_thinking_set(self, message: Message, params: Message) -> None:
        self.answer(message, {"thinking": params["level"]})

    def on_command_list(self, message: Message, params: Message) -> None:
        command = {"name": "review", "description": "Review the code.", "source": "prompt"}
        ours = {"name": "compact", "description": "Sum up.", "source": "builtin"}
        self.answer(message, {"commands": [{**command, "inputHint": "FILE"}, ours]})

    def on_bash(self, message: Message, params: Message) -> None:
        output = f"ran {params['command']}\n\x1b[2J"
        result = {"entryId": "b1", "output": output, "exitCode": 3}
        self.answer(message, {**result, "truncated": False, "cancelled": False})

    def on_trust_set(self, message: Message, params: Message) -> None:
        skipped = [] if params["trusted"] else self.state()["skipped"]
        self.answer(message, {"trusted": params["trusted"] is True, "skipped": skipped})

    def on_permission_list(self, message: Message, params: Message) -> None:
        rule = {"id": "r1", "tool": "bash", "pattern": "ls", "decision": "allow"}
        self.answer(message, {"rules": [{**rule, "scope": "user", "uses": 2}], "mode": "ask"})

    def on_permission_remove(self, message: Message, params: Message) -> None:
        self.answer(message, {"rules": [], "mode": "ask"})

    def on_permission_setMode(self, message: Message, params: Message) -> None:
        self.answer(message, {"rules": [], "mode": params["mode"]})

    def on_edits_list(self, message: Message, params: Message) -> None:
        self.answer(message, {"edits": []})

    def on_usage_get(self, message: Message, params: Message) -> None:
        window = {"tokens": 100, "window": 1000, "percent": 10.0}
        models = [{"model": "fake/model", "answers": 2, "usage": USAGE}]
        self.answer(message, {"contextUsage": window, "total": USAGE, "models": models})

    def on_queue_list(self, message: Message, params: Message) -> None:
        self.answer(message, {"items": self.queue, "version": 1})

    def on_queue_clear(self, message: Message, params: Message) -> None:
        removed, self.queue = self.queue, []
        self.answer(message, {"items": [], "version": 2, "removed": removed})

    def on_followUp(self, message: Message, params: Message) -> None:
        block = {"type": "text", "text": params["content"]}
        item = {"queueId": "q1", "kind": "followUp", "content": [block], "paused": False}
        self.queue.append(item)
        self.answer(message, {"disposition": "queued", "queueId": "q1", "position": 0})

    # -- turns ---------------------------------------------------------------

    def on_prompt(self, message: Message, params: Message) -> None:
        words = params["content"]
        play = getattr(self, f"play_{words.split()[0].lstrip('/')}", self.play_hello)
        if words.startswith("refuse"):
            data = {"code": "no_model", "retryable": False, "hint": "Choose one with /model."}
            self.refuse(message, -32803, "No model is chosen.", data)
            return
        self.turn += 1
        turn = f"t{self.turn}"
        self.answer(message, {"disposition": "started", "turnId": turn, "messageId": "u1"})
        self.event("turn_started", turnId=turn, cause="prompt")
        play(words)

    def end(self, reason: str = "end_turn", **fields: Any) -> None:
        self.event("turn_ended", turnId=f"t{self.turn}", reason=reason, usage=USAGE, **fields)
        self.event("settled")

    def item(self, words: str, part: int = 0, kind: str = "text") -> None:
        content = {"type": kind, kind: words}
        item = f"m{self.turn}"
        self.event("item_ended", itemId=item, kind=kind, part=part, content=content)

    def start(self, kind: str = "text", part: int = 0) -> None:
        self.event("item_started", itemId=f"m{self.turn}", kind=kind, part=part)

    def tool(self, status: str, **fields: Any) -> None:
        self.event("tool", toolCallId="c1", status=status, **fields)

    def play_hello(self, words: str) -> None:
        self.start()
        self.delta("Hel", 0)
        self.delta("lo", 1)
        self.item("Hello")
        self.end()

    def play_think(self, words: str) -> None:
        self.start("thinking")
        self.delta("Hmm.", 0, "thinking")
        self.item("Hmm.", 0, "thinking")
        self.start("text", 1)
        self.delta("Yes.", 0, part=1)
        self.item("Yes.", 1)
        self.end()

    def play_tool(self, words: str) -> None:
        self.tool("streaming", name="read", kind="read", title="read")
        self.tool("running", title="read a.txt", input={"path": "a.txt"})
        content = [{"type": "text", "text": "first\nsecond\nthird"}]
        result = {"content": content, "isError": False}
        self.tool("completed", result=result, durationMs=1500)
        self.play_hello(words)

    def play_gap(self, words: str) -> None:
        self.start()
        self.delta("Hello ", 0)
        self.delta("again", 5)
        self.item("Hello to you again")
        self.end()

    def play_late(self, words: str) -> None:
        self.start()
        self.delta("Hello ", 0)
        self.item("Hello to you")
        self.end()

    def play_retry(self, words: str) -> None:
        self.start()
        self.delta("Half an", 0)
        item = f"m{self.turn}"
        self.event("item_ended", itemId=item, kind="text", part=0, content=None)
        error = {"code": "overloaded", "message": "Too busy.", "retryable": True}
        self.event("retry", attempt=1, max=3, delayMs=2000, status="waiting", error=error)
        self.event("warning", code="x", message="Mind this.")
        self.play_hello(words)

    def play_escape(self, words: str) -> None:
        self.start()
        self.item("a\x1b[2Jb\x9bc\u202ed\re")
        self.end()

    def play_fail(self, words: str) -> None:
        error = {
            "code": "auth_failed",
            "message": "Bad key.",
            "hint": "Set it.",
            "retryable": False,
        }
        self.end("error", error={**error, "hint": "Set it."})

    def play_cut(self, words: str) -> None:
        self.end("max_tokens")

    def play_die(self, words: str) -> None:
        sys.stderr.write("Traceback: the fake died\n")
        sys.stderr.flush()
        os._exit(3)

    def play_ask(self, words: str) -> None:
        options = [
            {"id": "o", "label": "Allow once", "kind": "allow", "scope": "once"},
            {"id": "s", "label": "Allow in this session", "kind": "allow", "scope": "session"},
            {"id": "d", "label": "No", "kind": "deny", "scope": "once"},
        ]
        subject = {"type": "command", "command": "make", "paths": [], "diff": "+ x\n- y"}
        params = {
            "sessionId": self.session,
            "requestId": "p1",
            "title": "bash make",
            "subject": subject,
            "reason": "Commands are asked for.",
            "options": options,
            "defaultToNo": False,
        }
        self.waiting = self.answered
        self.send(id="p1", method="agent/permission/request", params=params)
        if "withdraw" in words:
            self.send(method="$/cancelRequest", params={"id": "p1"})
            self.end()

    def answered(self, message: Message) -> None:
        said = json.dumps(message.get("result", message.get("error")), sort_keys=True)
        self.start()
        self.item(f"answer: {said}")
        self.end()

    def play_input(self, words: str) -> None:
        params = {
            "sessionId": self.session,
            "requestId": "p2",
            "kind": words.split()[1],
            "title": "Your name?",
        }
        self.waiting = self.answered
        self.send(id="p2", method="agent/ui/request", params=params)

    def play_strange(self, words: str) -> None:
        self.waiting = self.answered
        self.send(id="p3", method="workspace/applyEdit", params={"edit": {}})

    def play_slow(self, words: str) -> None:
        self.start()
        self.delta("working", 0)

    def play_never(self, words: str) -> None:
        threading.Event().wait(0.01)

    def on_steer(self, message: Message, params: Message) -> None:
        self.answer(message, {"disposition": "injected", "turnId": f"t{self.turn}"})
        self.item("working")
        self.start("text", 1)
        self.item(f"steered by {params['content']}", 1)
        self.end()

    def on_abort(self, message: Message, params: Message) -> None:
        added = {"type": "text", "text": "The editor shows a.py.", "context": True}
        waited = [
            {"queueId": name, "kind": "followUp", "content": content, "paused": False}
            for name, content in (
                ("q1", [{"type": "text", "text": "later"}, added]),
                ("q2", [{"type": "text", "text": "and last"}]),
            )
        ]
        self.answer(message, {"aborted": True, "forced": False, "queue": waited})
        self.end("aborted")


if __name__ == "__main__":
    Fake().messages()
