# SPDX-License-Identifier: MIT
"""Cases for the emulated kernels, each with the CPU op's answer.

A case differs from its answer by at most `tolerance` units of eps times `scale` (the size that
rounding errors have there). Thread order, number of multiprocessors (which changes tiles and grids)
and row counts vary from case to case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, cycle

import numpy as np
import torch
from emulator import ORDERS, Case, listed_ops

import svmf.functional  # noqa: F401  (registers the ops)
from svmf._sphere import unit_and_length

ops = torch.ops.svmf

DTYPES = ("float32", "float64")
# Around every change of method: m = 2 and 3, whole Philox blocks, team sizes, warp to block, park
# in shared memory or not.
DIMS = (
    *(2, 3, 4, 5, 6, 9, 10, 16, 17, 18, 33, 34, 65, 66),
    *(129, 130, 257, 258, 513, 514, 1025, 1030, 4099),
)
PROCESSORS = (1, 3, 1000)
INVALID = (float("nan"), -1.0, float("inf"), -float("inf"))

# Results around 0 are differences of larger numbers.
LOGARITHMS = (
    *("vmf_log_partition", "vmf_log_norm", "vmf_entropy"),
    *("log_iv", "log_ive", "log_kv", "log_kve", "log_iv_order_derivative"),
    "power_spherical_log_partition",
)


@dataclass
class Comparison:
    """A case, the CPU's answer, and how far apart they may be."""

    case: Case
    expected: Sequence[np.ndarray | None]
    tolerance: Sequence[float]
    scale: Sequence[np.ndarray | float | None]

    def worst(self) -> list[float]:
        """The largest error of each output in units of eps * scale; nan where the CPU has nan."""
        errors = []
        eps = np.finfo(self.case.dtype).eps
        for got, want, scale in zip(self.case.results, self.expected, self.scale, strict=True):
            if want is None:
                errors.append(0.0)
                continue
            want = want.ravel()
            same = (got == want) | (np.isnan(got) & np.isnan(want))
            size = np.abs(want) if scale is None else np.broadcast_to(scale, want.shape)
            with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
                error = np.where(same, 0.0, np.abs(got - want) / (eps * size))
            errors.append(float(np.nan_to_num(error, nan=np.inf).max(initial=0.0)))
        return errors

    def check(self) -> None:
        for i, (error, tolerance) in enumerate(zip(self.worst(), self.tolerance, strict=True)):
            c = self.case
            assert error <= tolerance, (
                f"{c.op} {c.dtype} {list(c.integers)} {list(c.reals)} order={c.order} "
                f"processors={c.processors}: "
                f"output {i} differs from the CPU by {error:.3g} eps, allowed are {tolerance}"
            )


_order, _processors, _number = cycle(ORDERS), cycle(PROCESSORS), count(1)


def _case(op: str, dtype: str, integers, inputs, outputs, reals=()) -> Case:
    return Case(
        op,
        dtype,
        tuple(int(i) for i in integers),
        tuple(reals),
        inputs,
        outputs,
        order=next(_order),
        shuffle_seed=next(_number),
        processors=next(_processors),
    )


def _tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(array)


def unit_rows(rng: np.random.Generator, rows: int, m: int, dtype: str) -> np.ndarray:
    x = rng.standard_normal((rows, m))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    if rows > 2:
        x[0] = np.eye(m)[0]
        x[1] = -x[0]
    return x.astype(dtype)


def kappas(rng: np.random.Generator, rows: int, dtype: str, invalid: bool = False) -> np.ndarray:
    values = 10.0 ** rng.uniform(-3, 5 if dtype == "float32" else 8, rows)
    if rows > 4:
        values[rng.integers(rows)] = 0.0
    if invalid and rows > 8:
        values[rng.permutation(rows)[: len(INVALID)]] = INVALID
    return values.astype(dtype)


def rhos(rng: np.random.Generator, rows: int, dtype: str, invalid: bool = False) -> np.ndarray:
    values = rng.uniform(0, 1, rows)
    values[::3] = 1 - 10.0 ** rng.uniform(-5, -1, len(values[::3]))
    if rows > 4:
        values[rng.integers(rows)] = 0.0
    if invalid and rows > 8:
        values[rng.permutation(rows)[:3]] = (float("nan"), -0.5, 1.0)
    return values.astype(dtype)


FAMILIES_OF_SAMPLES = {"spherical_cauchy": rhos, "power_spherical": kappas}


