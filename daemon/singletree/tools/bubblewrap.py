"""bubblewrap: a command sees the machine read-only, alone, with the workspace writable.

Only argument lists; starts nothing but a trial of itself. Read next: sandbox.py.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from singletree.pathtext import is_file, is_folder, is_there, read_plain

GUARDED = (
    ".git/hooks", ".git/config", ".pi",
    ".vscode", ".idea", ".envrc", ".nvim.lua", ".exrc", ".dir-locals.el",
)  # fmt: skip
"""In the workspace, but never writable: a change there makes other programs run something."""

_RESOLVERS = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager")
_SYSTEM = ("/run/current-system", "/run/wrappers", "/run/opengl-driver")


@lru_cache(maxsize=1)
def works() -> bool:
    """Whether bubblewrap is here and may do what we need."""
    program = shutil.which("bwrap")
    if program is None:
        return False
    trial = [*_base(program, 4096), "--unshare-all", "--", "true"]
    try:
        done = subprocess.run(
            trial, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def arguments(
    workspace: Path,
    *,
    writable: Sequence[Path],
    hidden: Sequence[Path],
    guarded: Sequence[Path] = (),
    readable: Sequence[Path] = (),
    network: bool,
    temp_size: int,
) -> list[str]:
    """What stands before `--` and the command. Blocks on the disk: worker thread.

    `readable` are folders in hidden ones that are seen nevertheless; `guarded` are never writable.
    """
    got = _base(shutil.which("bwrap") or "bwrap", temp_size)
    got += ["--unshare-all", *(["--share-net"] if network else [])]
    for path in (*_SYSTEM, *(_RESOLVERS if network else ())):
        got += ["--ro-bind-try", path, path]
    given = str(workspace)
    real = os.path.realpath(workspace)
    for path in dict.fromkeys([given, real]):
        got += _beside(path)
    open_ = [real, *map(os.path.realpath, writable), *_repository(Path(real))]
    for path in dict.fromkeys(open_):
        got += ["--bind-try", path, path]
    if given != real:
        got += ["--bind-try", real, given] if given.startswith("/tmp/") else []
    git = f"{real}/.git"
    if is_folder(git) and not Path(git).is_symlink():
        got += ["--bind", git, git]  # so that it can't be moved away and made anew
        got += [] if is_there(f"{git}/hooks") else _empty(f"{git}/hooks")
    inside = [path for path in map(os.path.realpath, guarded) if _below(path, open_)]
    for path in (*_guarded(Path(real)), *inside):
        got += ["--ro-bind-try", path, path]
    for path in dict.fromkeys(map(os.path.realpath, hidden)):
        got += _covered(path, [os.path.realpath(one) for one in readable])
    return got


def _below(path: str, folders: Sequence[str]) -> bool:
    """Whether a path lies in one of these."""
    return any(Path(path).is_relative_to(folder) for folder in folders)


def _beside(path: str) -> list[str]:
    """What lies around a workspace in /tmp is seen as elsewhere, in the command's own /tmp too."""
    parts = path.split("/")
    top = "/".join(parts[:3])
    return ["--ro-bind-try", top, top] if parts[1] == "tmp" and len(parts) > 3 else []


def _covered(path: str, readable: Sequence[str]) -> list[str]:
    """Something empty in place of what is hidden."""
    if not is_folder(path):
        return ["--ro-bind", "/dev/null", path] if is_there(path) else []
    seen = [inner for inner in readable if inner.startswith(f"{path}/")]
    return _empty(path, [word for inner in seen for word in ("--ro-bind-try", inner, inner)])


def _empty(path: str, inside: Sequence[str] = ()) -> list[str]:
    """An empty folder that stays so, but for what is mounted inside."""
    made = ["--perms", "0500", "--size", "65536", "--tmpfs", path]
    return [*made, *inside, "--remount-ro", path]


def _base(program: str, temp_size: int) -> list[str]:
    size = str(temp_size)
    return [
        program, "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/", "/",
        "--dev", "/dev", "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
        "--proc", "/proc", "--size", size, "--tmpfs", "/tmp",
        "--size", "1048576", "--tmpfs", "/run",
    ]  # fmt: skip


def _guarded(workspace: Path) -> Iterator[str]:
    for name in GUARDED:
        path = os.path.realpath(workspace / name)
        if is_there(path) and _below(path, [str(workspace)]):
            yield path
    if is_file(workspace / ".git"):
        yield str(workspace / ".git")
    for folder in _repository(workspace):
        for name in ("hooks", "config"):
            yield f"{folder}/{name}"


def _repository(workspace: Path) -> list[str]:
    """Git's folders of a linked worktree, which lie elsewhere; only if they point back here."""
    link = workspace / ".git"
    try:
        text = read_plain(link).decode() if is_file(link) else ""
        own = Path(workspace, text.removeprefix("gitdir:").strip())
        if not text.startswith("gitdir:") or own.parent.name != "worktrees":
            return []
        if os.path.realpath(read_plain(own / "gitdir").decode().strip()) != str(link):
            return []
        common = Path(os.path.realpath(own / read_plain(own / "commondir").decode().strip()))
    except (OSError, ValueError):
        return []
    return [str(common)] if common == Path(os.path.realpath(own.parents[1])) else []
