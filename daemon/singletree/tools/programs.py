"""What is known of programs: which ones run others, and how much of a command names what it does.

Only tables, and what follows from them; never reads a line. Read next: command.py.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

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
        "sudo", "doas", "su", "chroot", "unshare", "nsenter", "systemd-run", "watch", "parallel",
        "ssh", "strace", "ltrace", "flock", "script",
        "busybox", "toybox", "runuser", "setpriv", "pkexec", "sg", "capsh", "proot", "bwrap",
        "firejail", "fakeroot", "taskset", "chrt", "numactl", "setarch", "linux32", "linux64",
        "prlimit", "choom", "cpulimit", "start-stop-daemon", "run-parts", "logsave", "valgrind",
        "perf", "hyperfine", "entr", "inotifywait", "screen", "tmux", "at", "batch", "crontab",
        "unbuffer", "rlwrap", "xvfb-run", "dbus-run-session", "mksh", "yash", "fish", "csh", "tcsh",
        "rbash", "elvish", "nu", "xonsh", "scp", "sftp",
    ]
)  # fmt: skip
"""Programs that run another one as somebody else, elsewhere or later: what they run counts too.

Shells that are not read here are among them.
"""

SETTERS = frozenset(
    [
        "export",
        "declare",
        "typeset",
        "local",
        "readonly",
        "read",
        "unset",
        "let",
        "mapfile",
        "readarray",
        "getopts",
    ]
)
"""What a shell sets variables with; the words are their names, and what stands in [ ] is run."""

_OPTIONS = {
    "find": ("", ""),  # its own are words, and known to command.py
    "printf": ("v", ""),
    "mapfile": ("C", ""),
    "readarray": ("C", ""),
    "wait": ("p", ""),
    "jobs": ("x", ""),
    "hash": ("p", ""),
    "enable": ("f", ""),
    "tar": (
        "IF",
        "to-command checkpoint-action use-compress-program rsh-command rmt-command info-script "
        "new-volume-script",
    ),
    "rsync": ("e", "rsh rsync-path"),
    "sort": ("o", "output compress-program"),
    "shuf": ("o", "output"),
    "tree": ("o", "output"),
    "iconv": ("o", "output"),
    "sed": ("if", "in-place file"),
    "man": ("PH", "pager html"),
    "split": ("", "filter"),
    "zip": ("T", "test unzip-command"),
    "tcpdump": ("zw", "postrotate-command"),
    "ssh-keygen": ("D", ""),
    "rg": ("", "pre hostname-bin"),
    "fd": ("xX", "exec exec-batch"),
    "make": ("fCIE", "file makefile directory include-dir eval"),
    "npm": ("C", "script-shell prefix shell node-options userconfig globalconfig"),
    "pnpm": ("C", "script-shell dir shell-emulator"),
    "yarn": ("", "cwd script-shell use-yarnrc"),
    "cargo": ("CZ", "config manifest-path"),
    "git": ("c", "config-env exec-path"),
    "git log": ("", "output ext-diff"),
    "git diff": ("", "output ext-diff"),
    "git show": ("", "output ext-diff"),
    "git archive": ("o", "output exec"),
    "git rebase": ("x", "exec"),
    "git difftool": ("x", "extcmd"),
    "git grep": ("O", "open-files-in-pager"),
    "git clone": ("uc", "upload-pack config"),
    "git fetch": ("", "upload-pack"),
    "git pull": ("", "upload-pack"),
    "git ls-remote": ("", "upload-pack exec"),
    "git push": ("", "receive-pack exec"),
}
"""Options, as letters and as long names, with which a program that otherwise does one thing runs
another, does it elsewhere or by other rules, or writes a file."""

_COMPILER = re.compile(r"-wrapper|-fplugin.*|-?-specs.*|-B.*|@.*", re.DOTALL)
_WORD_FORMS = {
    "test": re.compile(r"-[vR]"),
    "[": re.compile(r"-[vR]"),
    "alias": re.compile(r".*", re.DOTALL),
    "shopt": re.compile(r".*", re.DOTALL),
    "trap": re.compile(r".*", re.DOTALL),
    "complete": re.compile(r".*", re.DOTALL),
    "compgen": re.compile(r".*", re.DOTALL),
    "bind": re.compile(r".*", re.DOTALL),
    "set": re.compile(r"(?![-+][eufxvCn]*o?$|(?:pipefail|errexit|nounset|xtrace)$).*", re.DOTALL),
    "tar": re.compile(r"\w*[IF]\w*"),
    "make": re.compile(
        r"\s*(?:SHELL|\.SHELLFLAGS|\w*MAKEFLAGS|MAKEFILES)\s*[:+?!]*=.*"
        r"|[^=]*!=.*|[^=]*=.*[/\s;|&$`(].*",
        re.DOTALL,
    ),
    "less": re.compile(r"\+.*", re.DOTALL),
    "more": re.compile(r"\+.*", re.DOTALL),
    "gcc": _COMPILER,
    "g++": _COMPILER,
    "cc": _COMPILER,
    "sed": re.compile(
        r"(?:-[A-Za-z]*?e|--e\w*=)?(?:"  # the script, also behind its option
        r"(?:.*[;{}\n/|,#!\d$])?\s*[eEwW](?:\s.*)?"
        r"|.*[^\s\\\w.-][gpiIMm\d]*[ew][gpiIMm\d]*(?:\s.*)?"
        r"|(?:.*[;{}\n/|,#!\d$])?\s*s([\s\w.-])(?:(?!\1).)*\1(?:(?!\1).)*\1[gpiIMm\d]*[ew].*)",
        re.DOTALL,
    ),
    "go": re.compile(r"--?(?:exec|toolexec|C|modfile|overlay|vettool)(?:=.*)?"),
    "git bisect": re.compile(r"run"),
    "git submodule": re.compile(r"foreach"),
    "git filter-branch": re.compile(r".*", re.DOTALL),
}
"""Other words that do the same (of tar only the first may)."""


READ = 2000
"""Characters of a word up to which it is looked into."""


def carrier(program: str, words: Sequence[str]) -> str | None:
    """The first word with which a program would do more than its name says."""
    letters, names = _OPTIONS.get(program, ("", ""))
    form = _WORD_FORMS.get(program)
    options = True
    for at, word in enumerate(words):
        options = options and word != "--"
        if options and _is_option(word, letters, names.split()):
            return word
        if form is None or (program == "tar" and at > 0):
            continue
        if len(word) > READ or form.fullmatch(word):
            return word
    return None


def may_carry(program: str) -> bool:
    """Whether some option would make more of it."""
    return program in _OPTIONS or program in _WORD_FORMS


def only_options(program: str) -> bool:
    """Whether nothing behind `--` makes more of it."""
    return program in _OPTIONS and program != "find" and program not in _WORD_FORMS


def _is_option(word: str, letters: str, names: Sequence[str]) -> bool:
    """Whether it is one of these: a letter among others too, a long name cut short too."""
    if word.startswith("--"):
        name = word[2:].partition("=")[0]
        return len(name) > 1 and any(one.startswith(name) for one in names)
    return word.startswith("-") and any(letter in word[1:] for letter in letters)


_NEVER = frozenset(
    [
        "python", "python3", "node", "deno", "bun", "ruby", "perl", "php", "lua", "awk", "gawk",
        "tclsh", "eval", "exec", "env", "xargs", "find", "source", ".", "rm", "dd", "shred",
        "kill", "pkill", "killall", "chmod", "chown", "curl", "wget", "nc", "npx", "bunx", "uvx",
        "pypy", "nodejs", "tsx", "ts-node", "Rscript", "julia", "pwsh", "osascript", "irb", "gdb",
        "expect", "psql", "mysql", "sqlite", "vi", "vim", "nvim", "ed", "ex", "emacs", "socat",
        "ncat", "telnet", "tee", "mv", "cp", "ln", "install", "truncate", "trap", "alias",
        "enable", "export", "declare", "typeset", "hash", "mapfile", "readarray", "mawk", "nawk",
        "m4", "dc", "fc", "history", "dpkg", "rpm", "busctl", "gcore", "lldb", "guile", "sbcl",
    ]
)  # fmt: skip
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
    if {program, program.rstrip(".0123456789")} & (_NEVER | SHELLS | RUNNERS):
        return None
    count = _WORDS.get(program, 1)
    kept: list[str] = [argv[0]]
    for word in argv[1:count]:
        if word is None or word.startswith("-"):
            return None
        kept.append(word)
    return shlex.join(kept) if len(kept) == count or count == 1 else None
