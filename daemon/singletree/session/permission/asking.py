"""What is put into a question, and the answers it offers.

Text people read stands in the constants. Never decides what may be remembered. Read next:
file_policy.py and command_policy.py (who do), gate.py (who asks).
"""

from __future__ import annotations

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
    """What is put into a question.

    `lasting`: what an answer that is remembered would cover, in words, and by `patterns` as rules
    of `family`; "" where none may be.
    """

    subject: Subject
    family: str
    title: str
    lasting: str = ""
    patterns: tuple[str, ...] = ()
    command: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()
    default_to_no: bool = False

    @property
    def options(self) -> tuple[Option, ...]:
        """The answers: a yes and a no for this once, and those that are remembered."""
        yes, no = (
            Option("allow_once", ONCE, "allow", "once"),
            Option("deny_once", NO, "deny", "once"),
        )
        if not self.lasting:
            return yes, no
        shown = JOINED.join(self.patterns)
        session, here, everywhere, never_here, never = (
            form.format(what=self.lasting)
            for form in (THIS_SESSION, ALWAYS_HERE, ALWAYS, NEVER_HERE, NEVER)
        )
        return (
            yes,
            Option("allow_session", session, "allow", "session", shown, SESSION_END),
            Option("allow_workspace", here, "allow", "workspace", shown),
            Option("allow_user", everywhere, "allow", "user", shown),
            no,
            Option("deny_workspace", never_here, "deny", "workspace", shown),
            Option("deny_user", never, "deny", "user", shown),
        )
