"""Loads in quiet moments what of this package is not loaded yet.

Starts are quick because most is imported when it is first wanted. A daemon may run for weeks, and
the package may be upgraded meanwhile: what it imported then would be of another version than what
it has. So it is loaded while the files are still those it was started from. Never loads what only
the command line uses. Read next: server.py (when), ../__main__.py.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Final

import anyio
from anyio import to_thread

import singletree

log = logging.getLogger(__name__)

QUIET_SECONDS: Final = 3.0
"""After the first client has come: by then it has what it asked for first."""
PAUSE_SECONDS: Final = 0.02
"""Between two modules, for whoever wants something meanwhile."""
OTHERS: Final = ("__main__", "chat", "rpc.describe", "rpc.described")
"""What no daemon ever needs."""
HEAVY: Final = ("rpc.features", "rpc.lsp.language")
"""What brings pygls along, 17 MB of it: only hosts that ask more of LSP than text want that."""


async def load_the_rest() -> None:
    """Load it, a little later and little by little."""
    await anyio.sleep(QUIET_SECONDS)
    await to_thread.run_sync(_load, abandon_on_cancel=True)


def left() -> Iterator[str]:
    """The modules that are not loaded yet."""
    import pkgutil  # not before the quiet moment

    prefix = f"{singletree.__name__}."
    never = tuple(f"{prefix}{name}." for name in (*OTHERS, *HEAVY))
    for found in pkgutil.walk_packages(singletree.__path__, prefix):
        if found.name not in sys.modules and not f"{found.name}.".startswith(never):
            yield found.name


def _load() -> None:
    for name in left():
        try:
            import_module(name)
        except ImportError as error:
            log.warning("%s cannot be loaded: %s", name, error)
        time.sleep(PAUSE_SECONDS)
    log.info("all of %s %s is loaded", singletree.__name__, singletree.__version__)
