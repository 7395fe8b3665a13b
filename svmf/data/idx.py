# SPDX-License-Identifier: MIT
"""Reader of idx files (the format of MNIST), plain or gzipped.

The header states the size, so exactly that many bytes are read: a truncated file, a file with
something behind the end and a compression bomb are all refused without being expanded.
"""

import gzip
import zlib
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from svmf.errors import DataError

_UNSIGNED_BYTE = 0x08
_MAX_BYTES = 1 << 32  # no image set for this package is near it; a forged header may be


def read_idx(path: Path) -> np.ndarray:
    """The array of unsigned bytes in an idx file."""
    try:
        with open_binary(path) as stream:
            return _read(stream, path)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read as an idx file: {error}") from error


def open_binary(path: Path) -> BinaryIO:
    """The content of a file, decompressed if its name ends in .gz."""
    return cast(BinaryIO, gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb"))


def _read(stream: BinaryIO, path: Path) -> np.ndarray:
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
    expected = 1
    for n in shape:
        expected *= n
    if expected > _MAX_BYTES:
        raise DataError(f"{path}: the header claims {expected:,} bytes, more than {_MAX_BYTES:,}")
    body = stream.read(expected + 1)
    if len(body) != expected:
        got = "more" if len(body) > expected else f"{len(body):,}"
        raise DataError(f"{path}: expected {expected:,} bytes for shape {shape}, got {got}")
    return np.frombuffer(body, np.uint8).reshape(shape)
