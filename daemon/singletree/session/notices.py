"""What a person should know of a session, now and when a client comes later.

Read next: wiring.py (who has something to say).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from singletree.session.events import SessionEvent, Warned


class Notices:
    """The warnings of one session, each told when it comes and kept for those who come later."""

    def __init__(
        self, given: Sequence[tuple[str, str]], tell: Callable[[SessionEvent], None]
    ) -> None:
        self._all = list(given)
        self._tell = tell

    @property
    def all(self) -> tuple[tuple[str, str], ...]:
        """Code and text of each, oldest first."""
        return tuple(self._all)

    def warn(self, code: str, message: str) -> None:
        """One more; one that comes again is told again and kept once."""
        if (code, message) not in self._all:
            self._all.append((code, message))
        self._tell(Warned(code, message))

    def drop(self, code: str) -> None:
        """What was said under this code holds no more."""
        self._all = [one for one in self._all if one[0] != code]
