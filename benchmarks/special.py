# SPDX-License-Identifier: MIT
"""The special functions and the other ops without randomness, against SciPy's `ive` and
svmf.reference.

SciPy's side is what the paper's formulas need: for KL with its derivative four values of `ive`, for
log I_v the logarithm of one. One thread, kappa from 0.4 to 3000 spread evenly in its logarithm.
"""

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

import svmf.functional as F
from svmf._inventory import BESSEL, OF_KAPPA, OF_ROWS, PATHWISE, is_public
from svmf.benchmarking.report import number_text, ratio_of, ratio_text, table
from svmf.benchmarking.timing import Timing, choose_clock, threads, time_interleaved

DIMENSIONS = (3, 5, 10, 20, 40, 64, 65, 128)
ORDERS = (0.0, 0.5, 1.0, 2.3, 4.0, 10.0, 19.5, 31.0, 31.2, 63.0, 127.0)
_LOG_KAPPA = (-1.0, 8.0)
# svmf.reference integrates or iterates for some of them: it is measured on fewer values, and
# against svmf on as few.
_REFERENCE_SHARE = 100

Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class SpecialOp:
    """`arguments` (values, parameter, type, device) makes what every side is called with, by_scipy
    with NumPy arrays. `parameter` is the dimension m or the order v."""

    name: str
    parameter: str
    values: Sequence[float]
    arguments: Callable[[int, float, torch.dtype, str], Arguments]
    by_svmf: Callable[..., Any]
    by_reference: Callable[..., Any]
    by_scipy: Callable[..., Any] | None = None


@dataclass(frozen=True)
class SpecialTiming:
    """Timings at one parameter: "float64", "float32", "SciPy", a plain "copy", and "few"
    against "reference"."""

    op: str
    parameter: str
    value: float
    count: int
    few: int
    timings: Mapping[str, Timing]

    def ratio(self, ours: str, theirs: str, statistic: str = "median") -> float | None:
        return ratio_of(self.timings.get(ours), self.timings.get(theirs), statistic)

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def _random(
    count: int, dtype: torch.dtype, device: str, low: float = 0.0, high: float = 1.0
) -> Tensor:
    generator = torch.Generator().manual_seed(count)
    uniform = torch.rand(count, dtype=torch.float64, generator=generator)
    return (low + (high - low) * uniform).to(device, dtype)


def kappa_values(count: int, dtype: torch.dtype = torch.float64, device: str = "cpu") -> Tensor:
    return torch.exp(_random(count, dtype, device, *_LOG_KAPPA))


