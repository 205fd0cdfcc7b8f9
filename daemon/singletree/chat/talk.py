"""A conversation: what is said goes to the daemon, what happens there is shown. Standard library.

One loop in the main thread waits for the daemon and for the keyboard at once. `ask` waits for an
answer, `until_settled` for a turn; both deal with whatever comes meanwhile. Read next: commands.py.
"""

from __future__ import annotations

import select
from collections.abc import Callable

from singletree.chat.events import Session, show
from singletree.chat.keyboard import Pipe, Terminal
from singletree.chat.link import Json, Link, Object, Refused, part, rows, said, text
from singletree.chat.questions import Question, question
from singletree.chat.screen import Screen, one_line

CLIENT = "singletree-chat"
AGENT: Object = {
    "protocolVersions": [1],
    "clientId": CLIENT,
    "events": {"delta": True, "maxLatencyMs": 33},
    "permissions": {},
    "ui": {"dialogs": ["select", "confirm", "input"]},
    "editor": {"applyEdit": "none"},
}
STEERED = {
    "injected": "↪ steered: the model sees it at its next step",
    "queued": "↪ queued: the model sees it as soon as it can",
    "started": "↪ nothing ran any more: this is a turn of its own",
}
SESSIONLESS = ("agent/session/open", "agent/session/new", "agent/session/list")
LEAVING = "(leaving when this is done; Ctrl-C stops it)"
STOPPING = "(stopping; Ctrl-C again leaves)"
NOT_ALLOWED = "no (nobody can be asked here; --allow says yes)"


SILENCE = 1.0
"""Seconds after which a person is told that an answer is waited for."""


class Misused(Exception):
    """A command was given what it cannot take."""


class Quit(Exception):
    """The person wants to leave."""


