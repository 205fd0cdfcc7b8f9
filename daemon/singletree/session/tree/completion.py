"""A model as a function from a text to its answer: what makes summaries.

Never knows what is summed up. Read next: compactor.py and navigation.py (who ask),
../../compaction/summary.py (what is asked).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from singletree.compaction.summary import Complete, Completion
from singletree.messages import ThinkingLevel, UserMessage, text_of
from singletree.model.base import Delta, Model, ModelRequest, TextDelta


def complete_with(
    model: Model, thinking: ThinkingLevel, on_text: Callable[[str], None]
) -> Complete:
    """A model as a function from (system, user text) to its answer: no tools, no cache."""

    async def complete(system: str, user: str) -> Completion:
        request = ModelRequest(
            system=system,
            messages=(UserMessage(content=user),),
            thinking=thinking,
            cache=False,
            session_id=secrets.token_hex(16),
        )

        def hear(deltas: Sequence[Delta]) -> None:
            for delta in deltas:
                if isinstance(delta, TextDelta):
                    on_text(delta.text)

        answer = await model.answer(request, hear)
        return Completion(
            text_of(answer.content),
            answer.usage,
            answer.stop_reason,
            len(answer.tool_calls),
            answer.error_message,
        )

    return complete
