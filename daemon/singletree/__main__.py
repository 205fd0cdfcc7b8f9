"""The command line."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command named on the command line; the exit code."""
    from singletree import __version__

    print(f"singletree {__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
