# SPDX-License-Identifier: MIT
"""What a Planetoid pickle may hold: names, and the four kinds of objects that it makes.

An object is made empty and built once, from a state that is checked to the last field. NumPy sees
bytes of a checked length and nothing else.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from svmf.errors import DataError

_DTYPES = frozenset([b"i4", b"i8", b"f4", b"f8"])
_DTYPE_STATE = (3, b"<", None, None, None, -1, -1, 0)  # version 3, little-endian, no structure


@dataclass(frozen=True)
class CsrMatrix:
    """Compressed sparse rows, checked: row r holds the entries indptr[r] .. indptr[r + 1]."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]


class Name(Enum):
    """What a pickle may name. The members stand for the things and do nothing."""

    RECONSTRUCT = b"numpy.core.multiarray _reconstruct"
    NDARRAY = b"numpy ndarray"
    DTYPE = b"numpy dtype"
    CSR_MATRIX = b"scipy.sparse.csr csr_matrix"
    DEFAULTDICT = b"collections defaultdict"
    LIST = b"__builtin__ list"


class Adjacency:
    """defaultdict(list): from a node to its neighbours."""

    def __init__(self) -> None:
        self.neighbours: dict[int, list[int]] = {}


class Dtype:
    def __init__(self, code: bytes) -> None:
        self.code = code
        self.value: np.dtype[Any] | None = None

    def build(self, state: Any) -> None:
        if state != _DTYPE_STATE:
            raise DataError("a type of an unexpected layout")
        self.value = np.dtype(f"<{self.code.decode()}")


class Array:
    value: np.ndarray | None = None

    def build(self, state: Any) -> None:
        if type(state) is not tuple or len(state) != 5:
            raise DataError("an array of an unexpected layout")
        version, shape, dtype, fortran, data = state
        if not isinstance(dtype, Dtype) or dtype.value is None or type(data) is not bytes:
            raise DataError("an array of an unexpected type")
        sizes = type(shape) is tuple and 1 <= len(shape) <= 2 and all(map(is_size, shape))
        if version != 1 or fortran not in (0, False) or not sizes:
            raise DataError("an array of an unexpected layout")
        expected = dtype.value.itemsize * shape[0] * (shape[1] if len(shape) == 2 else 1)
        if len(data) != expected:
            raise DataError(f"an array of {expected:,} bytes with {len(data):,}")
        self.value = np.frombuffer(data, dtype.value).reshape(shape)


class Csr:
    value: CsrMatrix | None = None

    def build(self, state: Any) -> None:
        fields = state if type(state) is dict else {}
        arrays = [fields.get(name) for name in (b"data", b"indices", b"indptr")]
        data, indices, indptr = (a.value if isinstance(a, Array) else None for a in arrays)
        shape = fields.get(b"_shape")
        if data is None or indices is None or indptr is None or type(shape) is not tuple:
            raise DataError("a CSR matrix lacks a part")
        sound = (
            len(shape) == 2
            and all(map(is_size, shape))
            and data.ndim == indices.ndim == 1
            and indices.dtype.kind == indptr.dtype.kind == "i"
            and indptr.shape == (shape[0] + 1,)
            and indptr[0] == 0
            and indptr[-1] == len(indices) == len(data)
            and bool(np.all(indptr[:-1] <= indptr[1:]))
            and (not len(indices) or (indices.min() >= 0 and indices.max() < shape[1]))
        )
        if not sound:
            raise DataError("an inconsistent CSR matrix")
        self.value = CsrMatrix(data, indices, indptr, shape)


def called(name: Any, arguments: Any) -> Adjacency | Array | Dtype:
    """What a call of `name` stands for; there are three that an honest file makes."""
    if name is Name.RECONSTRUCT and arguments == (Name.NDARRAY, (0,), b"b"):
        return Array()
    if name is Name.DEFAULTDICT and arguments == (Name.LIST,):
        return Adjacency()
    if name is Name.DTYPE and type(arguments) is tuple and len(arguments) == 3:
        code, *rest = arguments
        if type(code) is bytes and code in _DTYPES and rest == [0, 1]:
            return Dtype(code)
    raise DataError("calls something with arguments that this data set does not need")


def is_size(value: Any) -> bool:
    return type(value) is int and value >= 0
