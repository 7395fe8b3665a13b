# SPDX-License-Identifier: MIT
"""Errors of the special functions against the tables of true values in tests/reference_tables.

A table (tools/make_reference_tables.py) has 25 digits; a value is kept as the sum of two doubles.
An error is counted in eps of the type, relative to |value|; for logarithms, which cross zero,
relative to the larger of |value| and |kappa d/dkappa value|. `QUANTITIES` states the bound of every
function: tests/math enforces it, docs/math.md shows it beside the measured maximum
(tools/error_table.py).
"""

import functools
import gzip
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

import svmf.functional as F
from helpers.paths import TESTS

Array = NDArray[numpy.float64]
Rows = dict[str, Array]

DATA = TESTS / "reference_tables"
DTYPES = {"float64": torch.float64, "float32": torch.float32}
# Where the functions are computed; tests/cuda sets another one.
DEVICE = torch.device("cpu")
_ops = torch.ops.svmf


@functools.cache
def load(table: str, dtype: str) -> Rows:
    """The columns of a table; a column of truths has a second one, `<name>_low`, to be added."""
    with gzip.open(DATA / f"{table}.csv.gz", "rt") as stream:
        names = stream.readline().strip().split(",")
        rows = [line.strip().split(",") for line in stream if line.startswith(dtype + ",")]
    columns: Rows = {}
    for name, texts in zip(names, zip(*rows, strict=True), strict=True):
        if name in ("dtype", "kind"):
            columns[name] = numpy.array(texts)
            continue
        high = numpy.array([float(text) for text in texts])
        columns[name] = high
        columns[name + "_low"] = numpy.array(
            [float(Decimal(text) - Decimal(value)) for text, value in zip(texts, high, strict=True)]
        )
    return columns


def take(rows: Rows, chosen: NDArray[numpy.bool_]) -> Rows:
    return {name: column[chosen] for name, column in rows.items()}


def _for_each(rows: Rows, key: str, dtype: torch.dtype, call: Callable) -> Array:
    """call(rows as tensors, value) for every value of a column, put together in the rows' order."""
    result = numpy.empty(rows[key].size)
    for value in numpy.unique(rows[key]):
        chosen = rows[key] == value
        part = {
            name: torch.from_numpy(column[chosen]).to(DEVICE, dtype)
            for name, column in rows.items()
            if column.dtype == numpy.float64
        }
        result[chosen] = call(part, value).double().cpu().numpy()
    return result


@dataclass(frozen=True)
class Quantity:
    """One function, where its truth stands, and the error it is allowed."""

    name: str
    formula: str
    table: str
    column: str
    bound: float  # eps
    compute: Callable[[Rows, torch.dtype], Array]
    scale: Callable[[Rows], Array]
    where: Callable[[Rows], NDArray[numpy.bool_]] | None = None

    def rows(self, dtype: str) -> Rows:
        rows = load(self.table, dtype)
        return take(rows, self.where(rows)) if self.where else rows

    def errors(self, rows: Rows, dtype: str, computed: Array | None = None) -> Array:
        """In eps; nan if the function gave nan, inf, or zero for a representable true value."""
        if computed is None:
            computed = self.compute(rows, DTYPES[dtype])
        info = numpy.finfo(dtype)
        high, low = rows[self.column], rows[self.column + "_low"]
        difference = numpy.abs((computed - high) - low)
        scale = self.scale(rows)
        error = numpy.zeros_like(difference)
        normal = scale >= info.tiny
        error[normal] = difference[normal] / scale[normal] / info.eps
        # below the normal range the grid of the type is coarser than its eps
        error[~normal] = difference[~normal] / (info.smallest_subnormal * 4)
        counts = (numpy.abs(high) >= info.tiny) & (numpy.abs(high) > info.eps * scale)
        error[(computed == 0) & counts] = numpy.nan
        return error

    def largest(self, dtype: str) -> tuple[float, str]:
        """The largest error of all rows, and where it is."""
        rows = self.rows(dtype)
        errors = self.errors(rows, dtype)
        worst = int(numpy.argmax(numpy.where(numpy.isfinite(errors), errors, numpy.inf)))
        arguments = [n for n in ("m", "kappa", "order", "x", "given") if n in rows]
        return float(errors[worst]), ", ".join(f"{n}={rows[n][worst]!r}" for n in arguments)


def _of_kappa(function: Callable[[Tensor, int], Tensor]) -> Callable[[Rows, torch.dtype], Array]:
    return lambda rows, dtype: _for_each(
        rows, "m", dtype, lambda part, m: function(part["kappa"], int(m))
    )


def _of_order(function: Callable[[float, Tensor], Tensor]) -> Callable[[Rows, torch.dtype], Array]:
    return lambda rows, dtype: _for_each(
        rows, "order", dtype, lambda part, order: function(float(order), part["x"])
    )


def _pathwise(rows: Rows, dtype: torch.dtype) -> Array:
    return _for_each(
        rows,
        "m",
        dtype,
        lambda part, m: F.vmf_pathwise_derivative(part["given"], part["kappa"], int(m)),
    )


def _relative(column: str) -> Callable[[Rows], Array]:
    return lambda rows: numpy.abs(rows[column])


def _or_slope(column: str, slope: Callable[[Rows], Array]) -> Callable[[Rows], Array]:
    """The scale of a logarithm, given kappa d/dkappa of it."""
    return lambda rows: numpy.maximum(numpy.abs(rows[column]), numpy.abs(slope(rows)))