def family_cases(rng: np.random.Generator, dims: Sequence[int] = DIMS) -> Iterator[Comparison]:
    """Functions and log densities of the other families."""
    for dtype in DTYPES:
        for kind, make in (("RHO", rhos), ("POWER", kappas)):
            for name in listed_ops(kind):
                for m, n in ((2, 1), (3, 77), (17, 300), (64, 129), (65, 260), (1000, 31)):
                    parameter = make(rng, n, dtype, invalid=True)
                    case = _case(name, dtype, (n, m), (parameter,), (n,))
                    want = getattr(ops, name)(_tensor(parameter), m).numpy()
                    scale = np.maximum(np.abs(want), 1.0) if name in LOGARITHMS else None
                    # The second slopes are differences.
                    yield Comparison(case, [want], [16 if name.endswith("2") else 4], [scale])
        for m in dims:
            rows = 67 if m < 40 else 35 if m < 600 else 3
            a, b = unit_rows(rng, rows, m, dtype), unit_rows(rng, rows, m, dtype)[::-1].copy()
            for family, make in FAMILIES_OF_SAMPLES.items():
                name, parameter = f"{family}_log_prob", make(rng, rows, dtype, invalid=True)
                case = _case(name, dtype, (rows, m), (a, b, parameter), (rows,))
                want = getattr(ops, name)(*map(_tensor, (a, b, parameter))).numpy()
                size = np.abs(parameter) if family == "power_spherical" else m
                scale = np.maximum(np.nan_to_num(np.abs(want)), size)
                yield Comparison(case, [want], [16], [scale])


def family_sample_cases(
    rng: np.random.Generator, dims: Sequence[int] = (*DIMS, 9001)
) -> Iterator[Comparison]:
    for family, make in FAMILIES_OF_SAMPLES.items():
        for dtype in DTYPES:
            for m in dims:
                for samples, batch in _shapes(m):
                    rows, keep = samples * batch, samples != 3
                    loc = unit_rows(rng, batch, m, dtype)
                    parameter = make(rng, batch, dtype, invalid=True)
                    seed = int(rng.integers(-(2**63), 2**63 - 1))
                    kept = rows if keep else None
                    case = _case(
                        f"{family}_sample",
                        dtype,
                        (samples, batch, m, seed),
                        (loc, parameter),
                        (rows * m, kept, kept, None),
                    )
                    z, state = getattr(ops, f"{family}_rsample")(
                        _tensor(loc), _tensor(parameter), torch.tensor([seed]), (samples,), True
                    )
                    want = [z.numpy(), *(state.numpy() if keep else (None, None)), None]
                    yield Comparison(case, want, [8, 8, 8, 0], [1.0, None, None, None])


def family_backward_cases(
    rng: np.random.Generator, dims: Sequence[int] = DIMS
) -> Iterator[Comparison]:
    for family, make in FAMILIES_OF_SAMPLES.items():
        for dtype in DTYPES:
            for m in dims:
                for samples, batch in (*_shapes(m), (0, 3)):
                    yield _family_backward(rng, family, make(rng, batch, dtype), m, samples)


def _family_backward(
    rng: np.random.Generator, family: str, parameter: np.ndarray, m: int, samples: int
) -> Comparison:
    dtype, batch = parameter.dtype.name, len(parameter)
    loc, seed = unit_rows(rng, batch, m, dtype), torch.tensor([int(rng.integers(2**62))])
    z, state = getattr(ops, f"{family}_rsample")(
        _tensor(loc), _tensor(parameter), seed, (samples,), True
    )
    g = rng.standard_normal((samples, batch, m)).astype(dtype)
    grad_kl = rng.standard_normal(batch).astype(dtype) if samples != 3 else None
    inputs = (g, grad_kl, None, z.numpy(), *state.numpy(), loc, parameter)
    case = _case(
        f"{family}_sample_backward",
        dtype,
        (samples, batch, m, 0),
        inputs,
        (batch * m, batch),
    )
    want = getattr(ops, f"_{family}_rsample_backward")(
        _tensor(g),
        None if grad_kl is None else _tensor(grad_kl),
        z,
        state,
        _tensor(loc),
        _tensor(parameter),
    )
    # Sums of terms of the size of |g|, times how far z moves with the parameter.
    norm = np.linalg.norm(g.astype(float), axis=2)
    below, above = state.numpy().astype(float)
    if family == "spherical_cauchy":
        speed = 2 / (1 - parameter.astype(float) ** 2)
    else:
        speed = 2 / (parameter.astype(float) + (m - 1) / 2)
    through_w = (np.sqrt(below * above) * speed * norm).sum(0)
    slope = getattr(ops, f"_{family}_kl_uniform_grad")(_tensor(parameter), m).numpy()
    through_kl = 0 if grad_kl is None else np.abs(grad_kl * slope)
    scale = [np.repeat(norm.sum(0) + 1e-3, m), through_w + through_kl + 1e-30]
    return Comparison(case, [t.numpy() for t in want], [16, 16], scale)


