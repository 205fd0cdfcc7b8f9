"""The start: what may be imported before the first answer, and what `initialize` is answered."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from singletree.rpc.client import read_client
from singletree.rpc.hello import answer
from singletree.rpc.telling.feed import Delivery

HEAVY = {"asyncio", "contextlib", "dataclasses", "inspect", "logging", "pathlib", "typing"}


def test_nothing_heavy_is_imported_before_the_first_answer() -> None:
    code = "import sys, singletree.rpc.doors.early; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-S", "-c", PATH + code], capture_output=True, text=True)
    loaded = set(run.stdout.split())
    assert "singletree.rpc.doors.early" in loaded, run.stderr
    assert not loaded & HEAVY
    assert not {name for name in loaded if name.partition(".")[0] in {"pydantic", "anyio", "pygls"}}


PATH = f"import sys; sys.path = {sys.path!r};"


def test_the_answer_to_a_plain_host() -> None:
    result: Any = answer({"capabilities": {}}, {"limits": {}})
    assert result["serverInfo"]["name"] == "singletree"
    capabilities = result["capabilities"]
    assert capabilities["positionEncoding"] == "utf-16"
    assert capabilities["textDocumentSync"]["change"] == 2
    assert capabilities["experimental"]["agent"] == {
        "protocolVersion": 1,
        "supported": [1],
        "limits": {},
    }


def test_a_client_that_says_all() -> None:
    agent = {
        "protocolVersions": [2, 1],
        "clientId": "c",
        "events": {"delta": False, "maxLatencyMs": 100, "kinds": ["turn_ended", 7]},
    }
    client = read_client(
        {
            "processId": 7,
            "clientInfo": {"name": "nvim", "version": "0.11"},
            "workspaceFolders": [{"uri": "file:///w", "name": "w"}, 7, {"name": "no uri"}],
            "rootUri": "file:///other",
            "capabilities": {"general": {"positionEncodings": ["utf-8", "utf-16"]}},
            "initializationOptions": {"agent": agent},
        }
    )
    assert (client.name, client.version, client.process_id) == ("nvim", "0.11", 7)
    assert (client.encoding, client.folders) == ("utf-8", ("file:///w",))
    assert client.delivery == Delivery(False, 0.1, frozenset({"turn_ended"}))
    assert client.agent_version == 1
    assert client.speaks_agent


@pytest.mark.parametrize(
    ("params", "folders"),
    [
        ({"rootUri": "file:///w"}, ("file:///w",)),
        ({"rootPath": "/w x"}, ("file:///w%20x",)),
        ({"rootPath": "w"}, ()),
        ({"rootUri": None, "workspaceFolders": None}, ()),
        ({"rootUri": "file:///w", "workspaceFolders": []}, ()),
    ],
)
def test_folders(params: dict[str, Any], folders: tuple[str, ...]) -> None:
    assert read_client(params).folders == folders


def test_options_of_a_wrong_type_count_as_absent(caplog: pytest.LogCaptureFixture) -> None:
    wrong = {"delta": "yes", "maxLatencyMs": "fast", "kinds": 7}
    params = {
        "processId": True,
        "clientInfo": 7,
        "capabilities": {"general": {"positionEncodings": [7, "utf-32"]}},
        "initializationOptions": {"agent": {"events": wrong, "protocolVersions": 1}},
        "workspaceFolders": 7,
    }
    client = read_client(params)
    assert (client.process_id, client.name, client.encoding) == (None, "", "utf-32")
    assert client.delivery == Delivery(True, 0.033, None)
    assert client.agent_version == 1
    assert "maxLatencyMs" in caplog.text


def test_the_block_may_stand_in_the_capabilities() -> None:
    block = {"protocolVersions": [99]}
    client = read_client({"capabilities": {"experimental": {"agent": block}}})
    assert client.agent == block
    assert client.agent_version is None
