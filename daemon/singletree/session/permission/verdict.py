"""A verdict on a call, and the modes it depends on. Values only. Read next: policy.py."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from singletree.session.permission.asking import Asking
from singletree.session.permission.rules import Rule
from singletree.session.settings.keys import Mode

__all__ = ["ALLOW", "ASK_PRIVATE", "READ_ONLY", "RULE", "Mode", "Verdict"]

RULE = "A rule of the user forbids this ({pattern}), so it did not run."
READ_ONLY = "The session is in read-only mode: {what} are refused. The user can change the mode."
ASK_PRIVATE = "{path} is private."


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is for the model when denied, for the person when asked. `used` rules decided.

    `leads`: the paths of the call, and the real places that were judged.
    """

    decision: Literal["allow", "deny", "ask"]
    reason: str = ""
    asking: Asking | None = None
    sandboxed: bool = False
    used: tuple[Rule, ...] = ()
    leads: tuple[tuple[Path, str], ...] = ()


ALLOW = Verdict("allow")