def kappa_cases(rng: np.random.Generator) -> Iterator[Comparison]:
    for dtype in DTYPES:
        for name in listed_ops("KAPPA"):
            for m, n in ((2, 1), (3, 77), (17, 300), (64, 129), (65, 260), (1000, 31)):
                kappa = kappas(rng, n, dtype, invalid=True)
                case = _case(name, dtype, (n, m), (kappa,), (n,))
                want = getattr(ops, name)(_tensor(kappa), m).numpy()
                scale = np.maximum(np.abs(want), 1.0) if name in LOGARITHMS else None
                yield Comparison(case, [want], [2], [scale])
        for m, n in ((2, 33), (9, 129), (500, 7)):
            lengths = np.concatenate([rng.uniform(0, 1, n), [0, 1, -0.5, 1.5, np.nan]]).astype(
                dtype
            )
            case = _case("vmf_concentration", dtype, (lengths.size, m), (lengths,), (lengths.size,))
            want = ops.vmf_concentration(_tensor(lengths), m).numpy()
            # R/(kappa A'(kappa)) is the condition of the problem; 1/(1-R) bounds it.
            scale = np.abs(want) / np.clip(1 - lengths, 1e-30, 1)
            yield Comparison(case, [want], [4], [scale])


def bessel_cases(rng: np.random.Generator) -> Iterator[Comparison]:
    """Orders with a table, large ones, and ones that only the recurrence reaches; an x where it
    gives way to the asymptotic form."""
    for dtype in DTYPES:
        huge = [2e10, 1e30]
        for name in listed_ops("BESSEL"):
            for order in (0.0, 0.5, 3.0, 3.3, 0.01, 31.25, 32.0, 1000.5):
                x = np.concatenate([kappas(rng, 71, dtype, invalid=True), huge]).astype(dtype)
                case = _case(name, dtype, (x.size,), (x,), (x.size,), (order,))
                want = getattr(ops, name)(order, _tensor(x)).numpy()
                scale = np.maximum(np.abs(want), 1.0) if name in LOGARITHMS else None
                yield Comparison(case, [want], [4], [scale])
            x = np.concatenate([kappas(rng, 300, dtype, invalid=True), huge]).astype(dtype)
            known = [0.0, 0.5, 1.0, 2.5, 3.3, 0.01, 17.2, 31.5, 40.1, 500.0, -1.0, np.nan]
            order = rng.choice(known, x.size).astype(dtype)
            case = _case(f"{name}.tensor", dtype, (x.size,), (order, x), (x.size,))
            want = getattr(ops, name).tensor(_tensor(order), _tensor(x)).numpy()
            # In double on the device; the CPU has float tables for some orders.
            size = np.maximum(np.abs(want), np.maximum(1.0, np.abs(order)))
            yield Comparison(case, [want], [16], [size if name in LOGARITHMS else None])


def pathwise_cases(rng: np.random.Generator) -> Iterator[Comparison]:
    for dtype in DTYPES:
        for m, n in ((2, 40), (3, 131), (10, 300), (64, 40), (300, 33)):
            # Where samples fall: elsewhere neither side promises digits.
            kappa = kappas(rng, n, dtype)
            seed = torch.tensor([int(rng.integers(2**62))])
            _, state = ops.vmf_rsample(
                _tensor(unit_rows(rng, n, m, dtype)), _tensor(kappa), seed, (), 0, True
            )
            w = torch.where(state[0] < state[1], 1 - state[0], state[1] - 1).numpy()
            if n > 8:
                kappa[: len(INVALID)] = INVALID
            case = _case("vmf_pathwise", dtype, (n, m), (w, kappa), (n,))
            want = ops.vmf_pathwise_derivative(_tensor(w), _tensor(kappa), m).numpy()
            yield Comparison(case, [want], [16], [None])


