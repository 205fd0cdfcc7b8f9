"""The answers a question offers, and what each would be remembered as.

Text people read stands in the constants. Never decides which are fit. Read next: file_policy.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from singletree.session.permission.question import Option, Subject

ONCE = "Allow once"
NO = "Deny"
THIS_SESSION = "Allow {what} in this session"
ALWAYS_HERE = "Always allow {what} in this workspace"
ALWAYS = "Always allow {what} in every workspace"
NEVER_HERE = "Always deny {what} in this workspace"
NEVER = "Always deny {what} in every workspace"
SESSION_END = "when the session ends"
JOINED = " && "


@dataclass(frozen=True, slots=True)
class Asking:
    """What is put into a question. `patterns`: by option id, what is remembered for `family`."""

    subject: Subject
    family: str
    title: str
    options: tuple[Option, ...]
    patterns: Mapping[str, tuple[str, ...]]
    command: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()
    default_to_no: bool = False


class Choices:
    """The answers that are offered, and what each would be remembered as."""

    def __init__(self) -> None:
        self._lasting: list[tuple[str, tuple[str, ...]]] = []

    def allow(self, what: str, patterns: tuple[str, ...]) -> None:
        """Offer to remember this."""
        self._lasting.append((what, patterns))

    def asking(
        self,
        subject: Subject,
        family: str,
        title: str,
        *,
        command: str | None = None,
        cwd: str | None = None,
        paths: tuple[str, ...] = (),
        default_to_no: bool = False,
    ) -> Asking:
        """The whole, with a once and a no."""
        options = [Option("allow_once", ONCE, "allow", "once")]
        patterns: dict[str, tuple[str, ...]] = {}
        for what, covered in self._lasting:
            shown = JOINED.join(covered)
            options += [
                Option(
                    "allow_session",
                    THIS_SESSION.format(what=what),
                    "allow",
                    "session",
                    shown,
                    SESSION_END,
                ),
                Option(
                    "allow_workspace", ALWAYS_HERE.format(what=what), "allow", "workspace", shown
                ),
                Option("allow_user", ALWAYS.format(what=what), "allow", "user", shown),
            ]
            patterns |= dict.fromkeys(("allow_session", "allow_workspace", "allow_user"), covered)
        options.append(Option("deny_once", NO, "deny", "once"))
        for what, covered in self._lasting:
            shown = JOINED.join(covered)
            options += [
                Option("deny_workspace", NEVER_HERE.format(what=what), "deny", "workspace", shown),
                Option("deny_user", NEVER.format(what=what), "deny", "user", shown),
            ]
            patterns |= dict.fromkeys(("deny_workspace", "deny_user"), covered)
        return Asking(
            subject, family, title, tuple(options), patterns, command, cwd, paths, default_to_no
        )