def _unit_rows(count: int, m: float, dtype: torch.dtype, device: str, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    normal = torch.randn(count, int(m), generator=generator, dtype=torch.float64)
    return torch.nn.functional.normalize(normal, dim=-1).to(device, dtype)


def _kappa_and_dim(count: int, m: float, dtype: torch.dtype, device: str) -> Arguments:
    return kappa_values(count, dtype, device), int(m)


def _order_and_x(count: int, v: float, dtype: torch.dtype, device: str) -> Arguments:
    return v, kappa_values(count, dtype, device)


def _length_and_dim(count: int, m: float, dtype: torch.dtype, device: str) -> Arguments:
    return _random(count, dtype, device, 0.01, 0.99), int(m)


def _cosine_kappa_dim(count: int, m: float, dtype: torch.dtype, device: str) -> Arguments:
    kappa = kappa_values(count, dtype, device)
    w = F.vmf_mean_length(kappa, int(m)) + _random(count, dtype, device, -0.01, 0.0)
    return w, kappa, int(m)


def _rows(kinds: Sequence[str]) -> Callable[[int, float, torch.dtype, str], Arguments]:
    """Arguments of an op of rows: unit vectors and one kappa or rho per row, each its own."""

    def arguments(count: int, m: float, dtype: torch.dtype, device: str) -> Arguments:
        rows = max(1, count // int(m))
        make = {
            "vector": lambda i: _unit_rows(rows, m, dtype, device, i),
            "kappa": lambda i: kappa_values(rows, dtype, device).roll(i),
            "rho": lambda i: _random(rows, dtype, device, 0.01, 0.99),
        }
        return tuple(make[kind](i) for i, kind in enumerate(kinds))

    return arguments


def _ive(order: float, x: Any) -> Any:
    import scipy.special

    return scipy.special.ive(order, x)


def _log_by_scipy(
    scaled: str, unscale: Callable[[Any, Any], Any] | None = None
) -> Callable[[float, Any], Any]:
    """The logarithm of `ive` or `kve`; with `unscale` that of the function without its factor."""

    def log(order: float, x: Any) -> Any:
        import numpy
        import scipy.special

        value = numpy.log(getattr(scipy.special, scaled)(order, x))
        return value if unscale is None else unscale(value, x)

    return log


def _ratio_by_scipy(order: float, x: Any) -> Any:
    return _ive(order, x) / _ive(order - 1, x)


def _mean_length_by_scipy(kappa: Any, m: int) -> Any:
    return _ratio_by_scipy(m / 2, kappa)


def _log_norm_by_scipy(kappa: Any, m: int) -> Any:
    import numpy

    v = m / 2
    constant = v * math.log(2 * math.pi)
    return (v - 1) * numpy.log(kappa) - constant - numpy.log(_ive(v - 1, kappa)) - kappa


def _entropy_by_scipy(kappa: Any, m: int) -> Any:
    return -kappa * _mean_length_by_scipy(kappa, m) - _log_norm_by_scipy(kappa, m)


def kl_by_scipy(kappa: Any, m: int) -> tuple[Any, Any]:
    """KL to the uniform distribution and its derivative as the paper writes them."""
    import numpy

    v = m / 2
    below, at, above, lowest = (_ive(order, kappa) for order in (v - 1, v, v + 1, v - 2))
    ratio = at / below
    log_norm = (v - 1) * numpy.log(kappa) - v * math.log(2 * math.pi) - numpy.log(below) - kappa
    log_area = math.log(2) + v * math.log(math.pi) - math.lgamma(v)
    slope = kappa / 2 * (above / below - ratio * (lowest + at) / below + 1)
    return kappa * ratio + log_norm + log_area, slope


def kl_by_svmf(kappa: Tensor, m: int) -> tuple[Tensor, Tensor]:
    return F.vmf_kl_uniform(kappa, m), torch.ops.svmf._vmf_kl_uniform_grad(kappa, m)


def _kl_by_reference(kappa: Tensor, m: int) -> Tensor | None:
    import svmf.reference

    leaf = kappa.clone().requires_grad_()
    svmf.reference.vmf_kl_uniform(leaf, m).sum().backward()
    return leaf.grad


def _reference(name: str) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        import svmf.reference

        return getattr(svmf.reference, name)(*arguments)

    return call


def _op(
    name: str,
    arguments: Callable[[int, float, torch.dtype, str], Arguments],
    by_scipy: Callable[..., Any] | None = None,
    *,
    values: Sequence[float] = DIMENSIONS,
    parameter: str = "m",
) -> SpecialOp:
    return SpecialOp(
        name, parameter, values, arguments, getattr(F, name), _reference(name), by_scipy
    )


def _slope_in_order(function: Callable[[float, Any], Any]) -> Callable[[float, Any], Any]:
    """SciPy has no derivative in the order: a difference of two values."""
    step = 1e-4

    def slope(order: float, x: Any) -> Any:
        return (function(order + step, x) - function(order - step, x)) / (2 * step)

    return slope


_FEW_DIMENSIONS = (3, 10, 64, 128)
_FEW_ORDERS = (1.0, 2.3, 19.5, 63.0)
_ROW_DIMENSIONS = (3, 10, 64, 512)
_BY_SCIPY = {
    "log_ive": _log_by_scipy("ive"),
    "iv_ratio": _ratio_by_scipy,
    "log_kv": _log_by_scipy("kve", operator.sub),
    "log_kve": _log_by_scipy("kve"),
    "log_iv_order_derivative": _slope_in_order(_log_by_scipy("ive")),
    "log_kv_order_derivative": _slope_in_order(_log_by_scipy("kve")),
    "vmf_mean_length": _mean_length_by_scipy,
    "vmf_log_norm": _log_norm_by_scipy,
    "vmf_entropy": _entropy_by_scipy,
}
KL = SpecialOp(
    "vmf_kl_uniform", "m", DIMENSIONS, _kappa_and_dim, kl_by_svmf, _kl_by_reference, kl_by_scipy
)
LOG_IV = _op(
    "log_iv", _order_and_x, _log_by_scipy("ive", operator.add), values=ORDERS, parameter="v"
)


def _from_inventory() -> Iterator[SpecialOp]:
    """Every op that users call, but for the samplers."""
    for name in filter(is_public, BESSEL):
        yield _op(name, _order_and_x, _BY_SCIPY.get(name), values=_FEW_ORDERS, parameter="v")
    for op in OF_KAPPA:
        if is_public(op.name):
            arguments = _kappa_and_dim if op.argument == "kappa" else _length_and_dim  # and rho
            yield _op(op.name, arguments, _BY_SCIPY.get(op.name), values=_FEW_DIMENSIONS)
    yield _op(PATHWISE, _cosine_kappa_dim, values=_FEW_DIMENSIONS)
    for rows_op in OF_ROWS:
        if is_public(rows_op.name):
            yield _op(rows_op.name, _rows(rows_op.arguments), values=_ROW_DIMENSIONS)


# the two that have goals come first, with all their values
SPECIAL_OPS = {op.name: op for op in (KL, LOG_IV)}
SPECIAL_OPS |= {op.name: op for op in _from_inventory() if op.name not in SPECIAL_OPS}


def special_calls(
    op: SpecialOp, value: float, count: int, device: str = "cpu", scipy: bool = True
) -> dict[str, Callable[[], object]]:
    """Calls by every side at one parameter; without SciPy svmf's alone."""
    double = op.arguments(count, value, torch.float64, device)
    single = op.arguments(count, value, torch.float32, device)
    calls: dict[str, Callable[[], object]] = {
        "float64": lambda: op.by_svmf(*double),
        "float32": lambda: op.by_svmf(*single),
    }
    if not scipy or device != "cpu":
        return calls
    few = op.arguments(_few(count), value, torch.float64, device)
    calls["few"] = lambda: op.by_svmf(*few)
    calls["reference"] = lambda: op.by_reference(*few)
    by_scipy = op.by_scipy
    if by_scipy is not None:
        arrays = tuple(a.numpy() if isinstance(a, Tensor) else a for a in double)
        calls["SciPy"] = lambda: by_scipy(*arrays)
        calls["copy"] = next(a for a in double if isinstance(a, Tensor)).clone
    return calls


def _few(count: int) -> int:
    return max(1, count // _REFERENCE_SHARE)


def measure_special(
    op: SpecialOp,
    value: float,
    count: int,
    *,
    seconds: float,
    device: str = "cpu",
    scipy: bool = True,
    least_blocks: int = 3,
    cpu_time: bool = False,
) -> SpecialTiming:
    with threads(1):
        timings = time_interleaved(
            special_calls(op, value, count, device, scipy),
            seconds=seconds,
            least_blocks=least_blocks,
            device=device,
            clock=choose_clock(cpu_time, device=device),
        )
    return SpecialTiming(op.name, op.parameter, value, count, _few(count), timings)


def special_table(timings: Sequence[SpecialTiming]) -> str:
    rows = []
    for timing in timings:
        values = timing.count
        rows.append(
            [
                timing.op + (" with derivative" if timing.op == KL.name else ""),
                f"{timing.parameter} = {timing.value:g}",
                number_text(timing.timings["float64"].median / values * 1e9),
                number_text(timing.timings["float32"].median / values * 1e9),
                ratio_text(timing.ratio("float64", "SciPy")),
                ratio_text(timing.ratio("float32", "SciPy")),
                ratio_text(timing.ratio("few", "reference")),
            ]
        )
    headers = [
        "op", "at", "float64 ns/number", "float32 ns/number", "float64 / SciPy", "float32 / SciPy",
        "float64 / reference",
    ]  # fmt: skip
    return table(headers, rows, text_columns=2)
