"""What is text and what is not, by the first bytes."""

from __future__ import annotations

import gzip
import io
import sqlite3
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.drawn import drawn

from singletree.tools.binary import binary_kind


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"plain\n",
        "数据测试 🙂\n".encode(),
        "配置=1\n".encode("gbk"),
        "café\n".encode("latin-1"),
        b"\x1b[31mred\x1b[0m\x07\x08\x0c\n",
        b"BM this is just text\n",
        b"MZ is a title\n",
        b"RIFF and raff\n",
        b"\xef\xbb\xbfwith a mark\n",
    ],
)
def test_text_of_any_encoding_is_text(data: bytes) -> None:
    assert binary_kind(data) is None


def test_what_programs_write_is_told_by_its_kind(tmp_path: Path) -> None:
    tar, packed = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"))
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("a", "b")
    base = sqlite3.connect(tmp_path / "db")
    base.execute("create table t (a)")
    base.close()
    for data, kind in (
        (tar.getvalue(), "tar archive"),
        (packed.getvalue(), "ZIP archive, Office document or package"),
        (gzip.compress(b"a"), "gzip data"),
        ((tmp_path / "db").read_bytes(), "SQLite database"),
        (Path(sys.executable).read_bytes()[:100], "ELF program or library"),
        (drawn("TIFF", 3, 3), "TIFF image"),
        (drawn("BMP", 3, 3), "BMP image"),
        (b"\x00\x00\x00\x18ftypmp42", "MP4 or other ISO media"),
        ("text".encode("utf-16"), "UTF-16 text"),
        ("text".encode("utf-32"), "UTF-32 text"),
        (b"a\x00b", "unknown kind"),
        (b"\x01\x02\x03text", "unknown kind"),
    ):
        assert binary_kind(data) == kind


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t\r")))
def test_utf_8_text_is_never_binary(text: str) -> None:
    assert binary_kind(text.encode()) in (None, "PDF document")
