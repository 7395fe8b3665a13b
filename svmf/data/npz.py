# SPDX-License-Identifier: MIT
"""Plain arrays from an .npz archive of a stranger: no pickles, no header that is evaluated, and no
more memory than the archive can account for."""

import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from svmf.data.files import read_bounded, refuse_bomb
from svmf.errors import DataError

_MAX_FILE_BYTES = 1 << 28
_MAX_UNPACKED_BYTES = 1 << 29  # of all arrays; Pubmed, the largest, unpacks to 9 MB
_MAX_DIRECTORY_BYTES = 1 << 16  # twelve entries take 700
_END_BYTES = 22  # of the directory's end, when no comment follows
_LOCATOR_BYTES = 20  # of the 64-bit form, just before it

_HEADER = re.compile(
    rb"\{'descr': '([<|](?:[iu][1248]|f[248]|b1))', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}(?:, \d{1,18})*,?)?)\),? ?\} *\n"
)


def read_npz(path: Path, names: Sequence[str]) -> list[np.ndarray]:
    """The arrays of these names, in this order."""
    content = read_bounded(path, _MAX_FILE_BYTES)
    try:
        _check_directory(content)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [_find(archive, name) for name in names]
            unpacked = sum(entry.file_size for entry in entries)
            refuse_bomb(len(content), unpacked, _MAX_UNPACKED_BYTES)
            return [_array(archive.read(entry)) for entry in entries]
    except DataError as error:
        raise DataError(f"{path}: not a graph archive: {error}") from None
    except Exception as error:  # zipfile raises many kinds for a damaged file
        raise DataError(
            f"{path}: not a graph archive: {type(error).__name__}: {str(error)[:200]!r}"
        ) from error


def _check_directory(content: bytes) -> None:
    """The end of the archive states how large the directory is, which zipfile reads at once."""
    end = content[-_END_BYTES:]
    if len(end) < _END_BYTES or end[:4] != b"PK\5\6" or end[-2:] != b"\0\0":
        raise DataError("does not end like a zip archive")
    wide = content[-_END_BYTES - _LOCATOR_BYTES :][:4] == b"PK\6\7"
    if wide or int.from_bytes(end[12:16], "little") > _MAX_DIRECTORY_BYTES:
        raise DataError(f"its directory has more than {_MAX_DIRECTORY_BYTES >> 10} KiB")


def _find(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    found = [entry for entry in archive.infolist() if entry.filename == f"{name}.npy"]
    if len(found) != 1:
        raise DataError(f"expected one array {name!r}, found {len(found)}")
    if found[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DataError(f"array {name!r} has another compression than deflate")
    return found[0]


def _array(content: bytes) -> np.ndarray:
    """A file of NumPy's format, version 1 or 2."""
    if content[:6] != b"\x93NUMPY" or content[6:7] not in (b"\1", b"\2"):
        raise DataError("an entry is no array of NumPy's format 1 or 2")
    start = 10 if content[6] == 1 else 12
    stop = start + int.from_bytes(content[8:start], "little")
    header = _HEADER.fullmatch(content, start, stop) if stop <= len(content) else None
    if header is None:
        raise DataError("an array is not of plain numbers")
    dtype, body = np.dtype(header[1].decode()), memoryview(content)[stop:]
    shape = [int(size) for size in header[3].replace(b",", b" ").split()]
    count = 1
    for size in shape:
        count *= size
    if len(shape) > 2 or count * dtype.itemsize != len(body):
        raise DataError(f"an array of shape {shape[:4]} has {len(body):,} bytes")
    return np.frombuffer(body, dtype).reshape(shape, order="F" if header[2] == b"True" else "C")