class Talk:
    """The client. `allow`: how questions are answered when nobody can be asked."""

    def __init__(
        self, link: Link, screen: Screen, keyboard: Pipe | Terminal, allow: bool = False
    ) -> None:
        self.screen = screen
        self.session = Session()
        self.suggestion = ""
        self.folder = ""
        self.command: Callable[[str], None] = self.steer
        self._link = link
        self._keyboard = keyboard
        self._allow = allow
        self._answers: dict[Json, Object] = {}
        self._questions: list[Question] = []
        self._aborts: set[Json] = set()

    def start(self, folder: str, name: str) -> Object:
        """Shake hands; what the daemon says of itself."""
        self.folder = folder
        hello = self.ask(
            "initialize",
            {
                "processId": None,
                "clientInfo": {"name": CLIENT},
                "rootUri": folder,
                "workspaceFolders": [{"uri": folder, "name": name}],
                "capabilities": {},
                "initializationOptions": {"agent": AGENT},
            },
        )
        self._link.notify("initialized", {})
        return hello

    def attach(self, method: str, params: Object) -> Object:
        """Open, make or switch to a session, and keep to it."""
        self.session = Session()
        told = self.ask(method, params)
        self.session = Session(text(told, "sessionId"), part(told, "state"))
        self.session.settled = text(told, "state", "phase") in ("idle", "")
        return told

    def ask(self, method: str, params: Object) -> Object:
        """Ask and wait for the answer. Ctrl-C takes the question back. Raises Refused."""
        request = self._request(method, params)
        taken_back = False
        while request not in self._answers:
            try:
                self._wait(request)
            except KeyboardInterrupt:
                if taken_back:
                    raise Quit from None
                taken_back = True
                self._link.notify("$/cancelRequest", {"id": request})
        answer = self._answers.pop(request)
        if "error" in answer:
            raise Refused(answer["error"])
        return part(answer, "result")

    def prompt(self, words: str) -> None:
        """Say something, and stay until all is settled."""
        told = self.ask("agent/prompt", {"content": words, "whenBusy": "followUp"})
        turn = text(told, "turnId")
        if text(told, "disposition") == "started" and turn not in self.session.ended:
            self.session.running.add(turn)
        self.until_settled()

    def steer(self, words: str) -> None:
        """Put a text into the running turn; say what became of it."""
        told = self.ask("agent/steer", {"content": words})
        self.screen.say(STEERED.get(text(told, "disposition"), "↪ sent"), "cyan")

    def until_settled(self) -> None:
        """Show what happens until nothing more will. Ctrl-C stops the turn, twice leaves."""
        stopping = False
        while self.session.busy or self._aborts:
            try:
                self._wait()
            except KeyboardInterrupt:
                if stopping:
                    raise Quit from None
                stopping = True
                self.screen.say(STOPPING, "yellow")
                self.abort()

    def abort(self) -> None:
        """Stop the running turn; what waited in the queue comes back."""
        self._aborts.add(self._request("agent/abort", {"queue": "return"}))

    def _request(self, method: str, params: Object) -> int:
        named = "sessionId" in params or method in SESSIONLESS
        if method.startswith("agent/") and self.session.id and not named:
            params = {"sessionId": self.session.id, **params}
        return self._link.request(method, params)

    def _wait(self, answer: int | None = None) -> None:
        """Wait for the daemon or the keyboard, and deal with what came, up to the answer."""
        self.screen.flush()
        sources = [self._link.wake]
        if self._keyboard.fd is not None:
            sources.append(self._keyboard.fd)
        silence = SILENCE if self.session.busy and not self._questions else None
        ready, _, _ = select.select(sources, [], [], silence)
        if not ready:
            self.screen.waits()
        if self._keyboard.interrupted():
            raise KeyboardInterrupt
        if self._link.wake in ready:
            for message in self._link.take():
                self._receive(message)
                if answer in self._answers:
                    self._link.poke()
                    return
        if self._keyboard.fd in ready:
            for line in self._keyboard.typed():
                self._typed(line)

    def _receive(self, message: Object) -> None:
        method, params = text(message, "method"), part(message, "params")
        if not method:
            self._answered(message)
        elif "id" in message:
            self._asked(message["id"], method, params)
        elif method == "$/cancelRequest":
            self._withdraw(params.get("id"), "")
        elif method == "agent/request/resolved":
            self._withdraw(None, text(params, "requestId"))
        elif method == "window/showMessage":
            self.screen.say(text(params, "message"), "yellow")
        elif text(params, "sessionId") == self.session.id:
            if method == "agent/delta":
                self.screen.delta(params)
            elif method == "agent/event":
                show(part(params, "event"), self.session, self.screen)

    def _answered(self, message: Object) -> None:
        request = message.get("id")
        if request not in self._aborts:
            self._answers[request] = message
            return
        self._aborts.discard(request)
        for item in rows(message, "result", "queue"):
            self.screen.say(f"↩ not sent: {said(item)}", "yellow")
            self.suggestion = f"{self.suggestion}\n{said(item)}".strip()

    def _typed(self, line: str | None) -> None:
        if self._questions:
            self._decide(line)
        elif line is None:
            self._keyboard.leave()
            self.screen.say(LEAVING, "dim")
        elif line.startswith("/"):
            self.command(line)
        elif line.strip():
            try:
                self.steer(line)
            except Refused as no:
                self.screen.fault(str(no), no.code, no.hint)

    def _asked(self, reply_to: Json, method: str, params: Object) -> None:
        asked = question(reply_to, method, params)
        if asked is None:
            self._link.refuse(reply_to)
        elif self._keyboard.fd is not None:
            self._questions.append(asked)
            if len(self._questions) == 1:
                self._pose(asked)
        else:
            self._link.answer(reply_to, asked.yes if self._allow else asked.no)
            said = "yes" if self._allow else NOT_ALLOWED
            self.screen.say(f"? {one_line(asked.title)} → {said}", "yellow")

    def _pose(self, asked: Question) -> None:
        self.screen.say(f"? {one_line(asked.title)}", "bold")
        for line in asked.lines:
            self.screen.say(f"  {line}", "dim")
        self._offer(asked)

    def _offer(self, asked: Question) -> None:
        for line in asked.prompt:
            self.screen.say(f"  {one_line(line)}", "cyan")

    def _decide(self, line: str | None) -> None:
        asked = self._questions[0]
        answer = asked.no if line is None else asked.answer(line)
        if answer is None:
            self._offer(asked)
            return
        self._link.answer(asked.reply_to, answer)
        del self._questions[0]
        self._pose_next()

    def _withdraw(self, reply_to: Json, request_id: str) -> None:
        """A question was answered elsewhere, or need not be answered any more."""
        left = [q for q in self._questions if not q.is_named(reply_to, request_id)]
        changed = left[:1] != self._questions[:1]
        self._questions = left
        if changed:
            self.screen.say("  (no answer is needed any more)", "dim")
            self._pose_next()

    def _pose_next(self) -> None:
        if self._questions:
            self._pose(self._questions[0])
