# SPDX-License-Identifier: MIT
"""Hostile .npy, .npz and CSV files of one's own data, by grammar."""

import io
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from fuzz.checks import require
from fuzz.data_files import npy, other_array
from fuzz.strangers import damaged, read_hostile
from fuzz.values import Chance

from svmf.data.arrays import KINDS, ArraySet, load_array_set

BYTES_PER_BYTE = 40_000  # deflate packs zeros 1000 times, and rows become float64
FIELDS = (
    "1",
    "0",
    "-0.5",
    "1e400",
    "nan",
    "inf",
    "",
    "x",
    "1_0",
    '"1"',
    "0x10",
    "9" * 400,
    "\0",
    "é",
)


def table(chance: Chance) -> bytes:
    """A table of numbers, in which some fields are others."""
    mark = chance.pick((",", ";", "\t", " ", ",,"))
    lines = []
    for _ in range(chance.pick((0, 1, 5, 40))):
        fields = [str(round(chance.random.random(), 3)) for _ in range(3)]
        if chance.one_in(20):
            fields[chance.random.randrange(3)] = chance.pick(FIELDS)
        lines.append(mark.join(fields[: 3 if not chance.one_in(40) else 2]))
    names = chance.pick(("", "a,b,c\n", "\ufeff1,2,3\n", "# comment\n"))
    return (names + chance.pick(("\n", "\r\n", "\r")).join(lines)).encode()


def array_file(chance: Chance, suffix: str) -> bytes:
    if suffix in (".csv", ".tsv", ".txt"):
        return table(chance)
    rows = chance.pick((0, 1, 12, 40))
    array = chance.normal((rows, 4)).numpy().astype(chance.pick(("<f4", "<f8", "<i4")))
    if chance.one_in(4) and array.size and array.dtype.kind == "f":
        array.flat[chance.random.randrange(array.size)] = chance.pick((np.nan, np.inf, -np.inf))
    if chance.one_in(3) and array.size:
        array = other_array(chance, array)
    if suffix == ".npy":
        return npy(chance, array)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", chance.pick((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as made:
        names = chance.pick(
            (("x",), ("data", "labels"), ("a", "b"), ("edge_index",), ("x", "x"), ())
        )
        for name in dict.fromkeys(names):
            made.writestr(f"{name}.npy", npy(chance, array))
    return out.getvalue()


def random_array_file(chance: Chance) -> str:
    suffix = chance.pick((".npy", ".npz", ".csv", ".tsv", ".txt"))
    content = array_file(chance, suffix)
    if chance.one_in(5):
        content = damaged(chance, content)
    kind = chance.pick((None, None, *KINDS))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows{suffix}"
        path.write_bytes(content)
        outcome = read_hostile(
            lambda: load_array_set(str(path), kind), require_rows, len(content), BYTES_PER_BYTE
        )
    return f"array.{outcome} {suffix} bytes={len(content)}"


def require_rows(rows: ArraySet) -> None:
    width = int(np.prod(rows.shape))
    for part in (rows.train, rows.validation, rows.test):
        require(
            part.dim() == 2 and part.shape[1] == width and len(part) > 0, "rows of another shape"
        )
        require(bool(part.float().isfinite().all()), "a value that is not finite")
    require(rows.kind in KINDS, f"a kind {rows.kind}")
