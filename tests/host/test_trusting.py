"""`singletree trust`: what a folder brings along, and a person's word on it."""

from __future__ import annotations

from pathlib import Path

from singletree.host.trusting import HOW, trust
from singletree.session.settings.trust import CHANGED


def test_a_folder_is_looked_at_trusted_and_forgotten(tmp_path: Path) -> None:
    folder, environment = tmp_path / "w", {"PI_CODING_AGENT_DIR": str(tmp_path / "agent")}
    extension = folder / ".pi" / "extensions" / "g.py"

    def told(*words: str) -> list[str]:
        return list(trust([*words, "--folder", str(folder)], environment))

    folder.mkdir()
    assert told() == [f"{folder} brings nothing along that would need trust."]
    extension.parent.mkdir(parents=True)
    extension.write_text("def setup(api): pass")
    brings = f"  extensions: {extension.parent}"
    undecided = [f"{folder} is not trusted: nobody has decided.", brings, HOW]
    assert told() == undecided
    assert told("yes") == [f"{folder} is trusted: you decided so.", brings] == told()
    extension.write_text("def setup(api): api.on")
    changed = f"{folder} is not trusted: its code is not the one you trusted."
    assert told() == [changed, CHANGED, brings, HOW]
    assert told("no") == [f"{folder} is not trusted: you decided so.", brings, HOW]
    assert told("forget") == undecided
