"""Between JSON values and lsprotocol's classes; one converter for all connections.

Making it is slow, so nobody does before it is needed. Never knows a method.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cattrs import Converter


@cache
def converter() -> Converter:
    """pygls' converter."""
    from pygls.protocol import default_converter

    made: Converter = default_converter()  # type: ignore[no-untyped-call]  # pygls' own
    return made
