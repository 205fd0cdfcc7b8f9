"""The front of all clients that sessions see: their files, settings, answers, and who hears events.

A session tells its events here and they go to every client that is subscribed to it, each session
by a stream of its own. Never knows a request. Read next: daemon.py (which extends it), stream.py,
telling/translate.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from singletree.extensions.dialog import Dialog, Reply
from singletree.extensions.sign import Sign
from singletree.host.host import Host, place
from singletree.host.options import Options
from singletree.rpc.editing.files import EditorFiles
from singletree.rpc.folders import local_folders
from singletree.rpc.peer import Peer
from singletree.rpc.people import dialogs, permission
from singletree.rpc.people.questions import Questions
from singletree.rpc.plain.hosts import PlainHosts
from singletree.rpc.shown import Shown
from singletree.rpc.stream import Stream
from singletree.session.edits.edit import Edit
from singletree.session.edits.ledger import Ledger, ledger_folder
from singletree.session.edits.revert import content
from singletree.session.events import SessionEvent
from singletree.session.permission.gate import Answer, Question
from singletree.session.session import AgentSession
from singletree.tools.world import Files


class Front:
    """The clients of a process. `host` and `shown` are there when its door is open."""

    host: Host
    shown: Shown

    def __init__(self, options: Options) -> None:
        self.options = options
        self._streams: dict[str, Stream] = {}
        self._peers: dict[Peer, None] = {}
        self.questions = Questions(self.subscribers, self.emit)
        self.plain = PlainHosts(lambda work: self.host.assembly.spawn(work))

    def files(self, session_id: str) -> Files:
        """The files as the clients of the session see them."""
        stream = self._streams[session_id]
        return EditorFiles(stream.cwd, partial(self._with_buffers, session_id), stream.ledger)

    def ledger(self, session_id: str) -> Ledger:
        """What the agent changed in a session."""
        return self._streams[session_id].ledger

    async def edits(self, session: AgentSession) -> list[Edit]:
        """What the agent changed in files, as it stands now."""
        return await self.ledger(session.id).edits(partial(content, session.gate.world.files))

    def settings(self, session_id: str) -> Mapping[str, JsonValue]:
        """What the clients of a session, or of its folder, set themselves; the first one wins."""
        here = Path(place(self._streams[session_id].cwd))
        neighbours = [peer for peer in self._peers if here in self.folders_of(peer).values()]
        found: dict[str, JsonValue] = {}
        for peer in reversed(list(dict.fromkeys((*self.subscribers(session_id), *neighbours)))):
            found |= peer.settings.of(here)
        return found

    def folders_of(self, peer: Peer) -> dict[str, Path]:
        """The folders of this machine that a client has open, each by its one name."""
        return {uri: Path(place(path)) for uri, path in local_folders(peer).items()}

    def begin(self, session_id: str, cwd: Path) -> None:
        """A session is about to be opened: each of its lives has a stream of its own."""
        ledger = Ledger(
            ledger_folder(self.options.agent_dir, session_id),
            partial(self._turn_id, session_id),
            partial(self.emit, session_id),
            partial(self._warn_of_edits, session_id),
        )
        self._streams[session_id] = Stream(session_id, cwd, ledger)

    def emit(self, session_id: str, event: SessionEvent) -> None:
        """A session tells something; of one that was closed nobody hears any more."""
        if (stream := self._streams.get(session_id)) is not None:
            stream.tell(event)
            self.plain.tell(session_id, event)
            self.shown.hear(session_id, event)

    async def ask(self, session_id: str, question: Question) -> Answer:
        """A session asks people for permission."""
        return await self.questions.ask(
            session_id,
            permission.way_of(question),
            partial(permission.params_of, session_id, question),
            lambda id: self.emit(session_id, permission.pending(question, id)),
        )

    async def show(self, session_id: str, dialog: Dialog) -> Reply:
        """A session puts a dialog before people."""
        params = partial(dialogs.params_of, session_id, dialog)
        return await self.questions.ask(session_id, dialogs.way_of(dialog), params)

    def sign(self, session_id: str, sign: Sign) -> None:
        """A session shows something small."""
        if (stream := self._streams.get(session_id)) is not None:
            stream.signs.put(sign, stream.subscriptions)
            self.plain.show(session_id, sign)

    def subscribers(self, session_id: str) -> list[Peer]:
        """The clients of a session, those first who hear its events."""
        stream = self._streams.get(session_id)
        return [] if stream is None else [*stream.subscriptions, *self.plain.of(session_id)]

    def _with_buffers(self, session_id: str) -> list[Peer]:
        """Whose buffers count: every client's, those who hear the session first."""
        return list(dict.fromkeys((*self.subscribers(session_id), *self._peers)))

    def _turn_id(self, session_id: str) -> str:
        live = self.host.is_live(session_id)
        return self.host.get(session_id).turn_id or "" if live else ""

    def _warn_of_edits(self, session_id: str, message: str) -> None:
        if self.host.is_live(session_id):
            self.host.get(session_id).warn("edits", message)
