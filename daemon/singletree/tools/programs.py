"""What is known of programs: which ones run others, and how much of a command names what it does.

Only tables, and what follows from them; never reads a line. Read next: command.py.
"""

from __future__ import annotations

import re
import shlex

Argv = tuple[str | None, ...]
"""The words of a command; None where the word is known only when it runs."""

SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "ash"])
TRANSPARENT = {
    "env": "uC",
    "nice": "n",
    "ionice": "cnpPu",
    "nohup": "",
    "setsid": "",
    "timeout": "ks",
    "time": "fo",
    "stdbuf": "ioe",
    "command": "",
    "builtin": "",
    "exec": "a",
    "xargs": "IELnPsad",
}
"""Programs that only start another one, with the letters of their options that take a value."""

RUNNERS = frozenset(
    [
        "sudo",
        "doas",
        "su",
        "chroot",
        "unshare",
        "nsenter",
        "systemd-run",
        "watch",
        "parallel",
        "ssh",
        "strace",
        "ltrace",
        "flock",
        "script",
        "busybox",
    ]
)
"""Programs that run another one as somebody else, elsewhere or later: what they run counts too."""

CARRIERS = {
    "tar": re.compile(
        r"--to-command.*|--checkpoint-action.*|-I.*|--use-compress-program.*|--rsh.*"
    ),
    "rsync": re.compile(r"-e.*|--rsh.*|--rsync-path.*"),
    "sort": re.compile(r"--compress-program.*"),
    "man": re.compile(r"-P.*|--pager.*|-H.*"),
    "rg": re.compile(r"--pre.*|--hostname-bin.*"),
    "fd": re.compile(r"-x|-X|--exec.*"),
    "git": re.compile(r"-c.*|--config-env.*|--exec-path=.*"),
    "git rebase": re.compile(r"-x.*|--exec.*"),
    "git bisect": re.compile(r"run"),
    "git submodule": re.compile(r"foreach"),
    "git filter-branch": re.compile(r".*"),
    "git difftool": re.compile(r"-x.*|--extcmd.*"),
    "git grep": re.compile(r"-O.*|--open-files-in-pager.*"),
    "git clone": re.compile(r"-u.*|--upload-pack.*|-c.*|--config.*"),
    "git fetch": re.compile(r"--upload-pack.*"),
    "git pull": re.compile(r"--upload-pack.*"),
    "git push": re.compile(r"--receive-pack.*|--exec.*"),
}
"""Options with which a program that otherwise does one thing runs another."""


_NEVER = frozenset(
    [
        "python",
        "python3",
        "node",
        "deno",
        "bun",
        "ruby",
        "perl",
        "php",
        "lua",
        "awk",
        "gawk",
        "tclsh",
        "eval",
        "exec",
        "env",
        "xargs",
        "find",
        "source",
        ".",
        "rm",
        "dd",
        "shred",
        "kill",
        "pkill",
        "killall",
        "chmod",
        "chown",
        "curl",
        "wget",
        "nc",
        "npx",
        "bunx",
        "uvx",
    ]
)
"""Programs whose name alone would cover anything."""
_WORDS = {
    "git": 2, "npm": 2, "pnpm": 2, "yarn": 2, "cargo": 2, "go": 2, "make": 2, "pip": 2, "uv": 2,
    "poetry": 2, "kubectl": 2, "gh": 2, "dotnet": 2, "gradle": 2, "mvn": 2, "bundle": 2, "rails": 2,
    "brew": 2, "apt": 2, "apt-get": 2, "systemctl": 2, "just": 2, "rake": 2, "terraform": 2,
    "docker": 2, "podman": 2, "pipx": 2,
}  # fmt: skip
"""How many words name what is done, where the first alone says too little."""


def suggest(argv: Argv) -> str | None:
    """A pattern worth remembering for a command; None if it would cover too much."""
    if not argv or argv[0] is None:
        return None
    program = argv[0].rpartition("/")[2]
    if program in _NEVER or program in SHELLS or program in RUNNERS:
        return None
    count = _WORDS.get(program, 1)
    kept: list[str] = [argv[0]]
    for word in argv[1:count]:
        if word is None or word.startswith("-"):
            return None
        kept.append(word)
    return shlex.join(kept) if len(kept) == count or count == 1 else None
