"""What a client that attaches is given: a snapshot of the session, or the events it missed.

Both are made in one turn of the loop with the subscription, so no event falls between. Read next:
daemon.py, stream.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from singletree.rpc.people.questions import Open
from singletree.rpc.pipes.codec import Encoded, encoded_array, encoded_object
from singletree.rpc.protocol import state as shapes
from singletree.rpc.protocol.session import Attached
from singletree.rpc.stream import Stream
from singletree.rpc.telling.feed import Cursor
from singletree.rpc.telling.views import newest, state
from singletree.session.session import AgentSession

Questions = Sequence[Open[Any]]


def page(session: AgentSession, wanted: shapes.HistoryParams) -> shapes.History:
    """The last entries of the conversation."""
    found = session.history.entries(before=wanted.before, limit=wanted.limit)
    rows, previous = newest(session, found)
    return shapes.History(entries=rows, leaf_id=found.leaf_id, prev_cursor=previous)


def snapshot(
    stream: Stream,
    session: AgentSession,
    history: shapes.History,
    cursor: Cursor,
    questions: Questions,
) -> Attached:
    """Everything a client needs to draw the session."""
    return Attached(
        session_id=session.id,
        state=state(session, [one.request_id for one in questions]),
        history=history,
        in_flight=[shapes.InFlight.model_validate(p) for p in stream.translator.in_flight()],
        tools=stream.translator.tools(),
        pending=_pending(questions),
        cursor=_cursor(session, cursor),
    )


def replay(
    stream: Stream,
    session: AgentSession,
    missed: Sequence[Encoded],
    cursor: Cursor,
    questions: Questions,
) -> Encoded:
    """The events that a client missed, as they were told, and what is open now."""
    return encoded_object(
        {
            "sessionId": session.id,
            "mode": "replay",
            "events": encoded_array(missed),
            "inFlight": stream.translator.in_flight(),
            "tools": stream.translator.tools(),
            "pending": [one.dump() for one in _pending(questions)],
            "cursor": _cursor(session, cursor).dump(),
        }
    )


def _pending(questions: Questions) -> list[shapes.PendingRequest]:
    return [
        shapes.PendingRequest(request_id=one.request_id, method=one.way.method, params=one.params)
        for one in questions
    ]


def _cursor(session: AgentSession, cursor: Cursor) -> shapes.Cursor:
    return shapes.Cursor(epoch=cursor.epoch, seq=cursor.seq, entry_id=session.history.leaf)
