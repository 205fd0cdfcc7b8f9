"""What a folder brings along, and a person's word on it. Behind `singletree trust`.

Sessions that are open take the word up with their next turn. Read next:
../session/settings/trust.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from singletree.host.places import agent_dir, here
from singletree.session.settings.layers import load_settings
from singletree.session.settings.trust import Why, gated, save_trust, trust_of

WORDS = {"yes": True, "no": False, "forget": None}
NOTHING = "{folder} brings nothing along that would need trust."
YES, NO = "{folder} is trusted: {why}.", "{folder} is not trusted: {why}."
WHY: Mapping[Why, str] = {
    "decided": "the command line says so",
    "saved": "you decided so",
    "default": "your setting defaultProjectTrust says so",
    "undecided": "nobody has decided",
    "changed": "its code is not the one you trusted",
    "nothing_gated": "it brings nothing along",
}
HOW = "`singletree trust yes` lets it count, `singletree trust no` leaves it aside."


def trust(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    """The lines of `singletree trust [yes | no | forget] [--folder DIR]`."""
    parser = argparse.ArgumentParser(prog="singletree trust")
    parser.add_argument("word", nargs="?", choices=WORDS, help="what you decide; else look only")
    parser.add_argument("--folder", metavar="DIR", help="another folder than this one")
    given = parser.parse_args(arguments)
    folder = here() if given.folder is None else Path(given.folder).absolute()
    agent = agent_dir(environment)
    if given.word is not None:
        save_trust(agent, folder, WORDS[given.word])
    found = list(gated(folder))
    if not found:
        yield NOTHING.format(folder=folder)
        return
    told = trust_of(agent, folder, default=load_settings(agent).default_project_trust)
    yield (YES if told.trusted else NO).format(folder=folder, why=WHY[told.why])
    yield from told.warnings
    yield from (f"  {one.kind}: {one.path}" for one in found)
    if not told.trusted:
        yield HOW
