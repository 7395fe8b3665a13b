# SPDX-License-Identifier: MIT
"""One's own data: a .npy, .npz or CSV file, a folder of images, or an array, as rows to train on.

What the rows are decides the likelihood: grey images and binary rows are Bernoulli, unit vectors
von Mises-Fisher, everything else real numbers with a Gaussian.
"""

import io
import math
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from svmf.data.files import read_bounded, refuse_bomb
from svmf.data.pictures import pictures_in, read_pictures
from svmf.errors import DataError, one_line

KINDS = ("grey", "binary", "unit", "real")
_MAX_CSV_BYTES = 1 << 31
_MAX_UNPACKED_BYTES = 1 << 36
_UNIT_TOLERANCE = 1e-3  # of a row's norm: float16 embeddings are unit vectors, too
_SPLIT_SEED = 0  # one split for all runs on the same rows


@dataclass(frozen=True)
class ArraySet:
    """Rows [n, values] of one kind, split; `shape` is that of one row as it came."""

    name: str
    kind: str  # one of KINDS; grey rows are bytes, all others float32
    shape: tuple[int, ...]
    train: Tensor
    validation: Tensor
    test: Tensor


def is_array_path(name: str) -> bool:
    """Whether a name of data means this module, by its ending or as a folder of images."""
    if Path(name).suffix.lower() in (".npy", ".npz", ".csv", ".tsv", ".txt"):
        return True
    return os.path.isdir(name) and bool(pictures_in(Path(name)))


def load_array_set(
    name: str, kind: str | None = None, validation_rows: int | None = None
) -> ArraySet:
    """The data of a path. `kind` is found out unless it is given."""
    return make_array_set(read_array(Path(name)), Path(name).stem, kind, validation_rows)


