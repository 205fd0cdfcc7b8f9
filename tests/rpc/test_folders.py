"""Addresses of folders: paths of this machine, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from singletree.errors import SingletreeError
from singletree.rpc.folders import folder_at


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("file:///w/a%20b", "/w/a b"),
        ("file:///w/%FF", "/w/\udcff"),
        ("file://localhost/w", "/w"),
        ("/w/a", "/w/a"),
    ],
)
def test_folders_of_this_machine(address: str, path: str) -> None:
    assert folder_at(address) == Path(path)


@pytest.mark.parametrize(
    "address", ["file:///w/%00", "/w/\0", "file://server/w", "file:.", "untitled:1", "w", "", "[x"]
)
def test_what_is_no_folder_here(address: str) -> None:
    with pytest.raises(SingletreeError) as refused:
        folder_at(address)
    assert refused.value.code == "workspace_not_found"
