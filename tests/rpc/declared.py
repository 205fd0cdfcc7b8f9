"""Whether `initialize`, answered before pygls is loaded, declares what pygls would have."""

from __future__ import annotations

from typing import Any

from singletree.rpc.hello import CAPABILITIES
from singletree.rpc.lsp.language import AgentServer
from singletree.rpc.pipes.converter import converter

OURS = {"positionEncoding", "textDocumentSync", "workspace"}
"""Said by hello.py with more care, or chosen for each client."""


def undeclared(server: AgentServer) -> set[str]:
    """Capabilities of the registered features that our answer does not have, or has otherwise."""
    theirs: dict[str, Any] = converter().unstructure(server.server_capabilities)
    if theirs["executeCommandProvider"] == {"commands": []}:
        del theirs["executeCommandProvider"]  # pygls always declares it
    return {
        name
        for name, value in theirs.items()
        if name not in OURS and CAPABILITIES.get(name) != value
    }
