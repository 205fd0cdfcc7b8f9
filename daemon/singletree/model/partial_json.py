"""Tool arguments as JSON that is still coming, or came with small faults.

`PartialJson` grows with each piece and can be read at any moment; `parse_arguments` reads the whole
text at its end. Never guesses structure: it allows raw line breaks and wrong escapes in strings,
nothing else. Read next: draft.py, which uses both.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress

from pydantic import JsonValue

from singletree.jsontext import DEPTH, finite, is_deep, refuse
from singletree.messages import well_formed

CUT = "The arguments were cut off before their end."
NOT_JSON = "The arguments are not valid JSON."
NOT_OBJECT = "The arguments are not a JSON object."
TOO_DEEP = f"The arguments are nested more than {DEPTH} levels deep."

_STRAY = re.compile(r'\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4})|(.?))', re.DOTALL)
_SPACE = " \t\n\r"


def repair_json(text: str) -> JsonValue:
    """The value of a JSON text; raw control characters and wrong escapes in strings are allowed.

    Raises ValueError for anything else that is no JSON.
    """
    try:
        return _loads(text)
    except ValueError:
        return _loads(_STRAY.sub(_escape, text))


def parse_arguments(text: str) -> tuple[dict[str, JsonValue], str | None]:
    """The arguments of a call, and why they could not be read (then they are empty)."""
    if not text.strip():
        return {}, None
    try:
        value = repair_json(text)
        if isinstance(value, str):  # some servers put the object into a string once more
            value = repair_json(value)
    except (ValueError, RecursionError) as error:
        why = TOO_DEEP if isinstance(error, RecursionError) else NOT_JSON
        return {}, CUT if _unclosed(text) else why
    if not isinstance(value, dict):
        return {}, NOT_OBJECT
    if is_deep(value):
        return {}, TOO_DEEP
    if "\\u" in text:
        value = {well_formed(key): _clean(item) for key, item in value.items()}
    return value, None


def read_call(text: str) -> tuple[dict[str, JsonValue], str | None]:
    """As `parse_arguments`; of cut arguments, what could be read.

    Asked again and again while a call streams: a cut text is read once, and never mended first.
    """
    partial = PartialJson()
    partial.feed(text)
    if not (partial.begun and partial.open):
        return parse_arguments(text)
    value = {} if is_deep(partial.value) else partial.value
    return {well_formed(key): _clean(item) for key, item in value.items()}, CUT


def _loads(text: str) -> JsonValue:
    value: JsonValue = json.loads(text, strict=False, parse_float=finite, parse_constant=refuse)
    return value


def _escape(match: re.Match[str]) -> str:
    return match[0] if match[1] or match[2] else "\\\\" + (match[3] or "")


def _clean(value: JsonValue) -> JsonValue:
    """Without lone surrogates, which can be neither stored nor sent."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): _clean(item) for key, item in value.items()}
    return value


def _unclosed(text: str) -> bool:
    partial = PartialJson()
    partial.feed(text)
    return partial.begun and partial.open


