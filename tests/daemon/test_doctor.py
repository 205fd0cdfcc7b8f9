"""`singletree doctor` on machines in every state: it says what can be used and what to do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import anyio.to_thread
import pytest
from tests.model.fake_server import Reply, Seen, refusal, serving

from singletree.host.doctor import sandbox_table
from singletree.tools.guarantees import Mechanism

NOBODY = {
    "OLLAMA_HOST": "127.0.0.1:1",
    "LLAMA_CPP_HOST": "127.0.0.1:1",
    "LMSTUDIO_HOST": "127.0.0.1:1",
}
DAEMON = str(Path(__file__).parents[2] / "daemon")


def doctor(agent: Path | None = None, **env: str) -> tuple[int, list[str]]:
    """Its exit code, and its lines without the sandbox's."""
    given = {"PATH": "/usr/bin:/bin", "PYTHONPATH": DAEMON, **NOBODY, **env}
    if agent is not None:
        given["PI_CODING_AGENT_DIR"] = str(agent)
    command = [sys.executable, "-m", "singletree", "doctor"]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout.partition("\nSandbox")[0].splitlines()


def test_without_a_key(tmp_path: Path) -> None:
    code, lines = doctor(tmp_path)
    assert code == 0
    assert "    offline/demo  window 32000" in lines
    assert "  No real model can be used yet; this is what each needs." in lines
    assert "  anthropic: set ANTHROPIC_API_KEY, or store a key in auth.json" in lines
    assert "  google: set GEMINI_API_KEY or GOOGLE_API_KEY, or store a key in auth.json" in lines
    assert (
        "  llama.cpp: no model answers at http://127.0.0.1:1/v1; start the server, or name its "
        "address in LLAMA_CPP_HOST"
    ) in lines


def test_with_a_key_that_may_be_wrong(tmp_path: Path) -> None:
    code, lines = doctor(tmp_path, ANTHROPIC_API_KEY="sk-secret-1234")
    assert code == 0
    assert "  anthropic, key from environment (untried)" in lines
    assert not any(line.startswith("  anthropic: ") for line in lines)
    assert "sk-secret-1234" not in "\n".join(lines)


async def test_with_a_local_server(tmp_path: Path) -> None:
    def reply(seen: Seen) -> Reply:
        if seen.path == "/v1/models":
            return refusal(200, {"data": [{"id": "qwen"}]})
        return refusal(200, {"default_generation_settings": {"n_ctx": 8192}})

    async with serving(reply) as server:
        host = server.url.removeprefix("http://")
        code, lines = await anyio.to_thread.run_sync(lambda: doctor(tmp_path, LLAMA_CPP_HOST=host))
    assert code == 0
    assert "    llama.cpp/qwen  window 8192" in lines
    assert not any("No real model" in line for line in lines)


def test_a_silent_server_of_models_json_cannot_be_used(tmp_path: Path) -> None:
    local = {"baseUrl": "http://127.0.0.1:1/v1", "api": "openai-completions", "apiKey": "none"}
    told = {"providers": {"local": {**local, "models": [{"id": "m"}]}}}
    (tmp_path / "models.json").write_text(json.dumps(told))
    code, lines = doctor(tmp_path)
    assert code == 0
    assert not any("local/m" in line for line in lines)
    assert "  No real model can be used yet; this is what each needs." in lines
    assert "  local: no model answers at http://127.0.0.1:1/v1; start the server" in lines


def test_broken_files_are_lines_and_not_the_end(tmp_path: Path) -> None:
    (tmp_path / "models.json").write_text('{"providers": {"c": {"models": 3}}}')
    (tmp_path / "settings.json").write_text("{")
    code, lines = doctor(tmp_path)
    wrong = [line for line in lines if line.startswith("Wrong: ")]
    assert code == 1
    assert wrong[1] == "Wrong: models.json: providers.c.models must be a list"
    assert wrong[0].startswith(f"Wrong: {tmp_path}/settings.json is not valid JSON")
    assert any(line.startswith("Searching: ") for line in lines)


def test_the_models_beside_broken_files_are_listed(tmp_path: Path) -> None:
    (tmp_path / "models.json").write_text("{")
    (tmp_path / "auth.json").write_text("[]")
    (tmp_path / "settings.json").write_text('{"defaultModel": "corp/m"}')
    code, lines = doctor(tmp_path, ANTHROPIC_API_KEY="sk-1")
    wrong = [line for line in lines if line.startswith("Wrong: ")]
    assert code == 1
    assert [line.split()[1] for line in wrong] == ["models.json", "auth.json"]
    assert "Models that could be used:" in lines
    assert "  anthropic, key from environment (untried)" in lines


@pytest.mark.parametrize("here", ["bubblewrap", "landlock", "none"])
def test_the_table_of_every_sandbox(here: Mechanism) -> None:
    lines = list(sandbox_table(here, compared=True))
    assert lines[0] == f"Sandbox of commands that run unasked: {here}"
    heads = [line for line in lines if line.startswith("With ")]
    names = {"bubblewrap": "bubblewrap", "landlock": "landlock", "none": "no sandbox"}
    assert heads == [f"With {name} the same, but:" for key, name in names.items() if key != here]
    reach = [line for line in lines if line.startswith("  reach the network")]
    assert [line.split()[3] for line in sorted(reach)] == ["TCP", "possible", "stopped"]
    short = list(sandbox_table(here, compared=False))
    assert short[:-1] == lines[: len(short) - 1]
    assert not any(line.startswith("With ") for line in short)


def test_a_default_model_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"defaultModel": "nope/m"}')
    code, lines = doctor(tmp_path)
    assert code == 1
    assert "Default model: nope/m" in lines
    assert any(line.startswith("Wrong: There is no model nope/m.") for line in lines)


def test_a_home_that_is_not_there(tmp_path: Path) -> None:
    code, lines = doctor(HOME=str(tmp_path / "none"))
    assert (code, lines[0]) == (0, f"Agent folder: {tmp_path}/none/.pi/agent")


def test_a_home_that_is_a_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.touch()
    code, lines = doctor(HOME=str(home))
    said = f"Wrong: {home}/.pi/agent cannot be used: {home} is no folder. Set PI_CODING_AGENT_DIR"
    assert code == 1
    assert lines[1].startswith(said)
