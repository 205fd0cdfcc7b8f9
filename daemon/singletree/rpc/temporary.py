"""Texts as files for editors that can show only files: in a folder that only we may enter.

Slow: call it in a worker thread. Never knows what a text is. Read next: shown.py.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from pathlib import Path

from singletree.errors import SingletreeError

NOT_WRITTEN = "The text could not be written to {path}: {why}."


class TemporaryFiles:
    """Files that are gone with the daemon."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._lock = threading.Lock()

    def put(self, name: str, text: str) -> Path:
        """Write a text under a name, which may have slashes; whole or not at all."""
        steps = [_safe(step) for step in name.split("/")]
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        path = Path(*steps)
        try:
            path = self._own_folder() / path
            fresh = path.with_name(f".{path.name}.{threading.get_ident()}")
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(os.open(fresh, flags, 0o600), "wb") as file:  # noqa: PTH123
                file.write(text.encode("utf-8", "replace"))
            fresh.replace(path)
        except OSError as error:
            why = error.strerror or "it failed"
            text = NOT_WRITTEN.format(path=path, why=why)
            raise SingletreeError(text, code="unsupported") from error
        return path

    def close(self) -> None:
        """No file stays."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _own_folder(self) -> Path:
        import tempfile  # not before it is wanted

        with self._lock:
            if self._folder is None or not self._folder.is_dir():
                self._folder = Path(tempfile.mkdtemp(prefix="singletree-"))
            return self._folder


def _safe(step: str) -> str:
    """A step as the name of a file: no way up, nothing hidden, not too long."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", step)[-80:].lstrip(".") or "_"
