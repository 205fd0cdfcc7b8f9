"""Where tools work: files and a shell, promised here and handed in from above.

A tool never opens a file or starts a process by itself, so an editor's unsaved buffers and a
sandbox are only other implementations. Never knows who they are. Read next: disk.py, shell.py.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from singletree.tools.leads import Leads


@dataclass(frozen=True, slots=True)
class Stat:
    """What is at a path. `size` in bytes; `dirty`: an editor holds unsaved text for it."""

    kind: str
    size: int = 0
    dirty: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """What is at a path, and its bytes in pieces; of what is no file there are none."""

    stat: Stat
    pieces: AsyncGenerator[bytes, None]


@dataclass(frozen=True, slots=True)
class Listed:
    """One name in a folder. A link is of the kind it leads to, "link" where it leads nowhere."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Written:
    """How a write landed: on the disk, or in the editor's buffer (and whether that is saved).

    `note` is text for the model, for example that a shell still sees the old text.
    """

    by: str = "disk"
    note: str = ""


class Files(Protocol):
    """The files as the user sees them: an unsaved buffer wins over the disk."""

    @property
    def leads(self) -> Leads:
        """Where paths led when they were allowed."""
        ...

    async def stat(self, path: Path) -> Stat | None:
        """None if nothing is there; kind is "file", "dir" or "other"."""
        ...

    async def read(self, path: Path) -> bytes:
        """The whole file. OSError as from the disk."""
        ...

    def opened(self, path: Path) -> AbstractAsyncContextManager[Content | None]:
        """The file while it is read, so that a huge one costs no memory; None: nothing is there."""
        ...

    async def entries(self, path: Path) -> list[Listed]:
        """What is in a folder, in no order. OSError as from the disk."""
        ...

    async def write(
        self,
        path: Path,
        data: bytes,
        *,
        label: str,
        base: bytes | None = None,
        call_id: str = "",
    ) -> Written:
        """Replace the whole file, at once or not at all; parents are made.

        `label` names the undo step. `base`: the content that `data` was made from, b"" where there
        was no file; if it is another by now, nothing is written. `call_id`: the tool call this
        belongs to, "" for none.

        Raises ToolError when the text cannot be proven to have landed.
        """
        ...

    async def remove(self, path: Path) -> None:
        """Take a file away. OSError as from the disk, ToolError where an editor refuses."""
        ...

    def dirty(self) -> Mapping[Path, bytes]:
        """The unsaved buffers by real path, as a search must see them; empty for a plain disk."""
        ...


@dataclass(frozen=True, slots=True)
class Exit:
    """How a command ended. `code` is 128+n for a signal n; None when it never started.

    `ended`: "exit", "timeout" or "closed". `left`: processes of it that still ran and were ended.
    """

    code: int | None
    ended: str = "exit"
    left: int = 0
    note: str = ""
    """Text for the model, for example that the sandbox denied something."""


class Shell(Protocol):
    """Runs commands: own process group, no terminal, empty stdin."""

    async def run(
        self,
        command: str,
        *,
        cwd: Path,
        limit: float | None,
        on_output: Callable[[bytes], None],
        env: Mapping[str, str] | None = None,
    ) -> Exit:
        """Run to its end; after `limit` seconds it is ended. Cancelling kills the tree.

        `on_output` gets stdout and stderr merged.
        """
        ...


class World(Protocol):
    """Everything a tool may touch, seen from the workspace folder `cwd`."""

    @property
    def cwd(self) -> Path:
        """The workspace."""
        ...

    @property
    def files(self) -> Files:
        """Its files, and those outside."""
        ...

    @property
    def shell(self) -> Shell:
        """Its shell."""
        ...

    def resolve(self, path: str) -> Path:
        """A path as a model or a person writes it (~, @, file:, Unicode forms), made absolute."""
        ...

    def lock(self, path: Path) -> AbstractAsyncContextManager[None]:
        """Held while a file is changed: one at a time per real path, in order of asking."""
        ...