class PartialJson:
    """An object that is still being written. `value` may be read after every piece.

    A string counts from its opening quote on, a word (`tru`) from its first letter, a number while
    it is one (of `1e` the 1); a key counts when its value has begun.
    """

    def __init__(self) -> None:
        self._value: dict[str, JsonValue] = {}
        self._stack: list[_Container] = []
        self._begun = False
        self._closed = False
        self._token = ""
        """A string without its opening quote, or a number or word, as far as it came."""
        self._kind = ""
        self._pieces: list[str] = []

    @property
    def value(self) -> dict[str, JsonValue]:
        """The object as far as it came; the same one again and again, growing."""
        if self._kind == '"' and self._stack:
            self._stack[-1].show("".join(self._pieces))
        return self._value

    @property
    def open(self) -> bool:
        """Whether more must come."""
        return not self._closed

    @property
    def begun(self) -> bool:
        """Whether there is an object at all, or a list."""
        return self._begun

    def feed(self, text: str) -> None:
        """Take the next piece."""
        at = 0
        while at < len(text) and not self._closed:
            at = self._string(text, at) if self._kind == '"' else self._step(text, at)
        if self._kind == "w" and self._stack:
            self._stack[-1].show_word(self._token)

    def _step(self, text: str, at: int) -> int:
        char = text[at]
        if self._kind == "w":
            if char not in ",]}:" and char not in _SPACE:
                self._token += char
                return at + 1
            self._end_word()
        if char in _SPACE or char in ",:":
            self._separate(char)
        elif char in "{[":
            self._enter(char)
        elif char in "}]":
            self._leave()
        elif self._begun:
            self._kind, self._token, self._pieces = ('"' if char == '"' else "w"), "", []
            if char != '"':
                self._token = char
        return at + 1

    def _separate(self, char: str) -> None:
        if self._stack and char in ",:":
            self._stack[-1].separate(char)

    def _enter(self, char: str) -> None:
        new: dict[str, JsonValue] | list[JsonValue] = {} if char == "{" else []
        if self._stack:
            self._stack[-1].put(new)
        elif isinstance(new, dict) and not self._begun:
            self._value = new
        self._begun = True
        self._stack.append(_Container(new))

    def _leave(self) -> None:
        if self._stack:
            self._stack.pop()
        self._closed = not self._stack and self._begun

    def _string(self, text: str, at: int) -> int:
        """Read on in a string from `at`; `_token` holds an escape that is not whole yet."""
        if self._token:
            return self._escape(text, at)
        end = _RUN.match(text, at)
        assert end is not None
        if end.end() > at:
            self._pieces.append(_unescaped(end[0]))
        at = end.end()
        if at == len(text):
            return at
        if text[at] == '"':
            self._kind = ""
            if self._stack:
                self._stack[-1].put_string(join_pairs("".join(self._pieces)))
            return at + 1
        self._token = "\\"
        return at + 1

    def _escape(self, text: str, at: int) -> int:
        self._token += text[at]
        whole = _WHOLE.match(self._token)
        if whole is not None:
            self._pieces.append(_SIMPLE.get(self._token[1], "") or chr(int(self._token[2:], 16)))
            self._token = ""
        elif not _COMING.match(self._token):
            self._pieces.append(self._token)
            self._token = ""
            if text[at] in '"\\':  # it ends the string or begins another escape
                self._pieces[-1] = self._pieces[-1][:-1]
                return at
        return at + 1

    def _end_word(self) -> None:
        if self._stack:
            self._stack[-1].show_word(self._token, whole=True)
            self._stack[-1].done()
        self._kind = ""


_RUN = re.compile(r'[^"\\]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*+)*+')
"""Text of a string with its whole escapes, as far as none is wrong or cut."""
_WHOLE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})$')
_COMING = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")
_SIMPLE = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_EXPONENT = re.compile(r"(?<=\d)[eE][+-]?$")
"""One that has no digits yet."""
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_MAX_DIGITS = 300


def _unescaped(run: str) -> str:
    """What a run says."""
    if "\\" not in run:
        return run
    text: str = json.loads(f'"{run}"', strict=False)
    return text


def join_pairs(text: str) -> str:
    """The text with surrogate pairs made one character."""
    if text.isascii():
        return text
    return _PAIR.sub(lambda m: m[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)


class _Container:
    """An object or list that is open, and where its next value goes."""

    def __init__(self, value: dict[str, JsonValue] | list[JsonValue]) -> None:
        self._value = value
        self._key: str | None = None
        self._colon = False
        self._shown = False

    def separate(self, char: str) -> None:
        if char == ":":
            self._colon = True
        else:
            self.done()

    def done(self) -> None:
        """The value is whole; the next one is another."""
        self._shown = False
        if self._colon:
            self._key, self._colon = None, False

    def put(self, item: JsonValue) -> None:
        self.show(item)
        self.done()

    def put_string(self, text: str) -> None:
        if isinstance(self._value, dict) and not self._colon:
            self._key = text
        else:
            self.put(text)

    def show(self, item: JsonValue) -> None:
        """Place a value that may still grow."""
        if isinstance(item, str):
            item = join_pairs(item)
        if isinstance(self._value, list):
            if self._shown:
                self._value[-1] = item
            else:
                self._value.append(item)
            self._shown = True
        elif self._key is not None and self._colon:
            self._value[self._key] = item

    def show_word(self, word: str, whole: bool = False) -> None:
        """Place a number or a literal if what there is of it means something, else nothing."""
        for literal, meaning in (("true", True), ("false", False), ("null", None)):
            if word == literal or (literal.startswith(word) and not whole):
                self.show(meaning)
                return
        if not whole:
            word = _EXPONENT.sub("", word)
        match = _NUMBER.fullmatch(word)
        if match and len(word) < _MAX_DIGITS:
            with suppress(ValueError):  # too large
                self.show(float_or_int(word, bool(match[1] or match[2])))
                return
        self._hide()

    def _hide(self) -> None:
        """Take a value away that meant something before it went on."""
        if isinstance(self._value, list):
            if self._shown:
                self._value.pop()
            self._shown = False
        elif self._key is not None and self._colon:
            self._value.pop(self._key, None)


def float_or_int(word: str, fraction: bool) -> int | float:
    """The number as JSON means it; 1e3 is the integer 1000, as in JavaScript."""
    if not fraction:
        return int(word)
    number = finite(word)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