def householder_cases(rng: np.random.Generator, dims: Sequence[int] = DIMS) -> Iterator[Comparison]:
    for dtype in DTYPES:
        for m in dims:
            rows = 67 if m < 40 else 11 if m < 600 else 3
            x, g = (rng.standard_normal((rows, m)).astype(dtype) for _ in range(2))
            loc = unit_rows(rng, rows, m, dtype)
            case = _case("householder", dtype, (rows, m), (x, loc), (x.size,))
            z = ops.householder(_tensor(x), _tensor(loc)).numpy()
            size = np.repeat(np.linalg.norm(x, axis=1), m)
            yield Comparison(case, [z], [8], [size])
            case = _case("householder_backward", dtype, (rows, m), (g, x, loc), (x.size, x.size))
            want = [t.numpy() for t in ops._householder_backward(*map(_tensor, (g, x, loc)))]
            # c and t are of the size of the projection divided by |u|.
            u = np.eye(m)[0] - loc.astype(float)
            length = np.linalg.norm(u, axis=1)
            length[length == 0] = 1  # the identity
            size_g = np.repeat(np.linalg.norm(g, axis=1), m)
            yield Comparison(case, want, [8, 8], [size_g, size * size_g / np.repeat(length, m)])


def distance_cases(rng: np.random.Generator, dims: Sequence[int] = DIMS) -> Iterator[Comparison]:
    for dtype in DTYPES:
        for m in dims:
            rows = 67 if m < 40 else 35 if m < 600 else 3
            a, b = unit_rows(rng, rows, m, dtype), unit_rows(rng, rows, m, dtype)[::-1].copy()
            k1, k2 = kappas(rng, rows, dtype, invalid=True), kappas(rng, rows, dtype)
            near = rng.uniform(0, 1, rows) < 0.5
            k2[near] = (k1 * rng.uniform(0.5, 2, rows))[near].astype(dtype)
            case = _case("vmf_kl", dtype, (rows, m), (a, k1, b, k2), (rows,))
            want = ops.vmf_kl(*map(_tensor, (a, k1, b, k2))).numpy()
            yield Comparison(case, [want], [16], [None])
            case = _case("vmf_log_prob", dtype, (rows, m), (a, b, k1), (rows,))
            want = ops.vmf_log_prob(*map(_tensor, (a, b, k1))).numpy()
            square = ((a.astype(float) - b.astype(float)) ** 2).sum(1)
            yield Comparison(case, [want], [16], [np.maximum(np.abs(want), np.abs(k1) * square)])


def _shapes(m: int) -> Sequence[tuple[int, int]]:
    """(samples, batch): batches that are a multiple of nothing, tiles that wrap around them."""
    if m < 40:
        return ((1, 1), (1, 131), (3, 37), (40, 2))
    if m < 600:
        return ((1, 35), (3, 5))
    return ((1, 3), (2, 2))


