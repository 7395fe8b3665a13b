# SPDX-License-Identifier: MIT
"""Reads tests/data/*.csv.gz (made by tools/make_reference_tables.py) and measures errors in eps.

A true value has 25 digits and is kept as the sum of two doubles, so that the difference to a
computed float64 is known to far below its rounding unit.
"""

import csv
import gzip
from decimal import Decimal
from pathlib import Path

import numpy
from numpy.typing import ArrayLike, NDArray

DATA = Path(__file__).resolve().parent / "data"
_ARGUMENTS = {"m": int, "kappa": float, "order": float, "x": float, "kind": str, "given": float}

Array = NDArray[numpy.float64]


class Exact:
    """A column of true values, high + low."""

    def __init__(self, texts: list[str]):
        self.high = numpy.array([float(t) for t in texts])
        self.low = numpy.array(
            [float(Decimal(t) - Decimal(float(t))) for t in texts]  # Decimal(float) is exact
        )

    def __getitem__(self, rows: NDArray) -> "Exact":
        part = object.__new__(Exact)
        part.high, part.low = self.high[rows], self.low[rows]
        return part


def read_table(name: str, dtype: str) -> dict[str, NDArray | Exact]:
    """The columns of one table, for the rows of one dtype ("float32" or "float64").

    Arguments are arrays whose values are exact in that dtype; every other column is an Exact.
    """
    with gzip.open(DATA / f"{name}.csv.gz", "rt", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["dtype"] == dtype]
    result: dict[str, NDArray | Exact] = {}
    for column in rows[0]:
        texts = [row[column] for row in rows]
        if column in _ARGUMENTS:
            result[column] = numpy.array([_ARGUMENTS[column](t) for t in texts])
        elif column != "dtype":
            result[column] = Exact(texts)
    return result


def error_in_eps(computed: NDArray, true: Exact, scale: ArrayLike = 0.0) -> Array:
    """|computed - true| / max(|true|, scale) in units of eps of computed's dtype.

    nan and infinite results count as an infinite error. Below the normal range the unit is eps
    times the smallest normal number.
    """
    info = numpy.finfo(computed.dtype)
    unit = numpy.maximum(numpy.abs(true.high), scale)
    unit = numpy.maximum(unit, float(info.tiny)) * float(info.eps)
    value = numpy.asarray(computed, numpy.float64)
    difference = numpy.abs((numpy.where(numpy.isfinite(value), value, 0.0) - true.high) - true.low)
    return numpy.where(numpy.isfinite(value), difference / unit, numpy.inf)
