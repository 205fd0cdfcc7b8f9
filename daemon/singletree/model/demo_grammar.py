"""The sentences the demo model knows: a pattern each, and what it does with its words.

Where words leave two readings, a step holds both and the second is tried if the first fails. Never
calls a tool, never looks at a file. Read next: demo.py, demo_answer.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from singletree.model.demo_phrases import (
    MARK,
    NAMES,
    Quotes,
    bare,
    is_name,
    is_pathlike,
    paths,
    place,
    several,
    value,
)


@dataclass(frozen=True, slots=True)
class Try:
    """A tool call that may be what was meant."""

    tool: str
    args: Mapping[str, JsonValue]


LONGEST = 2000
"""More characters than this are no plain request."""
Step = tuple[Try, ...]
"""One thing to do: what to try, one after the other until it works."""


def understand(text: str) -> list[Step]:
    """The steps asked for, in order; none where nothing was understood."""
    if len(text) > LONGEST:
        return []
    quotes = Quotes()
    plain = re.sub(r"[^\S\n]+", " ", quotes.hide(text.strip()))
    steps: list[Step] = []
    for clause in _clauses(plain):
        found = _clause(clause, quotes)
        if not found and steps:
            continue  # "... and tell me what it says": the answer does that anyway
        if not found:
            return []
        steps.extend(found)
    return steps


def _clauses(plain: str) -> Iterator[str]:
    for line in plain.splitlines():
        for part in _THEN.split(line):
            clause = _POLITE.sub("", part.strip())
            clause = _TAIL.sub("", clause).strip()
            if clause:
                yield clause


_THEN = re.compile(
    r"(?:\s*[,;.]\s*|\s+)(?:and\s+)?then\s+|\s*;\s+|\s*,?\s+and\s+(?=(?:tell|say|explain|summar"
    r"|describe|give"
    r"|show|read|open|list|run|execute|find|search|grep|look|change|replace|create|write)\b)",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"^(?:(?:hey|hi|hello|ok|okay|now|so|please|pls|kindly|first|next|finally|also|and"
    r"|then)\b[\s,!.:]*"
    r"|(?:can|could|would|will) you\b\s*|(?:i(?:'d| would) like you to|i want you to|let'?s|"
    r"i want to|i'd like to|help me(?: to)?|try to|go ahead and)\s+)+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[\s,]+(?:please|pls|for me|thanks|thank you|now|again|if you can))+[\s.!?]*$|[\s?!]+$",
    re.IGNORECASE,
)


def _clause(clause: str, quotes: Quotes) -> list[Step]:
    for pattern, make in _GRAMMAR:
        match = pattern.match(clause)
        if match:
            steps = make({k: v or "" for k, v in match.groupdict().items()}, quotes)
            if steps:
                return steps
    return []


Groups = Mapping[str, str]


def _change(found: Groups, quotes: Quotes) -> list[Step]:
    path, old, new = (value(found[k], quotes) for k in ("path", "old", "new"))
    path = bare(path)
    if not path or not old:
        return []
    return [(Try("edit", {"path": path, "edits": [{"oldText": old, "newText": new}]}),)]


def _write(found: Groups, quotes: Quotes) -> list[Step]:
    path = bare(value(found["path"], quotes))
    text = value(found.get("text", ""), quotes)
    if not path or not (is_pathlike(path) or quotes.only(found["path"])):
        return []
    return [(Try("write", {"path": path, "content": text + "\n" if text else ""}),)]


def _run(found: Groups, quotes: Quotes) -> list[Step]:
    given = found["command"].strip()
    command = quotes.only(given) or quotes.back(given).rstrip(".")
    if re.match(r"(?:the|my|our|all|some|every|this|that|it)\b", command, re.IGNORECASE):
        return []
    return [(Try("bash", {"command": command}),)]


def _read(found: Groups, quotes: Quotes) -> list[Step]:
    span: dict[str, JsonValue] = {}
    if found.get("first"):
        span = {"limit": int(found["first"])}
    elif found.get("from"):
        start = int(found["from"])
        span = {"offset": start, "limit": max(1, int(found["to"] or start) - start + 1)}
    steps = []
    for phrase in several(found["path"]):
        readings = [p for p in paths(phrase, quotes) if p]
        tries = [Try("ls" if p.endswith("/") else "read", {"path": p, **span}) for p in readings]
        if readings and readings[0] in NAMES:
            tries.insert(1, Try("read", {"path": readings[0] + ".md", **span}))
        if tries:
            steps.append(tuple(tries))
    return steps


def _show(found: Groups, quotes: Quotes) -> list[Step]:
    """Weaker words than "read": they count only where a path follows."""
    named = value(found["path"], quotes)
    quoted = MARK.search(found["path"])
    return _read(found, quotes) if quoted or any(map(is_pathlike, named.split())) else []


def _list(found: Groups, quotes: Quotes) -> list[Step]:
    where = place(found.get("path", ""), quotes)
    return [(Try("ls", {"path": where} if where else {}),)]


def _look(found: Groups, quotes: Quotes) -> list[Step]:
    """ "what's in x": a folder or a file, whichever it is."""
    where = place(found["path"], quotes)
    if not where:
        return _list(found, quotes)
    folder, file = Try("ls", {"path": where}), Try("read", {"path": where})
    return [(file, folder) if is_name(where) else (folder, file)]


def _search(found: Groups, quotes: Quotes) -> list[Step]:
    quoted = quotes.only(found["what"])
    what = quoted if quoted is not None else _WHAT.sub("", quotes.show(found["what"])).strip(" .,")
    where = place(found.get("path", ""), quotes)
    if not what:
        return []
    plain = quoted is None or _GLOB.search(quoted)
    by_name = found.get("files") or (plain and not found.get("text") and is_name(what))
    if by_name:
        args: dict[str, JsonValue] = {"pattern": _KINDS.get(what.lower(), what)}
        return [(Try("find", args | ({"path": where} if where else {})),)]
    regex = re.fullmatch(r"/(.+)/", what)
    what = _NOTES.sub(r"\1", what)
    args = {"pattern": regex[1]} if regex else {"pattern": what, "literal": True}
    return [(Try("grep", args | ({"path": where} if where else {})),)]


_GLOB = re.compile(r"\*\.\w")
_NOTES = re.compile(r"^(TODO|FIXME|XXX)s$", re.IGNORECASE)


_WHAT = re.compile(
    r"^(?:(?:for|all|any|every|the|a|an|word|text|string|occurrences?|uses?|mentions?|places?"
    r"|lines?"
    r"|of|with|containing|where)\s+)+",
    re.IGNORECASE,
)
_KINDS = {
    "python": "*.py",
    "markdown": "*.md",
    "javascript": "*.js",
    "typescript": "*.ts",
    "lua": "*.lua",
    "rust": "*.rs",
    "go": "*.go",
    "c": "*.c",
    "java": "*.java",
    "json": "*.json",
    "toml": "*.toml",
    "yaml": "*.y*ml",
    "html": "*.html",
    "css": "*.css",
    "test": "*test*",
    "text": "*.txt",
    "shell": "*.sh",
}


_VERB = r"(?:change|replace|rename|turn|swap|substitute|edit|modify|update)"
_TO = r"(?:to|with|by|into|for|->|→|=>)"
_IN = r"(?:\s+(?:in|under|inside|within|from|below|of|through|across)\s+(?P<path>.+))?"
_SPAN = (
    r"(?:(?:the\s+)?first\s+(?P<first>\d+)\s+lines?\s+(?:of|from|in)\s+"
    r"|lines?\s+(?P<from>\d+)(?:\s*(?:-|–|to|until|through)\s*(?P<to>\d+))?\s+(?:of|from|in)\s+)?"
)


def _rule(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


_GRAMMAR: tuple[tuple[re.Pattern[str], Callable[[Groups, Quotes], list[Step]]], ...] = (
    (_rule(r"[!$]\s*(?P<command>.+)$"), _run),
    (
        _rule(
            rf"in\s+(?P<path>.+?),?\s+(?:please\s+)?{_VERB}\s+(?P<old>.+?)\s+{_TO}\s+(?P<new>.*)$"
        ),
        _change,
    ),
    (
        _rule(rf"{_VERB}\s+(?P<old>.+?)\s+{_TO}\s+(?P<new>.+)\s+in\s+(?P<path>.+?)\.?$"),
        _change,
    ),
    (_rule(rf"{_VERB}\s+(?P<path>\S+?):?\s+(?P<old>\S+)\s+{_TO}\s+(?P<new>\S+)$"), _change),
    (_rule(r"(?P<path>\S+?):?\s+(?P<old>\S+)\s+(?:->|→|=>)\s+(?P<new>\S+)$"), _change),
    (
        _rule(
            r"(?:create|make|write|add|save)\s+(?:an?\s+|the\s+)?(?:new\s+|empty\s+)*(?:file\s+)?"
            r"(?:named\s+|called\s+)?(?P<path>\S+?)(?:\s*:\s+|\s+(?:with|containing|saying"
            r"|that says)"
            r"\s+(?:the\s+)?(?:(?:text|contents?|line|words?)\s+)?)(?P<text>.+)$"
        ),
        _write,
    ),
    (
        _rule(r"(?:write|put|save)\s+(?P<text>.+?)\s+(?:to|into|in)\s+(?P<path>.+?)\.?$"),
        _write,
    ),
    (
        _rule(
            r"(?:create|make|touch)\s+(?:an?\s+)?(?:new\s+|empty\s+)*(?:file\s+)?"
            r"(?:named\s+|called\s+)?(?P<path>\S+)$"
        ),
        _write,
    ),
    (
        _rule(
            r"(?:run|execute|exec|invoke)\b\s*:?\s*(?:(?:the\s+)?(?:shell\s+)?"
            r"(?:command|script)\s*:?\s+)?(?P<command>.+)$"
        ),
        _run,
    ),
    (
        _rule(
            r"(?P<command>(?:git|make|python3?|pip|npm|npx|node|cargo|go|pytest|uv|docker|echo|pwd"
            r"|whoami|date|uname|wc|head|tail|sed|awk|tree|du|df|ps|which|env|mkdir|mv|cp|rm)"
            r"(?:\s+.*)?|ls\s+-.*)$"
        ),
        _run,
    ),
    (_rule(r"(?:ls|dir)(?:\s+(?P<path>.+))?$"), _list),
    (
        _rule(
            r"(?:list|show|see|display|give|what|which)\s*(?:me\s+)?(?:'s\s+|is\s+|are"
            r"\s+)?(?:all\s+|the\s+"
            r"|of\s+|my\s+)*(?:files|folders?|directory|directories|entries|contents?|everything)\b"
            r"(?:\s+and\s+(?:folders|files|directories))?(?:\s+(?:are|is|exist|do (?:you|we"
            r"|i) have)"
            r"(?:\s+there)?)?(?:\s*(?:in|of|under|inside|from)?\s+(?P<path>[^.]\S*(?:\s+\S+)*"
            r"|\.\S+))?\.?$"
        ),
        lambda found, quotes: (
            []
            if any(map(is_name, quotes.show(found["path"]).split()[-1:]))
            else _list(found, quotes)
        ),
    ),
    (_rule(r"(?:list|ls)\b(?:\s+(?:me\s+)?(?P<path>.+))?$"), _list),
    (
        _rule(
            r"what(?:'s|’s| is| do (?:you|we|i) have)\s+(?P<path>here|(?:in|inside|under)\s+.+)$"
        ),
        _look,
    ),
    (
        _rule(
            r"(?:find|list|locate|search for|look for|which|where are|where is|where's)"
            r"\s+(?:me\s+)?"
            r"(?:all\s+|the\s+|any\s+)*(?P<files>files?)\s+(?:are\s+)?(?:named|called|matching"
            r"|like|"
            rf"with the name|that match)\s+(?P<what>.+?){_IN}$"
        ),
        _search,
    ),
    (
        _rule(
            r"(?:find|list|locate|search for|look for|show|where are)\s+(?:me\s+)?(?:all\s+"
            r"|the\s+|any\s+"
            rf"|every\s+)*(?P<what>\w+)\s+(?P<files>files?){_IN}$"
        ),
        lambda found, quotes: _search(found, quotes) if found["what"].lower() in _KINDS else [],
    ),
    (
        _rule(r"(?:grep|rg)\s+(?P<what>\x00\d+\x00|\S+)(?:\s+(?:in\s+)?(?P<path>.+))?(?P<text>)$"),
        _search,
    ),
    (
        _rule(r"(?:search|look)\s+(?:in\s+)?(?P<path>\S+)\s+for\s+(?P<what>.+)$"),
        _search,
    ),
    (
        _rule(rf"(?:find|search(?:\s+for)?|look\s+for|locate)\s+(?P<what>.+?){_IN}$"),
        _search,
    ),
    (
        _rule(
            r"(?:where|in which files?)\s+(?:is|are|do (?:we|i|you)|does)\s+(?:the"
            r"\s+)?(?P<what>.+?)"
            r"(?:\s+(?:used|defined|called|mentioned|written|declared|set|live|appear|occur))?"
            rf"{_IN}$"
        ),
        _search,
    ),
    (
        _rule(
            r"(?:read|cat|open|view|print|type|less|more|display|load|summari[sz]e|explain"
            r"|describe)\s+"
            rf"{_SPAN}(?P<path>.+)$"
        ),
        _read,
    ),
    (
        _rule(
            r"(?:show|see|give|tell|check|look at|take a look at|have a look at|what(?:'s|’s| is"
            r"| does)"
            rf"|how (?:long|big) is|how many lines (?:has|are in|are there in|does)|inspect"
            rf"|review)\s+(?:me\s+)?(?:about\s+)?{_SPAN}(?P<path>.+)$"
        ),
        _show,
    ),
    (_rule(r"(?P<path>\S+)$"), _show),
)
