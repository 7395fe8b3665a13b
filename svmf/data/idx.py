# SPDX-License-Identifier: MIT
"""Reader of idx files (the format of MNIST), plain or gzipped.

The header states the size, so exactly that many bytes are read: a truncated file, a file with
something behind the end and a compression bomb are all refused without being expanded.
"""

import gzip
import io
import math
import os
import zlib
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from svmf.data.files import refuse_bomb
from svmf.errors import DataError

_UNSIGNED_BYTE = 0x08
_MAX_BYTES = 1 << 32  # no image set for this package is near it; a forged header may be
_PIECE_BYTES = 1 << 20


def read_idx(path: Path) -> np.ndarray:
    """The array of unsigned bytes in an idx file."""
    try:
        with path.open("rb") as file:
            packed = os.fstat(file.fileno()).st_size
            if path.suffix != ".gz":
                return _read(cast(BinaryIO, file), path, packed)
            with gzip.open(file) as stream:
                return _read(cast(BinaryIO, stream), path, packed)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read as an idx file: {error}") from error


def _read(stream: BinaryIO, path: Path, packed: int) -> np.ndarray:
    head = stream.read(4)
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] != _UNSIGNED_BYTE or not 1 <= head[3] <= 4:
        raise DataError(
            f"{path}: expected an idx file of unsigned bytes (magic 00 00 08 01..04), "
            f"got magic {head.hex(' ') or 'of an empty file'}"
        )
    rank = head[3]
    sizes = stream.read(4 * rank)
    if len(sizes) < 4 * rank:
        raise DataError(f"{path}: truncated inside the idx header")
    shape = tuple(int(n) for n in np.frombuffer(sizes, ">u4"))
    claimed = math.prod(filter(None, shape))  # NumPy, too, wants room for the other sizes of (0, n)
    try:
        refuse_bomb(packed, claimed, _MAX_BYTES)
    except DataError as error:
        raise DataError(f"{path}: the header claims shape {shape}: {error}") from None
    expected = claimed if all(shape) else 0
    body = _read_up_to(stream, expected + 1)
    if len(body) != expected:
        got = "more" if len(body) > expected else f"{len(body):,}"
        raise DataError(f"{path}: expected {expected:,} bytes for shape {shape}, got {got}")
    return np.frombuffer(body, np.uint8).reshape(shape)


def _read_up_to(stream: BinaryIO, count: int) -> bytes:
    """In pieces: one read would reserve the memory that a lying header asks for."""
    pieces = io.BytesIO()
    while count > 0 and (piece := stream.read(min(count, _PIECE_BYTES))):
        pieces.write(piece)
        count -= len(piece)
    return pieces.getvalue()
