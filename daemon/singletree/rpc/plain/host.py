"""What a host that knows nothing but LSP sees of a session: progress, and how an answer ended.

Such a host gets no notification of ours. While something runs it shows work-done progress with what
the agent is at, and cancelling that is a stop; at the end one message says how the answer ends. A
host that speaks the agent protocol has better means and hears nothing here. Never decides what
happens. Read next: progress.py, window.py, ../front.py (who tells it).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from singletree.extensions.sign import Sign
from singletree.history.entries import MessageEntry
from singletree.messages import AssistantMessage, Text
from singletree.rpc.peer import Peer
from singletree.rpc.plain.progress import Progress, can_show
from singletree.rpc.plain.window import Kind, tell
from singletree.rpc.telling.failures import one_line
from singletree.rpc.telling.toolcalls import title
from singletree.session.events import (
    EntryAppended,
    ErrorInfo,
    ExtensionFailed,
    PhaseChanged,
    SessionEvent,
    Settled,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnReason,
    TurnStarted,
    Warned,
)

ENDING: Final = 400
PHASES: Final = {
    "running": "thinking",
    "requires_action": "waits for your answer",
    "compacting": "summing up the conversation",
    "retrying": "waits before it asks the model again",
}
WHOLE: Final = "{end}\n(All of it: agent.transcript)"
FAILED: Final = "The agent could not go on: {why}"
ENDS: Final[dict[TurnReason, str]] = {
    "max_tokens": "The answer was cut off: it was longer than the model may write.",
    "max_turns": "The agent stopped: it had made as many steps as a turn may have.",
    "refusal": "The model refused to answer.",
}

Spawn = Callable[[Callable[[], Awaitable[None]]], None]


class PlainHost:
    """One host's view of one session. `abort` ends what runs."""

    def __init__(self, peer: Peer, phase: str, abort: Callable[[], None], spawn: Spawn) -> None:
        self._peer = peer
        self._abort = abort
        self._spawn = spawn
        self._progress: Progress | None = None
        self._said = ""
        self._message: tuple[str, Kind] | None = None
        self._phase(phase)

    def tell(self, event: SessionEvent) -> None:
        """Something happened in the session."""
        if self._peer.speaks_agent:
            self.close()
            return
        match event:
            case PhaseChanged(phase):
                self._phase(phase)
            case ToolStarted(call):
                self._report(title(call))
            case ToolEnded():
                self._report(PHASES["running"])
            case EntryAppended(MessageEntry(message=AssistantMessage() as message)):
                self._said = _text(message) or self._said
            case TurnEnded(_, reason, error, _):
                self._message = _how_it_ended(reason, error, self._said)
                self._said = ""
            case TurnStarted() | Settled():
                self._show()
            case Warned(message=message) | ExtensionFailed(message=message):
                tell(self._peer, message, "warning")
            case _:
                return

    def show(self, sign: Sign) -> None:
        """An extension shows something; there is a place only for what is said once."""
        if sign.kind == "notice" and isinstance(sign.payload, str) and not self._peer.speaks_agent:
            tell(self._peer, sign.payload)

    def cancel(self, token: str) -> bool:
        """A person cancels the progress with this token; whether it is one of ours."""
        if self._progress is None or self._progress.token != token:
            return False
        self._progress.cancel()
        return True

    def close(self) -> None:
        """Show nothing any more."""
        if self._progress is not None:
            self._progress.end()
            self._progress = None

    def _phase(self, phase: str) -> None:
        if phase == "idle":
            self.close()
        elif self._progress is not None:
            self._report(PHASES[phase])
        elif can_show(self._peer):
            self._progress = Progress(self._peer, PHASES[phase], self._abort)
            self._spawn(self._progress.run)

    def _report(self, message: str) -> None:
        if self._progress is not None:
            self._progress.report(message)

    def _show(self) -> None:
        """Say how the turn ended, now that nothing of it goes on."""
        message, self._message = self._message, None
        if message is not None:
            tell(self._peer, *message)


def _how_it_ended(
    reason: TurnReason, error: ErrorInfo | None, said: str
) -> tuple[str, Kind] | None:
    """What a person is told; nothing of a stop that was their own."""
    match reason:
        case "aborted":
            return None
        case "error":
            why = error.message if error else "no reason was given"
            hint = f" {error.hint}" if error and error.hint else ""
            return FAILED.format(why=one_line(why) + hint), "error"
        case "end_turn":
            return (WHOLE.format(end=_ending(said)), "info") if said else None
        case _:
            return ENDS[reason], "warning"


def _text(message: AssistantMessage) -> str:
    return "\n".join(b.text for b in message.content if isinstance(b, Text)).strip()


def _ending(text: str) -> str:
    """The last words of an answer, from the start of a line or at least of a word."""
    if len(text) <= ENDING:
        return text
    end = text[-ENDING:]
    _, found, rest = end.partition("\n")
    if not (found and rest.strip()):
        _, found, rest = end.partition(" ")
    return f"… {(rest if found and rest.strip() else end).strip()}"
