"""Where things are on this machine. Standard library only: it stands before the first answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def agent_dir(environment: Mapping[str, str]) -> Path:
    """Settings, keys and sessions: the folder PI_CODING_AGENT_DIR names, or ~/.pi/agent."""
    named = environment.get("PI_CODING_AGENT_DIR")
    return Path(named).expanduser().absolute() if named else Path.home() / ".pi" / "agent"
