"""`singletree doctor`: what can be used here, what is missing, how to get it.

A broken file is a line of the report and never its end. Nothing is written, no provider elsewhere
is asked: whether a key is right shows with the first request. Read next: ../model/catalog.py,
../tools/guarantees.py.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import anyio

from singletree.errors import SingletreeError, ToolError
from singletree.host.places import agent_dir, shared_socket
from singletree.host.shared import told
from singletree.model.catalog import Catalog, ModelListing
from singletree.model.catalogue import DEMO
from singletree.session.settings.layers import read_layers
from singletree.tools.guarantees import GUARANTEES, Mechanism
from singletree.tools.ripgrep import find_ripgrep
from singletree.tools.sandbox import find_mechanism

WRONG = "Wrong: {what}"
NO_FOLDER = "{folder} cannot be used: {place} is {why}. Set PI_CODING_AGENT_DIR to another folder."
ONLY_DEMO = "  No real model can be used yet; this is what each needs."
NO_PILLOW = (
    "Pillow is not installed; large ones become notes. `{python} -m pip install pillow` "
    "lets them be scaled."
)
COMPARE = "`singletree doctor --sandbox` compares it with the other ones."
ILL = "Something is wrong; see the lines that begin with Wrong."


def doctor(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    """The lines; SingletreeError at the end where something is wrong."""
    parser = argparse.ArgumentParser(prog="singletree doctor")
    parser.add_argument("--sandbox", action="store_true", help="compare it with the other ones")
    compared = parser.parse_args(arguments).sandbox
    ill = False
    for part in (_folder, _settings, _models, _machine):
        try:
            for line in part(environment):
                ill = ill or line.startswith("Wrong: ")
                yield line
        except SingletreeError as error:
            ill = True
            yield WRONG.format(what=error.message)
        yield ""
    yield from sandbox_table(find_mechanism(), compared)
    if ill:
        raise SingletreeError(ILL)


def _folder(environment: Mapping[str, str]) -> Iterator[str]:
    folder = agent_dir(environment)
    yield f"Agent folder: {folder}"
    place = folder
    while not os.path.lexists(place):
        place = place.parent
    why = "" if os.access(place, os.W_OK | os.X_OK) else "not writable"
    why = why if place.is_dir() else "no folder"
    if why:
        yield WRONG.format(what=NO_FOLDER.format(folder=folder, place=place, why=why))
    yield f"Shared daemon: {told(shared_socket(environment))}"


def _settings(environment: Mapping[str, str]) -> Iterator[str]:
    layers = read_layers(agent_dir(environment))
    for warning in layers.warnings:
        yield WRONG.format(what=warning)
    chosen, provider = layers.settings.default_model, layers.settings.default_provider
    ref = f"{provider}/{chosen}" if provider and chosen else chosen
    yield f"Default model: {ref or '(the first that can be used)'}"
    catalog = Catalog(agent_dir(environment), environment)
    if ref and not catalog.faults():  # else it cannot be known, and the next part says why
        catalog.find(ref)


def _models(environment: Mapping[str, str]) -> Iterator[str]:
    folder = agent_dir(environment)
    faults = Catalog(folder, environment).faults()
    yield from (WRONG.format(what=fault) for fault in faults.values())
    catalog = Catalog(folder, environment, without=faults)
    anyio.run(catalog.discover)
    listed = catalog.list()
    silent = dict(catalog.silent())
    there = [one for one in listed if one.available and one.info.provider not in silent]
    sources = {one.provider: one for one in catalog.auth_status()}
    yield "Models that could be used:" if faults else "Models that can be used:"
    for name in dict.fromkeys(one.info.provider for one in there):
        status = sources.get(name)
        key = f", key from {status.source} (untried)" if status and status.source else ""
        yield f"  {name}{key}"
        yield from (f"    {_line(one)}" for one in listed if one.info.provider == name)
    missing = dict.fromkeys(
        f"  {one.info.provider}: {one.missing}" for one in listed if one.missing
    )
    yield "What is missing for others:"
    if all(one.info is DEMO for one in there):
        yield ONLY_DEMO
    quiet = [f"  {name}: {why}" for name, why in silent.items()]
    yield from [*missing, *quiet] or ["  nothing"]


def _line(one: ModelListing) -> str:
    sees = ", pictures" if one.info.images else ""
    return f"{one.info.ref}  window {one.info.context_window}{sees}"


def _machine(environment: Mapping[str, str]) -> Iterator[str]:
    here = find_spec("PIL") is not None
    yield f"Pictures: {'scaled with Pillow' if here else NO_PILLOW.format(python=sys.executable)}"
    try:
        yield f"Searching: {Path(find_ripgrep())}"
    except ToolError as error:
        yield WRONG.format(what=str(error))


def sandbox_table(here: Mechanism, compared: bool) -> Iterator[str]:
    """What holds commands here that run unasked; `compared`: and where the others differ."""
    yield f"Sandbox of commands that run unasked: {here}"
    if here != "bubblewrap":
        yield "  The package bubblewrap would hold more."
    width = max(len(one.what) for one in GUARANTEES)
    for one in GUARANTEES:
        yield f"  {one.what:<{width}}  {one.of(here)}"
    if not compared:
        yield COMPARE
    for other in get_args(Mechanism):
        if compared and other != here:
            yield f"With {'no sandbox' if other == 'none' else other} the same, but:"
            differing = (one for one in GUARANTEES if one.of(other) != one.of(here))
            yield from (f"  {one.what:<{width}}  {one.of(other)}" for one in differing)
