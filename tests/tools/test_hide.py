"""Keys that came in the environment do not stand in the daemon's memory for all to read."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import os
from singletree.tools.hide import hide_environment
print(hide_environment(dict(os.environ)))
print(os.environ["X_API_KEY"], os.environ["PLAIN"])
print(open("/proc/self/environ", "rb").read())
"""


def test_keys_are_blanked_and_the_rest_stays() -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "X_API_KEY": "sk-test-123",
        "SAME_KEY": "sk-test-123",
        "https_proxy": "http://me:sk-password@proxy",
        "PLAIN": "stays",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    count, kept, shown = done.stdout.splitlines()
    assert int(count) == 3
    assert kept == "sk-test-123 stays"
    assert "sk-test-123" not in shown
    assert "sk-password" not in shown
    assert "PLAIN=stays" in shown
