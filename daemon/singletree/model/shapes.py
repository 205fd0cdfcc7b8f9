"""What more than one shape of models.json is made of. Read next: models_file.py, switches.py."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Shape(BaseModel):
    """An object of the file; what it does not know is let by."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="allow", frozen=True, defer_build=True
    )


class Tier(Shape):
    """What a whole request costs once its input is above a number of tokens."""

    input_tokens_above: int
    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0


class Cost(Shape):
    """Dollars for a million tokens."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    tiers: list[Tier] = []
