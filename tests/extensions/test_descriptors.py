"""An extension that closes the process's first descriptors, and the files that are opened then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CLOSES = """
import os, sys
from pathlib import Path
from singletree.extensions.descriptors import keep, mend
from singletree.history.handles import open_above

keep()
os.close(1)
above = open_above(Path(sys.argv[1]), os.O_RDWR | os.O_CREAT)
os.write(2, f"{above >= 3} {os.get_inheritable(above)}\\n".encode())
mend()
os.write(1, b"back\\n")
mend()
os.write(1, b"still there\\n")
"""


def test_what_was_closed_is_put_back_and_no_file_takes_its_place(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", CLOSES, tmp_path / "kept"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "back\nstill there\n"
    assert ran.stderr == "True False\n"
    assert (tmp_path / "kept").read_bytes() == b""
