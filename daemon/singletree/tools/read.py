"""The tool read: lines of a text, or a picture; a binary file is told, never dumped.

The file comes in pieces and is never held whole, except a picture. Never opens a file by itself, so
unsaved text of an editor is read as it stands there. Read next: window.py (which lines), images.py
(pictures), binary.py (what is no text).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from functools import partial

from anyio import to_thread
from pydantic import Field, JsonValue

from singletree.agent.tool import Args, Tool, ToolOutput, ToolRun, typed
from singletree.errors import ToolError
from singletree.messages import Text
from singletree.tools.binary import HEAD, binary_kind
from singletree.tools.images import picture_type
from singletree.tools.looks import shown_name
from singletree.tools.paths import locate, missing, trouble
from singletree.tools.pictures import MAX_PICTURE, show_picture
from singletree.tools.shapes import path_shape
from singletree.tools.shrink import Shrink, pillow
from singletree.tools.truncate import MAX_BYTES, MAX_LINES, details_of, format_size, plural
from singletree.tools.window import Seen, Window
from singletree.tools.world import Content, Stat, World

DESCRIPTION = (
    f"Read a file: text, or a picture (PNG, JPEG, GIF, WebP). At most {MAX_LINES} lines or"
    f" {format_size(MAX_BYTES)} come at once; go on with offset."
)
SNIPPET = "Read a text file or a picture"
GUIDELINES = ("Use read to look into files, not cat or sed.",)
PATH = "The file: relative to the workspace, or absolute"
OFFSET = "First line to read, counted from 1"
LIMIT = "How many lines to read"

MOST = 1_000_000
"""Lines; no more than MAX_LINES of them are shown."""

EMPTY = "[The file is empty.]"
AT_END = "[Nothing more: {path} ends after line {total}.]"
BEYOND_END = "offset {offset} is beyond the end: {path} has {lines}."
MORE = "[{more} more in the file. Go on with offset={next}.]"
CUT = "[Lines {first}-{last} of {total} are shown, cut at {limit}. Go on with offset={next}.]"
LONG_LINE = (
    "[Line {line} of {total} has {size}: its first {part} are shown. For the rest of it, search it"
    " with grep or cut it with a command.{next}]"
)
NEXT_LINE = " The next line is offset={next}."
FOREIGN = (
    "[Not UTF-8: bytes that are not text are shown as \ufffd; an edit leaves them as they are.]"
)
DRAWN = "[Control characters are shown as pictures, for example \u241b for escape.]"
UNSAVED = "[This is the unsaved text in the editor. Commands still see the file as last saved.]"

FOLDER = "{path} is a folder. List it with ls."
NOT_PLAIN = "{path} is not a plain file: it is a device, a pipe or a socket."
BINARY = "[{path} is not text: {kind}, {size}. Its bytes are not shown.]"
UTF_16 = "[{path} is {kind}, {size}. It is not shown; iconv can turn it into UTF-8.]"


class ReadArgs(Args):
    """What read takes."""

    path: str = Field(description=PATH)
    offset: int | None = Field(default=None, description=OFFSET)
    limit: int | None = Field(default=None, description=LIMIT)


def read_tool(world: World, shrink: Shrink | None = None) -> Tool:
    """The tool. `shrink` makes pictures smaller; Pillow's if it is installed."""
    shrinking = shrink or pillow()

    async def run(args: ReadArgs, tool_run: ToolRun) -> ToolOutput:
        try:
            async with world.files.opened(world.resolve(args.path)) as content:
                if content is not None:
                    return await _shown(args, content, "", shrinking)
            place = await locate(world, args.path)
            async with world.files.opened(place.path) as content:
                if content is not None:
                    return await _shown(args, content, place.note, shrinking)
            raise await missing(world, args.path, place.path)
        except OSError as error:
            raise trouble(args.path, error) from error

    return Tool(
        "read",
        "Read",
        "read",
        DESCRIPTION,
        ReadArgs,
        typed(ReadArgs, run),
        SNIPPET,
        GUIDELINES,
        prepare=path_shape,
    )


