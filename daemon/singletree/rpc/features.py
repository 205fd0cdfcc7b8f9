"""The standard LSP requests that pygls dispatches for us: code actions, texts behind addresses.

Code actions are fast: nothing is read and nobody is asked. Imported with pygls, behind the first
answers. Read next: plain/pointing.py (what is offered), texts.py (the texts), lsp/language.py.
"""

from __future__ import annotations

from lsprotocol import types as lsp

from singletree.export.documents import bounded
from singletree.rpc.addresses import parse
from singletree.rpc.daemon import Daemon
from singletree.rpc.hello import part
from singletree.rpc.lsp.language import AgentServer
from singletree.rpc.offered import ACTION_KINDS, SCHEMES
from singletree.rpc.peer import Peer
from singletree.rpc.pipes.converter import converter
from singletree.rpc.plain.pointing import Action, actions
from singletree.rpc.protocol.content import Position, Range
from singletree.rpc.texts import text_at


def register(daemon: Daemon, server: AgentServer) -> None:
    """Let pygls answer these for one client."""
    peer, plain = server.peer, converter().unstructure

    def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
        asked = params.context
        problems = [(one, plain(one)) for one in asked.diagnostics]
        offered = actions(
            params.text_document.uri,
            _range(params.range),
            [problem for _, problem in problems],
            asked.only,
            peer.documents,
        )
        if not _takes_actions(peer):
            return [_command(one) for one in offered]
        return [
            _action(one, [typed for typed, p in problems if p is one.diagnostic]) for one in offered
        ]

    async def text(params: lsp.TextDocumentContentParams) -> lsp.TextDocumentContentResult:
        found = await text_at(daemon, params.uri)
        if (address := parse(params.uri)) is not None:
            daemon.shown.looks(peer, address)
        return lsp.TextDocumentContentResult(bounded(found))

    options = lsp.CodeActionOptions(code_action_kinds=list(ACTION_KINDS))
    server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, options)(code_action)
    schemes = lsp.TextDocumentContentOptions(list(SCHEMES))
    server.feature(lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT, schemes)(text)


def _takes_actions(peer: Peer) -> bool:
    """Whether the host takes more than bare commands, as LSP had it at first."""
    document = part(peer.client.capabilities, "textDocument")
    return isinstance(part(document, "codeAction").get("codeActionLiteralSupport"), dict)


def _action(one: Action, problems: list[lsp.Diagnostic]) -> lsp.CodeAction:
    return lsp.CodeAction(one.title, one.kind, problems or None, command=_command(one))


def _command(one: Action) -> lsp.Command:
    return lsp.Command(one.title, one.command, arguments=[one.argument])


def _range(span: lsp.Range) -> Range:
    start, end = span.start, span.end
    return Range(
        start=Position(line=start.line, character=start.character),
        end=Position(line=end.line, character=end.character),
    )
