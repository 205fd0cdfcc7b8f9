"""What a plain LSP host is offered, by name. Data only, for it stands in the first answer.

Read next: plain/commands.py (what the commands do), plain/pointing.py (the code actions).
"""

from __future__ import annotations

COMMANDS = (
    "agent.prompt",
    "agent.explain",
    "agent.fixDiagnostic",
    "agent.rewrite",
    "agent.send",
    "agent.steer",
    "agent.followUp",
    "agent.abort",
    "agent.clearQueue",
    "agent.bash",
    "agent.compact",
    "agent.transcript",
    "agent.tree",
    "agent.diff",
    "agent.open",
    "agent.navigate",
    "agent.label",
    "agent.fork",
    "agent.new",
    "agent.switch",
    "agent.rename",
    "agent.export",
    "agent.model",
    "agent.thinking",
    "agent.mode",
    "agent.forget",
    "agent.trust",
    "agent.undoTurn",
)
"""Everything `workspace/executeCommand` knows."""

ACTION_KINDS = ("quickfix", "refactor.rewrite", "source.agent")
"""The kinds of the code actions."""

SCHEMES = ("agent",)
"""The schemes of the addresses of texts that can be looked at."""
