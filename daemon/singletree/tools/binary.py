"""What kind of file some bytes are the beginning of, when they are not text.

Never knows a file or its name: names lie. Read next: images.py (pictures), read.py (who asks).
"""

from __future__ import annotations

HEAD = 8192
"""How many bytes of a file decide."""

_SURE: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive, Office document or package"),
    (b"PK\x05\x06", "empty ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"Rar!\x1a\x07", "RAR archive"),
    (b"\x7fELF", "ELF program or library"),
    (b"\xfe\xed\xfa", "Mach-O program or library"),
    (b"\xcf\xfa\xed\xfe", "Mach-O program or library"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O program"),
    (b"\x00asm", "WebAssembly module"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"\x89PNG", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"II*\x00", "TIFF image"),
    (b"MM\x00*", "TIFF image"),
    (b"\x00\x00\x01\x00", "icon"),
    (b"\x00\x01\x00\x00", "TrueType font"),
    (b"\xff\xfe\x00\x00", "UTF-32 text"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)
"""Beginnings that no text has."""

_UNSURE: tuple[tuple[bytes, str], ...] = (
    (b"BZh", "bzip2 data"),
    (b"MZ", "Windows program or library"),
    (b"GIF8", "GIF image"),
    (b"BM", "BMP image"),
    (b"RIFF", "RIFF media"),
    (b"ID3", "MP3 audio"),
    (b"OggS", "Ogg audio or video"),
    (b"fLaC", "FLAC audio"),
    (b"wOFF", "WOFF font"),
    (b"wOF2", "WOFF2 font"),
    (b"OTTO", "OpenType font"),
)
"""Beginnings that count only where other bytes show that it is no text."""

_CONTROLS = bytes(code for code in range(32) if code not in b"\a\b\t\n\v\f\r\x1b")


def binary_kind(head: bytes) -> str | None:
    """The kind of a file that begins like this, None if it is text (of whatever encoding)."""
    head = head[:HEAD]
    kind = _named(_SURE, head)
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if kind is not None or (b"\x00" not in head and controls * 10 <= len(head)):
        return kind
    if head[4:8] == b"ftyp":
        return "MP4 or other ISO media"
    if head[257:262] == b"ustar":
        return "tar archive"
    return _named(_UNSURE, head) or "unknown kind"


def _named(signatures: tuple[tuple[bytes, str], ...], head: bytes) -> str | None:
    return next((kind for magic, kind in signatures if head.startswith(magic)), None)
