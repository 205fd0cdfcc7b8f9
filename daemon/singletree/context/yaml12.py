"""YAML 1.2's core schema on top of PyYAML: JSON values only, a key twice is an error.

Tabs may stand between words, and tags of others are passed over: neither is worth losing a head.
Only frontmatter.py imports this, and only for a head it cannot read by itself. Never sees a file.
"""

from __future__ import annotations

import re
from collections.abc import Hashable

import yaml
from pydantic import JsonValue, TypeAdapter

_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


class _Loader(yaml.SafeLoader):
    """The safe loader with other ideas of what a plain word means.

    An alias stands for a word alone: lists of lists of aliases would grow without end.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """The next node."""
        again = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        if again and not isinstance(node, yaml.ScalarNode):
            raise yaml.MarkedYAMLError(problem="an alias of more than a word")
        return node

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, object]:
        """A mapping with text keys, each once."""
        seen: set[str] = set()
        for key_node, _ in node.value:
            key = key_node.value
            if not isinstance(key, str) or key in seen:
                raise yaml.MarkedYAMLError(
                    problem="bad or repeated key", problem_mark=node.start_mark
                )
            seen.add(key)
        made = super().construct_mapping(node, deep=True)
        return {
            str(key_node.value): made[self.construct_object(key_node)] for key_node, _ in node.value
        }

    def scan_to_next_token(self) -> None:
        """To where a token begins; a tab counts as a blank but where lines are indented."""
        super().scan_to_next_token()
        while self.peek() == "\t" and (self.flow_level or not self.allow_simple_key):
            self.forward()
            super().scan_to_next_token()

    def scan_plain_spaces(self, indent: int, start_mark: yaml.Mark) -> list[str] | None:
        """What stands between two words, tabs too."""
        length = 0
        while self.peek(length) in " \t":
            length += 1
        gap = self.prefix(length)
        if "\t" in gap:
            self.forward(length)
            if self.peek() not in _LINE_ENDS:
                return [gap]
        return super().scan_plain_spaces(indent, start_mark)


_LINE_ENDS = "\r\n\x85\u2028\u2029"
_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("null", r"~|null|Null|NULL|", "~nN"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), [*_first, ""]
    )


def _boolean(loader: _Loader, node: yaml.ScalarNode) -> bool:
    return str(loader.construct_scalar(node)).lower() == "true"


def _integer(loader: _Loader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, 0) if text.startswith(("0o", "0x")) else int(text)


def _as_it_stands(loader: _Loader, node: yaml.Node) -> object:
    match node:
        case yaml.MappingNode():
            return loader.construct_mapping(node)
        case yaml.SequenceNode():
            return loader.construct_sequence(node, deep=True)
        case _:
            return node.value


_CORE = ("null", "float", "str", "seq", "map")
_Loader.yaml_constructors = {
    tag: made
    for tag, made in yaml.SafeLoader.yaml_constructors.items()
    if tag in [f"tag:yaml.org,2002:{name}" for name in _CORE]
}
_Loader.add_constructor("tag:yaml.org,2002:bool", _boolean)
_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
_Loader.add_constructor(None, _as_it_stands)


def load(text: str) -> JsonValue:
    """The value of a document; yaml.YAMLError or ValueError where it is none."""
    return _JSON.validate_python(yaml.load(text, Loader=_Loader))
