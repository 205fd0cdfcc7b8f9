"""What the daemon asks a person: permission for a tool, or a dialog; and how a line answers it.

Never waits and never prints: a question is a value. Standard library. Read next: talk.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from singletree.chat.link import Json, Object, part, pick, rows, text

DIFF_LINES = 40
SHORT = 76
SCOPE_KEYS = {"session": "a", "workspace": "w", "user": "u"}


@dataclass(frozen=True)
class Question:
    """A question. `choices` are the keys that answer it; `free`: any text does.

    `yes` and `no` are the answers given when nobody can be asked.
    """

    reply_to: Json
    request_id: str
    title: str
    lines: tuple[str, ...] = ()
    choices: dict[str, tuple[str, Object]] = field(default_factory=dict)
    free: bool = False
    yes: Object = field(default_factory=dict)
    no: Object = field(default_factory=dict)

    @property
    def prompt(self) -> tuple[str, ...]:
        """What can be answered: in one line, or one line each where that would be long."""
        keys = tuple(f"[{key}] {label}" for key, (label, _) in self.choices.items())
        line = " · ".join(keys) or "(type an answer; an empty line cancels)"
        return (line,) if len(line) <= SHORT else keys

    def is_named(self, reply_to: Json, request_id: str) -> bool:
        """Whether it is the one of this JSON-RPC id or of this request id."""
        return (reply_to is not None and reply_to == self.reply_to) or (
            bool(request_id) and request_id == self.request_id
        )

    def answer(self, line: str) -> Object | None:
        """The answer a line stands for; None where it is none."""
        words = line.strip()
        if words.lower() in self.choices:
            return self.choices[words.lower()][1]
        if self.free:
            return {"value": words} if words else self.no
        return None


def question(reply_to: Json, method: str, params: Object) -> Question | None:
    """What the daemon asks, as a question; None for what we do not know."""
    if method == "agent/permission/request":
        return _permission(reply_to, params)
    if method == "agent/ui/request":
        return _dialog(reply_to, params)
    return None


def _permission(reply_to: Json, params: Object) -> Question:
    choices: dict[str, tuple[str, Object]] = {}
    yes = no = cancelled()
    for option in rows(params, "options"):
        answer: Object = {"outcome": "selected", "optionId": option.get("id")}
        once = text(option, "scope") in ("once", "")
        if text(option, "kind") == "deny":
            key = "n" if once else "n" + SCOPE_KEYS.get(text(option, "scope"), "a")
            no = answer if once or no == cancelled() else no
        else:
            key = "y" if once else SCOPE_KEYS.get(text(option, "scope"), "a")
            yes = answer if once or yes == cancelled() else yes
        while key in choices:
            key = str(len(choices) + 1)
        choices[key] = (text(option, "label"), answer)
    choices.setdefault("n", ("No", no))
    lines = _about(text(params, "title"), part(params, "subject"))
    return Question(
        reply_to,
        text(params, "requestId"),
        text(params, "title"),
        tuple(line for line in (*lines, text(params, "reason")) if line),
        choices,
        yes=yes,
        no=no,
    )


def _about(title: str, subject: Object) -> list[str]:
    """What the title does not say: the whole command, where it runs, the diff, or the files."""
    command, cwd, paths = text(subject, "command"), text(subject, "cwd"), pick(subject, "paths")
    lines = [] if command in title else f"$ {command}".splitlines()
    lines += [f"in {cwd}"] if cwd else []
    diff = text(subject, "diff").splitlines()
    if len(diff) > DIFF_LINES:
        diff[DIFF_LINES:] = [f"… {len(diff) - DIFF_LINES} more lines"]
    if not diff and isinstance(paths, list):
        lines += [str(path) for path in paths if str(path) not in title]
    return lines + diff


def _dialog(reply_to: Json, params: Object) -> Question:
    choices: dict[str, tuple[str, Object]] = {}
    kind = text(params, "kind")
    if kind == "confirm":
        choices = {"y": ("Yes", {"value": True}), "n": ("No", {"value": False})}
    for option in rows(params, "options"):
        choices[str(len(choices) + 1)] = (text(option, "label"), {"value": option.get("value")})
    dismissed: Object = {"cancelled": True}
    return Question(
        reply_to,
        text(params, "requestId"),
        text(params, "title"),
        tuple(filter(None, [text(params, "message")])),
        choices,
        free=kind in ("input", "editor"),
        yes=choices["y"][1] if kind == "confirm" else dismissed,
        no=dismissed,
    )


def cancelled() -> Object:
    """Nobody answered, and that is a no."""
    return {"outcome": "cancelled"}
