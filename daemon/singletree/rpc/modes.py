"""The permission modes, as a person chooses among them. Data only.

Read next: ../session/permission/policy.py, which says what each of them lets through.
"""

from __future__ import annotations

MODES = {
    "ask": ("Ask", "Writes and commands are asked for."),
    "acceptEdits": ("Accept edits", "Edits inside the workspace run; commands are asked for."),
    "readOnly": ("Read only", "Whatever changes something is refused."),
    "allowAll": ("Allow all", "Nothing is asked but for private files."),
}
