"""Where things are on this machine. Standard library only: it stands before the first answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from singletree.errors import SingletreeError

GONE = "The current folder does not exist any more; go to another one."


def agent_dir(environment: Mapping[str, str]) -> Path:
    """Settings, keys and sessions: the folder PI_CODING_AGENT_DIR names, or ~/.pi/agent."""
    named = environment.get("PI_CODING_AGENT_DIR")
    return Path(named).expanduser().absolute() if named else Path.home() / ".pi" / "agent"


def here() -> Path:
    """The current folder. Raises workspace_not_found where it was deleted."""
    try:
        return Path.cwd()
    except OSError:
        raise SingletreeError(GONE, code="workspace_not_found") from None
