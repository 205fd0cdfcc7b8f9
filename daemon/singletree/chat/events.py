"""What happens in the session, shown line by line. Types that are not named here are passed over.

Never asks the daemon anything. Standard library. Read next: talk.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from singletree.chat.link import Object, number, part, pick, text
from singletree.chat.screen import Screen, tokens

FOUND = "{model} answers; /model chooses another."
ENDS = {
    "error": "The turn failed.",
    "max_tokens": "The answer was cut: the model's output limit is reached.",
    "max_turns": "Stopped after too many steps.",
    "refusal": "The model refused to answer.",
    "aborted": "Stopped.",
}


@dataclass
class Session:
    """What we know of the session. `running`: the turns that have begun and not ended."""

    id: str = ""
    state: Object = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    settled: bool = True
    failed: bool = False

    @property
    def busy(self) -> bool:
        """Whether something goes on by itself."""
        return bool(self.running) or not self.settled


def show(event: Object, session: Session, screen: Screen) -> None:
    """Take note of an event and show what a person should see of it."""
    handler = _SHOWN.get(text(event, "type"))
    if handler:
        handler(event, session, screen)


def _turn_started(event: Object, session: Session, screen: Screen) -> None:
    session.running.add(text(event, "turnId"))
    session.settled = False


def _turn_ended(event: Object, session: Session, screen: Screen) -> None:
    session.running.discard(text(event, "turnId"))
    session.ended.add(text(event, "turnId"))
    session.settled = False
    reason, error = text(event, "reason"), part(event, "error")
    session.failed = session.failed or reason != "end_turn"
    if error:
        screen.fault(text(error, "message"), text(error, "code"), text(error, "hint"))
    elif reason in ENDS:
        screen.say(ENDS[reason], "yellow")
    usage = part(event, "usage")
    if number(usage, "input") or number(usage, "output"):
        screen.aside(tokens(usage))


def _settled(event: Object, session: Session, screen: Screen) -> None:
    session.settled = True


def _ended(event: Object, session: Session, screen: Screen) -> None:
    screen.ended(event)


def _tool(event: Object, session: Session, screen: Screen) -> None:
    screen.tool(event)


def _config(event: Object, session: Session, screen: Screen) -> None:
    found = text(event, "model")
    if found and not text(session.state, "model"):
        screen.aside(FOUND.format(model=found))
    session.state |= {key: value for key, value in event.items() if key != "type"}


def _usage(event: Object, session: Session, screen: Screen) -> None:
    session.state["contextUsage"] = event.get("contextUsage")


def _warning(event: Object, session: Session, screen: Screen) -> None:
    screen.warn(text(event, "message"))


def _extension_error(event: Object, session: Session, screen: Screen) -> None:
    screen.warn(f"extension {text(event, 'extension')}: {text(event, 'message')}")


def _retry(event: Object, session: Session, screen: Screen) -> None:
    if text(event, "status") == "waiting":
        wait = number(event, "delayMs") / 1000
        which = f"{number(event, 'attempt'):.0f} of {number(event, 'max'):.0f}"
        why = text(event, "error", "message").removesuffix(".")
        screen.say(f"… {why}; again in {wait:.1f} s ({which})", "yellow")


def _compaction(event: Object, session: Session, screen: Screen) -> None:
    status, result = text(event, "status"), part(event, "result")
    if result:
        before, after = number(result, "tokensBefore"), number(result, "tokensAfterEstimate")
        screen.say(f"— summed up: {before:,.0f} → {after:,.0f} tokens —", "dim")
    elif status == "started":
        screen.say(f"— summing up the older part ({text(event, 'reason')}) —", "dim")
    else:
        why = text(event, "error", "message")
        screen.say(f"— not summed up: {status}. {why}".rstrip() + " —", "yellow")


def _entry(event: Object, session: Session, screen: Screen) -> None:
    """A message of an extension is shown if it wants to be."""
    entry = part(event, "entry")
    if text(entry, "type") == "custom_message" and pick(entry, "display") is not False:
        screen.say(text(entry, "content"))


_SHOWN: dict[str, Callable[[Object, Session, Screen], None]] = {
    "turn_started": _turn_started,
    "turn_ended": _turn_ended,
    "settled": _settled,
    "item_ended": _ended,
    "tool": _tool,
    "config": _config,
    "usage": _usage,
    "warning": _warning,
    "extension_error": _extension_error,
    "retry": _retry,
    "compaction": _compaction,
    "entry": _entry,
}
