"""The slash commands of the house, for a person who types them in any editor.

Each does what a method of the protocol does too. Never knows how its answer is shown. Read next:
user_input.py (who finds them).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from singletree.errors import SingletreeError
from singletree.messages import LEVELS, ThinkingLevel
from singletree.session.commands.user_input import Builtin
from singletree.session.events import CompactionResult
from singletree.session.model_choice import ModelChoice

COMPACTED = "Compacted: {before} tokens became about {after}."
ANSWERS = "{model} answers."
NO_MODEL_YET = "No model is chosen yet."
THINKS = "Thinking: {level}."
NAMED = "The session is named {name}."
UNNAMED = "The session has no name."
NO_LEVEL = "There is no thinking level {level}; there are {levels}."


def builtin_commands(
    compact: Callable[[str | None], Awaitable[CompactionResult]],
    rename: Callable[[str], str | None],
    name: Callable[[], str | None],
    choice: ModelChoice,
) -> Mapping[str, Builtin]:
    """The commands, by name."""

    async def compacted(words: str) -> str:
        made = await compact(words or None)
        return COMPACTED.format(before=made.tokens_before, after=made.tokens_after)

    async def model(words: str) -> str:
        if words:
            await choice.set_model(words)
        return ANSWERS.format(model=choice.ref) if choice.ref else NO_MODEL_YET

    async def thinking(words: str) -> str:
        if words:
            choice.set_thinking(_level(words))
        told = THINKS.format(level=choice.thinking)
        why = choice.why_another(words) if words else None
        return told if why is None else f"{told} {why}"

    async def named(words: str) -> str:
        shown = rename(words) if words else name()
        return NAMED.format(name=shown) if shown else UNNAMED

    return {
        "compact": Builtin(
            "Sum up the older part of the conversation", "[what to keep in mind]", compacted
        ),
        "model": Builtin("Choose who answers, or tell who does", "[provider/id]", model),
        "thinking": Builtin("Choose how hard the model thinks", "[level]", thinking),
        "name": Builtin("Name this session", "[name]", named),
    }


def _level(words: str) -> ThinkingLevel:
    for level in LEVELS:
        if level == words:
            return level
    raise SingletreeError(NO_LEVEL.format(level=words, levels=", ".join(LEVELS)), code="not_found")