async def _shown(
    args: ReadArgs, content: Content, note: str, shrinking: Shrink | None
) -> ToolOutput:
    """What a file is, shown; `note` is said as well."""
    _check_plain(args.path, content.stat)
    head = await _head(content.pieces)
    kind, size = binary_kind(head), content.stat.size
    if picture_type(head) is not None and kind is not None:
        data = await _whole(head, content.pieces)
        name = shown_name(args.path)
        show = partial(show_picture, name, data, size, shrinking)
        return _with(note, await to_thread.run_sync(show, abandon_on_cancel=True))
    if kind is not None:
        return _with(note, _binary(args.path, size, kind))
    unsaved = UNSAVED if content.stat.dirty else ""
    return _lines(args, await _look(args, head, content.pieces), (unsaved, note))


async def _head(pieces: AsyncIterator[bytes]) -> bytes:
    """The first pieces, long enough together to tell what the file is."""
    head = b""
    while len(head) < HEAD and (piece := await anext(pieces, b"")):
        head += piece
    return head


async def _whole(head: bytes, pieces: AsyncIterator[bytes]) -> bytes:
    """A picture's bytes, but no more than anybody would show."""
    data = bytearray(head)
    async for piece in pieces:
        data += piece
        if len(data) > MAX_PICTURE:
            break
    return bytes(data)


async def _look(args: ReadArgs, head: bytes, pieces: AsyncIterator[bytes]) -> Seen:
    limit = min(args.limit, MOST) if args.limit is not None and args.limit > 0 else None
    window = Window(_first(args), limit)
    window.feed(head)
    async for piece in pieces:
        window.feed(piece)
    return window.look()


def _check_plain(text: str, stat: Stat) -> None:
    if stat.kind == "dir":
        raise ToolError(FOLDER.format(path=shown_name(text or ".")))
    if stat.kind != "file":
        raise ToolError(NOT_PLAIN.format(path=shown_name(text)))


def _first(args: ReadArgs) -> int:
    return max(args.offset or 1, 1)


def _lines(args: ReadArgs, seen: Seen, more: Iterable[str]) -> ToolOutput:
    """The lines and what is to be said about them."""
    path, first, cut = shown_name(args.path), _first(args), seen.cut
    after_last = seen.total_lines + (1 if seen.ends_with_newline or not seen.total_lines else 0)
    if first > after_last:
        lines = plural(seen.total_lines, "line")
        raise ToolError(BEYOND_END.format(offset=first, path=path, lines=lines))
    notes = []
    if not seen.total_bytes:
        notes.append(EMPTY)
    elif first > seen.total_lines:
        notes.append(AT_END.format(path=path, total=seen.total_lines))
    elif note := _rest(seen):
        notes.append(note)
    notes += [FOREIGN] if seen.foreign else []
    notes += [DRAWN] if seen.drawn else []
    notes += filter(None, more)
    details: JsonValue = {"truncation": details_of(cut)} if cut.by else None
    said = "\n".join(notes)
    body = cut.text.removesuffix("\n") if cut.last >= seen.total_lines else cut.text
    text = f"{body}\n\n{said}" if cut.text and notes else cut.text or said
    return ToolOutput.text(text, details=details)


def _rest(seen: Seen) -> str:
    """What is not shown and how to go on; "" if this was the last."""
    cut, total = seen.cut, seen.total_lines
    following = cut.last + 1
    if cut.partial:
        return LONG_LINE.format(
            line=cut.first,
            total=total,
            size=format_size(seen.long_line),
            part=format_size(len(cut.text.encode())),
            next=NEXT_LINE.format(next=following) if following <= total else "",
        )
    if cut.by is not None:
        limit = f"{MAX_LINES} lines" if cut.by == "lines" else format_size(MAX_BYTES)
        return CUT.format(first=cut.first, last=cut.last, total=total, limit=limit, next=following)
    more = total - cut.last
    return MORE.format(more=plural(more, "line"), next=following) if more > 0 else ""


def _binary(text: str, size: int, kind: str) -> ToolOutput:
    form = UTF_16 if "UTF" in kind else BINARY
    said = form.format(path=shown_name(text), kind=kind, size=format_size(size))
    return ToolOutput.text(said)


def _with(note: str, output: ToolOutput) -> ToolOutput:
    return replace(output, content=(*output.content, Text(text=note))) if note else output
