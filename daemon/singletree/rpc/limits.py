"""The limits that `initialize` declares, as they are held to. Data only: it is in the first answer.

Read next: declared.py, protocol/capabilities.py (Limits).
"""

from __future__ import annotations

MAX_MESSAGE = 32 << 20
"""Bytes of a message in."""
MAX_OUTBOUND = 1 << 20
"""Bytes of a message out: longer texts are cut, longer lists paged."""
MAX_DELTA = 64 << 10
"""Bytes of text in a joined delta."""
MAX_OPEN = 64
"""Requests of one client that are open at once."""
RING_EVENTS = 4096
"""Events of a session that are kept for a client that comes back."""
