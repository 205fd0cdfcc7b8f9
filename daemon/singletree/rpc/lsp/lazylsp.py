"""Makes lsprotocol cheap to import: each of its 554 classes is built when it is first used.

`attrs.define` is postponed while `lsprotocol.types` is imported, and only then; this saves most of
the import's time and memory. Two details of lsprotocol are relied on, so the result is checked, and
on any surprise the plain import is done instead. SINGLETREE_LAZY_LSP=0 switches it off. Never knows
a connection's business; `open_language` is where the LSP half of a connection comes from.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from singletree.rpc.lsp.language import AgentServer
    from singletree.rpc.peer import Peer

log = logging.getLogger(__name__)

_lock = threading.RLock()


def open_language(
    register: Callable[[AgentServer], None],
) -> Callable[[Peer], Awaitable[AgentServer]]:
    """How a door opens the LSP half of a connection: imported in a thread, then registered."""

    async def opened(peer: Peer) -> AgentServer:
        await asyncio.to_thread(import_language)
        from singletree.rpc.lsp.language import AgentServer

        server = AgentServer(peer)
        register(server)
        server.protocol.start(peer.client.params)
        return server

    return opened


def import_language() -> None:
    """Import pygls and lsprotocol; slow the first time."""
    with _lock:
        install()
        importlib.import_module("singletree.rpc.lsp.language").warm()


def install() -> bool:
    """Import lsprotocol with postponed classes; whether that was done."""
    if "lsprotocol.types" in sys.modules or os.environ.get("SINGLETREE_LAZY_LSP") == "0":
        return False
    try:
        _import_postponed()
        _check()
    except Exception:
        log.warning("lsprotocol is not as expected; it is imported plainly", exc_info=True)
        for name in [n for n in sys.modules if n.partition(".")[0] == "lsprotocol"]:
            del sys.modules[name]
        return False
    return True


def _import_postponed() -> None:
    import attrs

    define = attrs.define

    def postpone(cls: type | None = None, **options: Any) -> Any:
        if cls is None or options:
            return define(cls, **options)
        return _postponed(cls, define)

    attrs.define = postpone  # type: ignore[assignment]  # only during the next import
    try:
        importlib.import_module("lsprotocol.types")
    finally:
        attrs.define = define
    hooks: Any = importlib.import_module("lsprotocol._hooks")
    if hooks._resolved_forward_references:
        raise ValueError("references are resolved already")
    hooks._resolved_forward_references = True  # resolved class by class in _build


class _Pending:
    """Stands for a class's attrs fields until somebody asks for them."""

    def __init__(self, cls: type, define: Callable[..., Any]) -> None:
        self.cls = cls
        self.define = define

    def __get__(self, instance: object, owner: type) -> object:
        _build(self.cls)
        return self.cls.__attrs_attrs__  # type: ignore[attr-defined]  # attrs has put it there


def _postponed(cls: type, define: Callable[..., Any]) -> type:
    def __init__(self: Any, *args: Any, **fields: Any) -> None:
        _build(cls)
        self.__init__(*args, **fields)

    setattr(cls, "__init__", __init__)  # noqa: B010 - assigning it is an error to mypy
    setattr(cls, "__attrs_attrs__", _Pending(cls, define))  # noqa: B010
    return cls


def _build(cls: type) -> None:
    """Do what `attrs.define` would have done, for the class and its bases."""
    with _lock:
        pending = cls.__dict__.get("__attrs_attrs__")
        if not isinstance(pending, _Pending):
            return
        del cls.__attrs_attrs__, cls.__init__  # type: ignore[attr-defined, misc]  # ours, above
        for base in cls.__mro__[1:]:
            _build(base)
        pending.define(cls, slots=False)
        import attrs

        types = sys.modules["lsprotocol.types"]
        attrs.resolve_types(cls, types.ALL_TYPES_MAP, {})


def _check() -> None:
    """A message goes through the converter and back, nested classes and unions included."""
    converters = importlib.import_module("lsprotocol.converters")
    types = importlib.import_module("lsprotocol.types")
    converter = converters.get_converter()
    edit = {"range": _RANGE, "newText": "x"}
    document = {"uri": "file:///x", "version": 1}
    plain = {"documentChanges": [{"textDocument": document, "edits": [edit]}]}
    value = converter.structure(plain, types.WorkspaceEdit)
    if not isinstance(value.document_changes[0], types.TextDocumentEdit):
        raise TypeError("documentChanges")
    if converter.unstructure(value) != plain:
        raise ValueError("WorkspaceEdit does not come back as it was")


_RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
