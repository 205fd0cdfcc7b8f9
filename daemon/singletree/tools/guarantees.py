"""What a sandbox holds, as a table: one line for each thing a command might do.

Every line is tested with commands that try it. Never runs anything. Read next: sandbox.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mechanism = Literal["bubblewrap", "landlock", "none"]

STOPPED, POSSIBLE = "stopped", "possible"


@dataclass(frozen=True, slots=True)
class Guarantee:
    """One thing a command might do, and what becomes of it under each mechanism."""

    what: str
    bubblewrap: str = STOPPED
    landlock: str = STOPPED
    none: str = POSSIBLE

    def of(self, mechanism: Mechanism) -> str:
        """The answer for one mechanism."""
        match mechanism:
            case "bubblewrap":
                return self.bubblewrap
            case "landlock":
                return self.landlock
            case "none":
                return self.none


_SWEPT = "ended with its command; after a kill of the daemon at its next start"

GUARANTEES = (
    Guarantee("write outside the workspace and a temporary folder of its own"),
    Guarantee("change modes, owners and times of files outside", landlock=POSSIBLE),
    Guarantee(
        "read keys and private files (auth.json, ~/.ssh, …)",
        landlock="stopped, unless they lie in the workspace",
    ),
    Guarantee(
        "change git's hooks and configuration in the workspace",
        bubblewrap="stopped in the repository at its top",
        landlock=POSSIBLE,
    ),
    Guarantee("reach the network", landlock="TCP stopped from kernel 6.7 on, UDP possible"),
    Guarantee("reach a server on this machine", landlock="TCP stopped from kernel 6.7 on"),
    Guarantee(
        "use sockets in /run and /tmp (Docker, D-Bus, agents)",
        landlock="possible; abstract ones stopped from kernel 6.12 on",
    ),
    Guarantee("speak with the daemon that runs it"),
    Guarantee("see other processes", landlock=POSSIBLE),
    Guarantee("signal other processes", landlock="stopped from kernel 6.12 on"),
    Guarantee("read the daemon's memory"),
    Guarantee("gain privileges (sudo, setuid programs)"),
    Guarantee("leave a process behind", landlock=_SWEPT, none=f"{_SWEPT}, unless it hides"),
    Guarantee(
        "fill the temporary disk",
        bubblewrap="stopped at 512 MiB each for /tmp and shared memory",
        landlock=POSSIBLE,
    ),
    Guarantee("use up processor, memory, or the disk of the workspace", POSSIBLE, POSSIBLE),
)
