"""Runs behaviour vectors: data measured on pi 1.6.0, one family a file, one mapping a group.

A family's test file names a mapping `group -> check(case)`; a check raises AssertionError where our
functions, brought to the vectors' form, give something else. `SINGLETREE_VECTORS=DIR` runs the same
on another folder of the same form. Left out is only what is marked `suspect` (outside the total) or
stands in deviations.toml with its reason (told as deviating), and where only the outcome shows
that we do it differently on purpose: there a check raises Deviates.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LINES: list[str] = []
"""A line for each family that was run; conftest.py prints them at the end."""
Check = Callable[["Case"], None]


class Deviates(Exception):
    """Ours differs here as it is meant to; the text is the reason."""


@dataclass(frozen=True)
class Case:
    """One vector. `input` and `expected` are JSON as measured."""

    name: str
    input: Any
    expected: Any
    suspect: str | None
    suspect_keys: tuple[str, ...]

    @property
    def group(self) -> str:
        """The group, which is also the operation."""
        return self.name.split("/")[1]


def folder() -> Path:
    """Where the data lies."""
    return Path(os.environ.get("SINGLETREE_VECTORS") or HERE / "data")


def cases(family: str) -> Iterator[Case]:
    """All vectors of a family."""
    left = _left_keys()
    path = folder() / f"{family}.jsonl"
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            raw = json.loads(line)
            yield Case(
                raw["name"],
                raw["input"],
                raw["expected"],
                raw.get("suspect"),
                (
                    *raw.get("suspect_keys", ()),
                    *(key for match, key in left if fnmatch.fnmatch(raw["name"], match)),
                ),
            )


def deviations() -> list[Mapping[str, str]]:
    """The rules of deviations.toml: `match` is a glob on the name, `reason` one sentence.

    A rule with `input` holds only where that pattern is found in the input as JSON, one with
    `keys` only for these values of a grid.
    """
    rules: list[Mapping[str, str]] = tomllib.loads(
        (HERE / "deviations.toml").read_text(encoding="utf-8")
    ).get("deviation", [])
    return rules


def deviating(case: Case) -> str | None:
    """The reason why we do this one differently, if we do."""
    for rule in deviations():
        if fnmatch.fnmatch(case.name, rule["match"]) and _holds(rule, case):
            return rule["reason"]
    return None


def _holds(rule: Mapping[str, str], case: Case) -> bool:
    pattern = rule.get("input")
    found = pattern is None or re.search(pattern, json.dumps(case.input)) is not None
    return found and "keys" not in rule


def _left_keys() -> list[tuple[str, str]]:
    """The values of grids that are left out: a glob on the name, a key."""
    return [(rule["match"], key) for rule in deviations() for key in rule.get("keys", ())]


def run(family: str, checks: Mapping[str, Check], later: Collection[str] = ()) -> list[str]:
    """What failed: `name: why`; the line of the family goes to LINES.

    Groups in `later` wait for a room that is not there yet: they are told as not run.
    """
    passed = total = suspect = deviate = 0
    not_run: Counter[str] = Counter()
    failed: list[str] = []
    for case in cases(family):
        if case.suspect:
            suspect += 1
            continue
        if deviating(case) is not None:
            deviate += 1
            continue
        if case.group in later:
            not_run[case.group] += 1
            continue
        total += 1
        check = checks.get(case.group)
        if check is None:
            failed.append(f"{case.name}: no check for group {case.group}")
            continue
        try:
            check(case)
        except Deviates:
            total -= 1
            deviate += 1
        except Exception as error:
            failed.append(f"{case.name}: {type(error).__name__}: {error}"[:600])
        else:
            passed += 1
    line = f"{family}: {passed}/{total} (suspect {suspect}, deviating {deviate})"
    if not_run:
        line += " not run: " + ", ".join(f"{group} {n}" for group, n in not_run.items())
    LINES.append(line)
    return failed