def make_array_set(
    values: Any, name: str = "array", kind: str | None = None, validation_rows: int | None = None
) -> ArraySet:
    """Rows of a tensor, an array or a table, split at random: a tenth tests, a tenth validates."""
    rows = as_rows(values, name)
    found = kind_of(rows) if kind is None else _checked_kind(rows, kind, name)
    if found == "grey" and rows.dtype != torch.uint8:
        rows = (rows.clamp(0, 1) * 255).round().to(torch.uint8)
    elif found != "grey":
        rows = rows.float()
    if found == "unit":
        rows = torch.nn.functional.normalize(rows.double(), dim=-1).float()
    shape = tuple(rows.shape[1:])
    count, held = len(rows), max(len(rows) // 10, 1)
    validating = held if validation_rows is None else validation_rows
    if not 1 <= validating <= count - held - 1:
        raise DataError(
            f"{name}: {count} rows are too few to hold out {validating} to validate and {held} "
            "to test"
        )
    order = torch.randperm(count, generator=torch.Generator().manual_seed(_SPLIT_SEED))
    rows = rows.reshape(count, -1)[order]
    train, validation, test = rows.split([count - validating - held, validating, held])
    return ArraySet(name, found, shape, train, validation, test)


def as_rows(values: Any, name: str = "array") -> Tensor:
    """A tensor, an array, a DataFrame or nested lists as numbers [rows, ...] on the CPU, finite in
    float32 too."""
    if isinstance(values, Tensor):
        rows = _dense(values.detach(), name)
    else:
        try:
            array = np.asarray(values)
        except ValueError as error:
            raise DataError(f"{name}: not an array of numbers: {error}") from error
        if array.dtype.kind not in "buif":
            raise DataError(f"{name}: expected numbers, got {array.dtype}")
        if np.ma.is_masked(values):
            raise DataError(f"{name}: has masked values; fill them first")
        wide = array.dtype.itemsize > 1 or array.dtype.kind == "f"
        rows = torch.from_numpy(np.array(array, np.float64 if wide else array.dtype, order="C"))
    if rows.dim() < 2 or not rows.numel():
        raise DataError(f"{name}: expected rows of values, got shape {list(rows.shape)}")
    for read, what in ((rows, "is not finite"), (rows.float(), "float32 has no place for")):
        sound = torch.isfinite(read.reshape(len(rows), -1)).all(1)
        if not bool(sound.all()):
            raise DataError(f"{name}: row {int(sound.int().argmin())} has a value that {what}")
    return rows


def _dense(values: Tensor, name: str) -> Tensor:
    """On the CPU, of a type that has arithmetic; bfloat16 and float16 have little of it."""
    if values.layout is not torch.strided or values.is_quantized or values.is_nested:
        raise DataError(f"{name}: expected a dense tensor; call its to_dense() or dequantize()")
    if values.is_meta:
        raise DataError(f"{name}: expected a tensor with data, got one on the meta device")
    if values.is_complex():
        raise DataError(f"{name}: expected real numbers, got {values.dtype}")
    rows = values.cpu()
    return rows.float() if rows.is_floating_point() and rows.dtype.itemsize < 4 else rows


def kind_of(rows: Tensor) -> str:
    """What the rows are, the narrowest first."""
    if rows.dtype == torch.uint8 and int(rows.max()) > 1:
        return "grey"
    values = rows.double()
    if bool(((values == 0) | (values == 1)).all()):
        return "binary"
    if _are_unit(values):
        return "unit"
    inside = float(values.min()) >= 0 and float(values.max()) <= 1
    return "grey" if inside else "real"


def _checked_kind(rows: Tensor, kind: str, name: str) -> str:
    values = rows.double()
    if kind not in KINDS:
        raise DataError(f"{name}: expected a kind among {', '.join(KINDS)}, got {kind!r}")
    if kind == "unit" and not _are_unit(values):
        norms = values.reshape(len(values), -1).norm(dim=-1)
        worst = float(norms[(norms - 1).abs().argmax()])
        raise DataError(f"{name}: expected unit vectors, got a row of norm {worst:g}")
    if kind == "binary" and not bool(((values == 0) | (values == 1)).all()):
        raise DataError(f"{name}: expected zeros and ones")
    if kind == "grey" and rows.dtype != torch.uint8:
        low, high = float(values.min()), float(values.max())
        if low < 0 or high > 1:
            raise DataError(f"{name}: expected grey values in [0, 1], got {low:g} to {high:g}")
    return kind


def _are_unit(values: Tensor) -> bool:
    flat = values.reshape(len(values), -1)
    return flat.shape[1] > 1 and bool(((flat.norm(dim=-1) - 1).abs() < _UNIT_TOLERANCE).all())


def read_array(path: Path) -> np.ndarray:
    """The array of a file or of a folder of images."""
    if os.path.isdir(path):
        return read_pictures(path)
    suffix = path.suffix.lower()
    try:
        if suffix == ".npy":
            return _read_npy(path)
        if suffix == ".npz":
            return _read_npz(path)
        return _read_text(path, "\t" if suffix == ".tsv" else None)
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except Exception as error:  # zipfile and numpy raise many kinds for a damaged file
        why = one_line(str(error).strip(), 200)
        raise DataError(f"{path}: cannot be read: {type(error).__name__}: {why}") from error


def _read_npy(path: Path) -> np.ndarray:
    if not path.is_file() and path.exists():
        raise DataError(f"{path}: not a regular file")
    with path.open("rb") as stream:
        return _array_from(stream, path.stat().st_size, str(path))


def _read_npz(path: Path) -> np.ndarray:
    """The array `x`, `data` or `images`, or the only one of two or more dimensions."""
    if not path.is_file() and path.exists():
        raise DataError(f"{path}: not a regular file")
    with zipfile.ZipFile(path) as archive:
        entries = {e.filename.removesuffix(".npy"): e for e in archive.infolist()}
        if "edge_index" in entries:
            raise DataError(f"{path}: holds a graph; train it with svgae or nvgae")
        usual: list[str] = [name for name in ("x", "X", "data", "images") if name in entries]
        names = usual[:1] or list(entries)
        if len(names) != 1:
            raise DataError(
                f"{path}: expected an array named x, data or images, or one array alone; "
                f"it has {one_line(', '.join(sorted(names)[:10]))}"
            )
        entry = entries[names[0]]
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataError(f"{path}: has another compression than deflate")
        refuse_bomb(path.stat().st_size, entry.file_size, _MAX_UNPACKED_BYTES)
        with archive.open(entry) as packed:
            content = packed.read(entry.file_size + 1)
    return _array_from(io.BytesIO(content), len(content), f"{path}[{one_line(names[0])}]")


def _array_from(stream: Any, size: int, name: str) -> np.ndarray:
    """NumPy's format, with the header held against the size before any memory is asked for."""
    version = np.lib.format.read_magic(stream)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        raise DataError(f"{name}: NumPy's format {version} is not read")
    shape, fortran, dtype = read_header(stream)
    if dtype.hasobject or dtype.kind not in "buif":
        raise DataError(f"{name}: expected numbers, got {dtype}")
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count * dtype.itemsize != size - stream.tell():
        raise DataError(f"{name}: the header says {shape} of {dtype}, the file has another size")
    values = np.frombuffer(stream.read(), dtype)
    return values.reshape(shape, order="F" if fortran else "C")


def _read_text(path: Path, delimiter: str | None) -> np.ndarray:
    """Numbers between commas, semicolons, tabs or spaces, with or without a line of names."""
    text = read_bounded(path, _MAX_CSV_BYTES).decode("utf-8-sig")  # spreadsheets write a mark first
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise DataError(f"{path}: empty")
    if delimiter is None:
        delimiter = next((mark for mark in (",", ";", "\t") if mark in lines[0]), None)
    names = 0 if _is_numbers(lines[0].split(delimiter)) else 1
    if len(lines) == names:
        raise DataError(f"{path}: has a line of names and no rows")
    try:
        return np.loadtxt(lines[names:], delimiter=delimiter, ndmin=2)
    except ValueError as error:
        raise DataError(f"{path}: not a table of numbers: {one_line(str(error), 200)}") from error


def _is_numbers(fields: list[str]) -> bool:
    try:
        [float(field) for field in fields]
    except ValueError:
        return False
    return True
