"""Arrays as PNG files (ISO/IEC 15948): eight bits a channel, no palette, one compressed stream."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import ndarray


def png(image: ndarray) -> bytes:
    """image [H, W, 3] of 0 to 255 -> the file. The same image gives the same bytes."""
    height, width, _ = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image.astype("uint8"))  # 0: each row is stored as it is
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows, 9)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
