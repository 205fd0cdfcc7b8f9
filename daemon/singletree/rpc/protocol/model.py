"""Models and thinking levels: which there are, which can be used, which is chosen."""

from __future__ import annotations

from typing import Literal

from singletree.rpc.protocol.base import Method, Result, SessionParams, Shape
from singletree.rpc.protocol.turn import ThinkingLevel


class ModelPrice(Shape):
    """US dollars per million tokens."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0


class ModelRow(Shape):
    """A model. `model` is its name everywhere: `provider/id`. Window and limit in tokens.

    `auth`: a key is configured, is missing, or none is needed. Only `missing` cannot be used.
    """

    model: str
    provider: str
    id: str
    name: str
    context_window: int
    max_output: int
    reasoning: bool
    images: bool
    levels: list[ThinkingLevel]
    cost: ModelPrice
    auth: Literal["configured", "missing", "notNeeded"]


class ModelListParams(SessionParams):
    """`usable` leaves out the models that lack a key."""

    usable: bool = False


class ModelList(Result):
    """All models; `current` is the session's, null where there is no session or no model."""

    models: list[ModelRow]
    current: str | None


class ModelSetParams(SessionParams):
    """`model` is `provider/id`."""

    model: str


class CycleParams(SessionParams):
    """To the next, or to the one before."""

    direction: Literal["next", "previous"] = "next"


class ModelResult(Result):
    """What is chosen now; another model may have other thinking levels."""

    model: str
    thinking: ThinkingLevel


class ThinkingList(Result):
    """The levels of the session's model."""

    levels: list[ThinkingLevel]
    current: ThinkingLevel


class ThinkingSetParams(SessionParams):
    """A level the model does not have becomes the nearest one it has."""

    level: ThinkingLevel


class ThinkingResult(Result):
    """The level as it is now. `note`: why it is another than the one that was wished for."""

    thinking: ThinkingLevel
    note: str | None = None


METHODS = (
    Method(
        "agent/model/list",
        ModelListParams,
        ModelList,
        "The models, with window, price, thinking levels and whether they can be used. Works "
        "without a session.",
    ),
    Method(
        "agent/model/set",
        ModelSetParams,
        ModelResult,
        "Choose the model; a running turn uses it from its next step on.",
        errors=("session_not_found", "not_found", "auth_required"),
    ),
    Method(
        "agent/model/cycle",
        CycleParams,
        ModelResult,
        "Choose the next usable model.",
        errors=("session_not_found", "no_model"),
    ),
    Method(
        "agent/thinking/list",
        SessionParams,
        ThinkingList,
        "The thinking levels of the session's model.",
        errors=("session_not_found",),
    ),
    Method(
        "agent/thinking/set",
        ThinkingSetParams,
        ThinkingResult,
        "Choose the thinking level.",
        errors=("session_not_found",),
    ),
    Method(
        "agent/thinking/cycle",
        CycleParams,
        ThinkingResult,
        "Choose the next thinking level.",
        errors=("session_not_found",),
    ),
)