def has_table(order: Array) -> NDArray[numpy.bool_]:
    """Orders with polynomials of their own (csrc/math/log_bessel.h); others take a recurrence."""
    half_integer = (order >= 0) & (order <= 31) & (2 * order == numpy.floor(2 * order))
    return half_integer | (order >= 31.5)


def _kappa_quantity(
    name: str,
    formula: str,
    column: str,
    bound: float,
    function: Callable[[Tensor, int], Tensor],
    scale: Callable[[Rows], Array] | None = None,
) -> Quantity:
    scale = scale or _relative(column)
    return Quantity(name, formula, "vmf_kappa", column, bound, _of_kappa(function), scale)


_LOG_IV_SCALE = _or_slope("log_iv", lambda rows: rows["slope"])
_LOG_IVE_SCALE = _or_slope("log_ive", lambda rows: rows["slope"] - rows["x"])


def _bessel(
    name: str,
    formula: str,
    column: str,
    bound: float,
    scale: Callable[[Rows], Array] | None = None,
    where: Callable[[Rows], NDArray[numpy.bool_]] | None = None,
    op: str = "",
    table: str = "bessel_k",
) -> Quantity:
    function = getattr(_ops, op) if op else getattr(F, name)
    scale = scale or _relative(column)
    return Quantity(name, formula, table, column, bound, _of_order(function), scale, where)


def _is_far(rows: Rows) -> NDArray[numpy.bool_]:
    """Where d/dv log I_v keeps its digits: csrc/math/log_bessel_far.h, up to e^-2x."""
    return (numpy.hypot(rows["order"], rows["x"]) > 20.001) & (rows["order"] >= 1)


QUANTITIES = (
    _kappa_quantity("vmf_mean_length", "A", "A", 4, F.vmf_mean_length),
    _kappa_quantity("vmf_mean_length_complement", "1 - A", "one_minus_A", 4,
                    F.vmf_mean_length_complement),
    _kappa_quantity("its derivative", "A'", "dA", 4, _ops._vmf_mean_length_grad),
    _kappa_quantity("second derivative", "A''", "d2A", 6, _ops._vmf_mean_length_grad2),
    _kappa_quantity("vmf_kl_uniform", "KL", "KL", 4, F.vmf_kl_uniform),
    _kappa_quantity("its derivative", "KL'", "dKL", 4, _ops._vmf_kl_uniform_grad),
    _kappa_quantity("second derivative", "KL'' (rel. to A')", "d2KL", 4,
                    _ops._vmf_kl_uniform_grad2, _or_slope("d2KL", lambda rows: rows["dA"])),
    _kappa_quantity("vmf_log_partition", "L", "L", 4, F.vmf_log_partition),
    _kappa_quantity("vmf_log_norm", "log C", "logC", 4, F.vmf_log_norm,
                    _or_slope("logC", lambda rows: rows["kappa"] * rows["A"])),
    _kappa_quantity("vmf_entropy", "entropy", "entropy", 4, F.vmf_entropy,
                    _or_slope("entropy", lambda rows: rows["kappa"] * rows["dKL"])),
    _bessel("log_iv", "log I_v", "log_iv", 4, _LOG_IV_SCALE, table="bessel"),
    _bessel("log_ive", "log(e^-x I_v), 2v integer or v >= 31.5", "log_ive", 4, _LOG_IVE_SCALE,
            lambda rows: has_table(rows["order"]), table="bessel"),
    _bessel("log_ive", "log(e^-x I_v), other orders", "log_ive", 32, _LOG_IVE_SCALE,
            lambda rows: ~has_table(rows["order"]), table="bessel"),
    _bessel("iv_ratio", "I_v/I_(v-1), 2v integer or v >= 32.5", "iv_ratio", 4,
            where=lambda rows: has_table(rows["order"] - 1), table="bessel"),
    _bessel("iv_ratio", "I_v/I_(v-1), other orders", "iv_ratio", 6,
            where=lambda rows: ~has_table(rows["order"] - 1), table="bessel"),
    _bessel("log_kv", "log K_v", "log_kv", 4,
            _or_slope("log_kv", lambda rows: rows["x"] * (rows["slope"] - 1))),
    _bessel("log_kve", "log(e^x K_v)", "log_kve", 4,
            _or_slope("log_kve", lambda rows: rows["x"] * rows["slope"])),
    _bessel("its derivative", "d/dx log(e^x K_v)", "slope", 6, op="_log_kve_grad"),
    _bessel("second derivative", "d^2/dx^2 log K_v", "bend", 16, op="_log_kve_grad2"),
    _bessel("log_kv_order_derivative", "d/dv log K_v", "kv_order", 6),
    _bessel("log_iv_order_derivative", "d/dv log I_v, v >= 1, v^2 + x^2 > 400", "iv_order", 4,
            where=_is_far),
    _bessel("log_iv_order_derivative", "d/dv log I_v, elsewhere (rel. to 1/2 at least)",
            "iv_order", 16, lambda rows: numpy.maximum(numpy.abs(rows["iv_order"]), 0.5),
            lambda rows: ~_is_far(rows)),
    Quantity("vmf_pathwise_derivative", "dw/dkappa", "vmf_pathwise", "D", 4, _pathwise,
             _relative("D"), lambda rows: rows["kind"] == "w"),
)  # fmt: skip
