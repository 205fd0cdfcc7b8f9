"""What a model is: it takes a request, tells the answer piece by piece, and gives it whole.

Never knows HTTP, keys, files or who asks. Read next: scripted.py (the shortest model),
openai.py and anthropic.py (real ones), catalog.py (how a reference becomes a model).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from singletree.messages import AssistantMessage, Message, ThinkingLevel


@dataclass(frozen=True, slots=True)
class PriceTier:
    """What the whole request costs once its input, cached tokens included, is above `above`."""

    above: int
    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens; long requests may have their own."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    tiers: tuple[PriceTier, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a model before it is asked. Windows and limits in tokens.

    `levels`: the thinking levels it has ("off" alone: none). `compat`: the switches of models.json.
    """

    provider: str
    id: str
    name: str = ""
    api: str = ""
    base_url: str = ""
    context_window: int = 128_000
    max_output: int = 16_384
    reasoning: bool = False
    levels: tuple[ThinkingLevel, ...] = ("off",)
    images: bool = False
    price: Price = field(default_factory=Price)
    compat: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)

    @property
    def ref(self) -> str:
        """`provider/id`, as settings and the wire name it."""
        return f"{self.provider}/{self.id}"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it; `schema` is a JSON Schema object."""

    name: str
    description: str
    schema: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question. `max_tokens` None: the model's own limit; `cache` False: no prompt caching."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    thinking: ThinkingLevel = "off"
    max_tokens: int | None = None
    cache: bool = True
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of content part `part` (its index in the message to be)."""

    part: int
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More reasoning of content part `part`."""

    part: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of a call: the first delta of a part names it; `text` is raw JSON of the arguments."""

    part: int
    call_id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms a provider is asked, as settings have it.

    `first`, `between`: seconds without an event that are endured before the first one and between
    two; `whole`: seconds for a whole answer. 0: for ever. `proxy`: instead of the environment's.
    `budgets`: tokens to think with at a level, where the model itself says nothing.
    """

    first: float = 300.0
    between: float = 300.0
    whole: float = 0.0
    proxy: str | None = None
    budgets: Mapping[str, int] = field(default_factory=dict)


Delta = TextDelta | ThinkingDelta | ToolCallDelta

Hear = Callable[[Sequence[Delta]], None]
"""Called in the loop with what came together, in its order."""


class Model(Protocol):
    """Somebody who answers."""

    @property
    def info(self) -> ModelInfo:
        """What it is."""
        ...

    async def answer(self, request: ModelRequest, hear: Hear) -> AssistantMessage:
        """The whole answer, after `hear` was told all of it; or `ModelError`.

        The message is the authority: it has a stop reason and usage. Cancelling ends the request.
        """
        ...
