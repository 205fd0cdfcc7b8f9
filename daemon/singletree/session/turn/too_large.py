"""What makes a request too large for the model's window: the error that names it, and what to do.

Looks at everything that was sent: the messages, the sections of the system prompt, the tools'
declarations together. Pure; never knows whether something was compacted before. Read next:
recovery.py (when it comes to this).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from singletree.compaction.budget import estimate, estimate_text
from singletree.errors import ContextOverflow
from singletree.messages import AgentMessage, ToolResultMessage
from singletree.session.tree.xray import Frame

TOO_LARGE = (
    "The request does not fit the model's window. Its largest part is {what} with about {tokens} "
    "tokens: {way}, or choose a model with a larger window. {words}"
)
GO_BACK = "go back in the tree to before it"
SHORTEN = "shorten it"
FEWER = "use fewer of them (defaultTools)"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a request, as a person calls it, and the way to make it smaller."""

    what: str
    tokens: int
    way: str


def too_large(
    refused: ContextOverflow, messages: Sequence[AgentMessage], around: Frame | None
) -> ContextOverflow:
    """The same refusal with the largest part of what was sent."""
    largest = max(pieces(messages, around), key=lambda piece: piece.tokens, default=None)
    if largest is None:
        return refused
    text = TOO_LARGE.format(
        what=largest.what, tokens=largest.tokens, way=largest.way, words=refused.message
    )
    return ContextOverflow(
        text.rstrip(),
        hint=refused.hint,
        detail={**refused.detail, "largest": {"what": largest.what, "tokens": largest.tokens}},
        status=refused.status,
        provider=refused.provider,
    )


def pieces(messages: Sequence[AgentMessage], around: Frame | None) -> Iterator[Piece]:
    """Everything that is sent. Of equal ones the first counts, so messages come first."""
    for message in messages:
        yield Piece(_named(message), estimate(message), GO_BACK)
    if around is None:
        return
    for section in around.sections:
        what = f"the section {section.name} of the system prompt"
        yield Piece(what, estimate_text(section.text), SHORTEN)
    declared = sum(map(estimate_text, around.tools.values()))
    if declared:
        yield Piece(f"what the {len(around.tools)} tools say of themselves", declared, FEWER)


def _named(message: AgentMessage) -> str:
    if isinstance(message, ToolResultMessage):
        return f"the result of the tool {message.tool_name}"
    return f"a message of role {message.role}"