def sample_cases(
    rng: np.random.Generator, dims: Sequence[int] = (*DIMS, 9001)
) -> Iterator[Comparison]:
    for dtype in DTYPES:
        for m in dims:
            for samples, batch in _shapes(m):
                rows, keep, with_kl = samples * batch, samples != 3, samples != 40
                loc, kappa = (
                    unit_rows(rng, batch, m, dtype),
                    kappas(rng, batch, dtype, invalid=True),
                )
                if batch > 8:  # such a row is nan, and its neighbours are not
                    loc[4, 0], loc[5, -1], loc[6, m // 2] = np.inf, -np.inf, np.nan
                seed = int(rng.integers(-(2**63), 2**63 - 1))
                outputs = (
                    rows * m,
                    rows if keep else None,
                    rows if keep else None,
                    batch if with_kl else None,
                )
                case = _case("vmf_sample", dtype, (samples, batch, m, seed), (loc, kappa), outputs)
                z, kl, state = ops.vmf_rsample_kl(
                    _tensor(loc), _tensor(kappa), torch.tensor([seed]), (samples,), 0, True
                )
                want = [
                    z.numpy(),
                    state[0].numpy() if keep else None,
                    state[1].numpy() if keep else None,
                ]
                want.append(kl.numpy() if with_kl else None)
                # |z| = 1. 1-w and 1+w are the same operations in the same order, up to fma.
                yield Comparison(case, want, [8, 8, 8, 2], [1.0, None, None, None])


def backward_cases(rng: np.random.Generator, dims: Sequence[int] = DIMS) -> Iterator[Comparison]:
    for dtype in DTYPES:
        for m in dims:
            for samples, batch in (*_shapes(m), (0, 3)):
                loc, kappa = unit_rows(rng, batch, m, dtype), kappas(rng, batch, dtype)
                seed = torch.tensor([int(rng.integers(2**62))])
                z, state = ops.vmf_rsample(_tensor(loc), _tensor(kappa), seed, (samples,), 0, True)
                g = rng.standard_normal((samples, batch, m)).astype(dtype)
                grad_kl = rng.standard_normal(batch).astype(dtype) if samples != 3 else None
                gradient = samples % 2  # both kinds
                grad_ratio = (
                    rng.standard_normal((samples, batch)).astype(dtype) if gradient else None
                )
                inputs = (
                    g,
                    grad_kl,
                    grad_ratio,
                    z.numpy(),
                    state[0].numpy(),
                    state[1].numpy(),
                    loc,
                    kappa,
                )
                case = _case(
                    "vmf_sample_backward",
                    dtype,
                    (samples, batch, m, gradient),
                    inputs,
                    (batch * m, batch),
                )
                want = ops._vmf_rsample_backward(
                    _tensor(g),
                    None if grad_kl is None else _tensor(grad_kl),
                    None if grad_ratio is None else _tensor(grad_ratio),
                    z,
                    state,
                    _tensor(loc),
                    _tensor(kappa),
                    gradient,
                )
                # Sums of terms of the size of |g| over columns and samples.
                norm = np.linalg.norm(g, axis=2).sum(0) + 1e-3
                through_w = np.abs(_size_of_kappa_terms(g, z.numpy(), loc, kappa, state.numpy(), m))
                through_kl = 0 if grad_kl is None else np.abs(grad_kl)
                through_ratio = 0 if grad_ratio is None else np.abs(grad_ratio).sum(0)
                scale = [np.repeat(norm, m), through_w + through_kl + through_ratio]
                yield Comparison(case, [t.numpy() for t in want], [16, 16], scale)


def _size_of_kappa_terms(g, z, loc, kappa, state, m) -> np.ndarray:
    """The sum over samples of |dz/dkappa| |g|, with |dz/dkappa| about sqrt(1-w^2)/(2s)."""
    s = np.hypot((m - 1) / 2, kappa.astype(float))
    speed = np.sqrt(state[0].astype(float) * state[1]) / s
    return (speed * np.linalg.norm(g, axis=2) + np.finfo(g.dtype).tiny).sum(0)


def feature_cases(rng: np.random.Generator, dims: Sequence[int] = DIMS) -> Iterator[Comparison]:
    """Raw features of any length, in the blocks of wider rows."""
    for dtype in DTYPES:
        for m in dims:
            rows = 67 if m < 40 else 35 if m < 600 else 5
            wide = rng.standard_normal((rows, m + 3)).astype(dtype)
            wide[0] = 0  # no direction
            out_of_range = 1e200 if dtype == "float64" else 1e30
            wide[1:3] *= np.array([[1 / out_of_range], [out_of_range]], dtype)
            wide[3, 0] = np.inf
            raw = rng.uniform(-80, 80, (rows, 2)).astype(dtype)
            strides = (rows, m, m + 3, 2)
            outputs = (rows * m, rows, rows)
            case = _case("vmf_features", dtype, strides, (wide, raw), outputs, (0.5,))
            features = _tensor(np.ascontiguousarray(wide[:, :m]))
            loc, length = (t.numpy().astype(dtype) for t in unit_and_length(features.double()))
            kappa = torch.nn.functional.softplus(_tensor(raw[:, 0]).double(), threshold=100) + 0.5
            want = [loc, kappa.numpy().astype(dtype), length[:, 0]]
            loc[3], length[3] = np.nan, np.inf  # not only the column that is not finite
            yield Comparison(case, want, [4, 4, 8], [1.0, None, None])
            loc, length = loc.copy(), want[2].copy()
            loc[3], length[3] = loc[4], length[4]
            grad, grad_kappa = rng.standard_normal((rows, m)), rng.standard_normal(rows)
            inputs = (np.ascontiguousarray(raw[:, 0]), loc, length, grad, grad_kappa)
            inputs = tuple(a.astype(dtype) for a in inputs)
            outputs = (rows * m, rows)
            case = _case("vmf_features_backward", dtype, (rows, m), inputs, outputs)
            g, mu, size = (a.astype(float) for a in (inputs[3], loc, length))
            across = g - (g * mu).sum(1, keepdims=True) * mu
            slope = 1 / np.maximum(size, 0.01)
            want = [across * slope[:, None], inputs[4] / (1 + np.exp(-inputs[0].astype(float)))]
            scale = np.repeat(np.linalg.norm(g, axis=1) * slope, m)
            yield Comparison(case, [w.astype(dtype) for w in want], [8, 8], [scale, None])


FAMILIES = {
    "features": feature_cases,
    "kappa": kappa_cases,
    "bessel": bessel_cases,
    "pathwise": pathwise_cases,
    "householder": householder_cases,
    "distance": distance_cases,
    "sample": sample_cases,
    "sample_backward": backward_cases,
    "families": family_cases,
    "family_sample": family_sample_cases,
    "family_sample_backward": family_backward_cases,
}
