"""The head of a markdown file: YAML between two lines of dashes, then the body.

Plain `key: value` heads are read here; anything else is left to a YAML library, which is loaded
only then. YAML 1.2: only true and false are booleans, dates are text. Read next: skills.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from pydantic import JsonValue

BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Document:
    """What the head says, and the text below it."""

    head: JsonValue
    body: str

    @property
    def data(self) -> Mapping[str, JsonValue]:
        """The head's words; a head that is no mapping has none."""
        return self.head if isinstance(self.head, dict) else {}


class BadHead(ValueError):
    """The head is no YAML; the message says where."""


@lru_cache(maxsize=512)
def parse(text: str) -> Document:
    """A file's head and body. Without a head the body is the text as it is; raises BadHead."""
    text = text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n")
    end = text.find("\n---", 3) if text.startswith("---") else -1
    if end < 0:
        return Document({}, text)
    head, body = text[4:end], text[end + 4 :].strip()
    plain = _plain(head)
    return Document(_yaml(head) if plain is None else plain, body)


_LINE = re.compile(r"(?P<key>[A-Za-z][\w-]*): +(?P<value>[A-Za-z(](?:[^\s:#]|:(?=\S)|(?<!\s)#| )*)")
_WORDS = re.compile(r"(?i:true|false|null)")


def _plain(head: str) -> dict[str, JsonValue] | None:
    """The head if every line is `key: words`; None where it takes more to read it."""
    data: dict[str, JsonValue] = {}
    for line in head.split("\n"):
        found = _LINE.fullmatch(line)
        if found is None or found["key"] in data or not line.isascii():
            return None
        value = found["value"].rstrip()
        if _WORDS.fullmatch(value) or _WORDS.fullmatch(found["key"]):
            return None
        data[found["key"]] = value
    return data


def _yaml(head: str) -> JsonValue:
    import yaml

    from singletree.context import yaml12

    try:
        value = yaml12.load(f"{head}\n")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadHead(" ".join(str(error).split())) from error
    return {} if value is None else value
