"""What an editor's own settings say about the agent: the section `agent`, above all files.

They come with `initialize`, with `workspace/didChangeConfiguration`, or as the answer to
`workspace/configuration`. Keys are those of settings.json, nested or with dots. Never decides what
a setting means. Read next: lsp/configuration.py (who asks), ../session/settings/layers.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pydantic import JsonValue

SECTION: Final = "agent"


class EditorSettings:
    """One client's settings: of a folder, else those that hold everywhere."""

    def __init__(self) -> None:
        self.general: Mapping[str, JsonValue] = {}
        self.by_folder: dict[Path, Mapping[str, JsonValue]] = {}

    def of(self, folder: Path) -> Mapping[str, JsonValue]:
        """What holds in a folder."""
        return self.by_folder.get(folder, self.general)


def settings_in(value: Any) -> Mapping[str, JsonValue] | None:
    """The section in what `didChangeConfiguration` brings; None where it brings none."""
    found = value.get(SECTION) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else None
