# SPDX-License-Identifier: MIT
"""Reads the pickles of the Planetoid graphs without trusting them.

A pickle is a program. This reader admits only the opcodes and the six names that honest files
use, and gives each name a harmless stand-in that records its arguments: neither NumPy nor SciPy
runs on unchecked input. Arrays are rebuilt afterwards, from raw bytes of a checked length.
"""

import io
import pickle
import pickletools
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from svmf.errors import DataError

MAX_FILE_BYTES = 64 << 20  # the largest honest file has 7.6 MB

_OPCODES = frozenset({
    "PROTO", "STOP", "MARK", "GLOBAL", "REDUCE", "BUILD", "NEWOBJ",
    "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "SHORT_BINSTRING", "BINSTRING",
    "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3",
    "EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_DICT", "SETITEMS",
    "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET",
})  # fmt: skip
_DTYPES = frozenset(["i4", "i8", "f4", "f8"])


class _Recorder:
    """Base of the stand-ins: keeps what the pickle hands over, and computes nothing."""

    def __init__(self, *args: Any) -> None:
        self.args = args
        self.recorded: Any = None

    def __setstate__(self, recorded: Any) -> None:
        self.recorded = recorded


class _ArrayRecord(_Recorder):
    """Stands for numpy.core.multiarray._reconstruct: (type, shape, code)."""


class _ArrayType(_Recorder):
    """Stands for numpy.ndarray, which appears as an argument only."""


class _DtypeRecord(_Recorder):
    """Stands for numpy.dtype: (code, align, copy), then the byte order."""


class _CsrRecord(_Recorder):
    """Stands for scipy.sparse.csr_matrix: a dict of arrays."""

    def __new__(cls, *args: Any) -> "_CsrRecord":
        instance = super().__new__(cls)
        instance.recorded = None
        return instance


def _list_dict(factory: Any) -> defaultdict[Any, list[Any]]:
    if factory is not list:
        raise DataError("a defaultdict with another factory than list")
    return defaultdict(list)


_NAMES: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _ArrayRecord,
    ("numpy", "ndarray"): _ArrayType,
    ("numpy", "dtype"): _DtypeRecord,
    ("scipy.sparse.csr", "csr_matrix"): _CsrRecord,
    ("collections", "defaultdict"): _list_dict,
    ("__builtin__", "list"): list,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _NAMES[module, name]
        except KeyError:
            raise DataError(f"names {module}.{name}, which this data set does not need") from None


def load_pickle(path: Path) -> Any:
    """Arrays, CSR matrices (as dicts of arrays and a shape) and dicts of lists of integers."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise DataError(f"larger than {MAX_FILE_BYTES >> 20} MiB")
        content = path.read_bytes()
        _check_opcodes(content)
        # fix_imports would rename __builtin__ before find_class sees it
        loaded = _Unpickler(io.BytesIO(content), fix_imports=False, encoding="latin1").load()
        return _rebuild(loaded)
    except DataError as error:
        raise DataError(f"{path}: refused: {error}") from None
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except Exception as error:  # a hostile file can raise anything; none of it is a crash
        raise DataError(
            f"{path}: not a readable Planetoid pickle: {type(error).__name__}: {error}"
        ) from error


def _check_opcodes(content: bytes) -> None:
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name not in _OPCODES:
            raise DataError(f"uses the pickle opcode {opcode.name}")
        # the C unpickler makes its memo as long as the largest index
        if opcode.name == "LONG_BINPUT" and int(argument or 0) > len(content):
            raise DataError(f"memo index {argument} in a file of {len(content)} bytes")


def _rebuild(loaded: Any) -> Any:
    if isinstance(loaded, _ArrayRecord):
        return _array(loaded)
    if isinstance(loaded, _CsrRecord):
        return _csr(loaded)
    if isinstance(loaded, defaultdict):
        if not all(
            _is_node(node) and isinstance(ends, list) and all(map(_is_node, ends))
            for node, ends in loaded.items()
        ):
            raise DataError("expected a dict from node to list of nodes")
        return dict(loaded)
    raise DataError(f"expected an array, a CSR matrix or an adjacency dict, got {type(loaded)}")


def _is_node(value: Any) -> bool:
    return type(value) is int and value >= 0


def _array(record: _ArrayRecord) -> np.ndarray:
    version, shape, dtype, fortran, data = record.recorded
    code = dtype.args[0]
    if code not in _DTYPES or dtype.recorded[1] != "<":
        raise DataError(f"an array of type {dtype.recorded[1]}{code}")
    if version != 1 or fortran not in (0, False) or not all(map(_is_node, shape)):
        raise DataError("an array with an unexpected layout")
    flat = np.frombuffer(data.encode("latin1"), f"<{code}")
    expected = 1
    for size in shape:
        expected *= size
    if len(flat) != expected:
        raise DataError(f"an array of shape {shape} with {len(flat)} entries")
    return flat.reshape(shape)


def _csr(record: _CsrRecord) -> dict[str, Any]:
    fields = record.recorded
    rows, columns = fields["_shape"]
    data, indices, indptr = (_array(fields[name]) for name in ("data", "indices", "indptr"))
    sound = (
        indptr.shape == (rows + 1,)
        and indptr[0] == 0
        and indptr[-1] == len(indices) == len(data)
        and bool(np.all(np.diff(indptr) >= 0))
        and (not len(indices) or (indices.min() >= 0 and indices.max() < columns))
    )
    if not sound:
        raise DataError("an inconsistent CSR matrix")
    return {"data": data, "indices": indices, "indptr": indptr, "shape": (rows, columns)}
