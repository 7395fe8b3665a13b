# SPDX-License-Identifier: MIT
"""What the special functions cost against SciPy's Bessel functions and svmf.reference.

    python benchmarks/bench_special.py                   the table of ratios: about two minutes
    python benchmarks/bench_special.py --quick           fewer dimensions and orders, fewer values
    pytest benchmarks/bench_special.py --benchmark-only  a few cases under pytest-benchmark

One thread, by turns in one run, the best of several: how many times faster we are (theirs/ours).
SciPy's side is what the paper's formulas need: four values of `scipy.special.ive` for KL with its
derivative, and log(ive) for log I_v.
"""

import argparse
import time
from collections.abc import Callable

import numpy
import pytest
import scipy.special
import torch

import svmf
import svmf.functional as F

DIMENSIONS = (3, 5, 10, 20, 40, 64, 65, 128)
ORDERS = (0.0, 0.5, 1.0, 2.3, 4.0, 10.0, 19.5, 31.0, 31.2, 63.0, 127.0)


def kl_by_scipy(kappa: numpy.ndarray, m: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """KL to the uniform distribution and its derivative as the paper writes them."""
    v = m / 2
    below, at, above, lowest = (scipy.special.ive(o, kappa) for o in (v - 1, v, v + 1, v - 2))
    ratio = at / below
    log_norm = (v - 1) * numpy.log(kappa) - v * numpy.log(2 * numpy.pi)
    log_norm -= numpy.log(below) + kappa
    log_surface = numpy.log(2) + v * numpy.log(numpy.pi) - scipy.special.gammaln(v)
    slope = kappa / 2 * (above / below - ratio * (lowest + at) / below + 1)
    return kappa * ratio + log_norm + log_surface, slope


def kl_by_svmf(kappa: torch.Tensor, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    return F.vmf_kl_uniform(kappa, m), torch.ops.svmf._vmf_kl_uniform_grad(kappa, m)


def best_times(candidates: dict[str, Callable], repeats: int) -> dict[str, float]:
    """The best time of each, taken by turns."""
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(repeats):
        for name, call in candidates.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def kappa_values(count: int) -> torch.Tensor:
    return torch.exp(torch.rand(count, dtype=torch.float64, generator=_seeded()) * 9 - 1)


def _seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def kl_rows(count: int, repeats: int, dimensions: tuple[int, ...]) -> list[str]:
    kappa = kappa_values(count)
    single, array = kappa.float(), kappa.numpy()
    small = kappa[: max(1, count // 100)].clone()
    lines = [
        "KL with its derivative: times faster than SciPy (float64, float32), than svmf.reference"
    ]
    for m in dimensions:
        times = best_times(
            {
                "scipy": lambda m=m: kl_by_scipy(array, m),
                "float64": lambda m=m: kl_by_svmf(kappa, m),
                "float32": lambda m=m: kl_by_svmf(single, m),
                "small": lambda m=m: kl_by_svmf(small, m),
                "reference": lambda m=m: _reference(small, m),
            },
            repeats,
        )
        lines.append(
            f"  m = {m:4d}   {times['scipy'] / times['float64']:6.0f}   "
            f"{times['scipy'] / times['float32']:6.0f}   "
            f"{times['reference'] / times['small']:6.0f}   "
            f"({times['float64'] / count * 1e9:.1f} ns a value)"
        )
    return lines


def _reference(kappa: torch.Tensor, m: int) -> torch.Tensor:
    import svmf.reference

    k = kappa.clone().requires_grad_()
    svmf.reference.vmf_kl_uniform(k, m).sum().backward()
    return k.grad


def bessel_rows(count: int, repeats: int, orders: tuple[float, ...]) -> list[str]:
    x = kappa_values(count)
    array, single = x.numpy(), x.float()
    lines = ["log I_v: times faster than log(ive) + x (float64, float32)"]
    for order in orders:
        times = best_times(
            {
                "scipy": lambda v=order: numpy.log(scipy.special.ive(v, array)) + array,
                "float64": lambda v=order: F.log_iv(v, x),
                "float32": lambda v=order: F.log_iv(v, single),
            },
            repeats,
        )
        lines.append(
            f"  v = {order:5.1f}   {times['scipy'] / times['float64']:6.0f}   "
            f"{times['scipy'] / times['float32']:6.0f}   "
            f"({times['float64'] / count * 1e9:.1f} ns a value)"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="1e5 values, four cases each")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)
    count, repeats = (100_000, 3) if quick else (1_000_000, 5)
    info = svmf.build_info()
    print(f"instruction set {info['cpu_isa']}, torch {info['torch']}, {count:,} values, one thread")
    with numpy.errstate(all="ignore"):
        for rows, cases in ((kl_rows, DIMENSIONS), (bessel_rows, ORDERS)):
            print("\n".join(rows(count, repeats, cases[::2] if quick else cases)))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("m", [3, 64, 128])
def test_kl_with_derivative(benchmark, m: int, dtype: torch.dtype) -> None:
    kappa = kappa_values(100_000).to(dtype)
    benchmark(kl_by_svmf, kappa, m)


@pytest.mark.parametrize("order", [0.5, 10.0, 63.0])
def test_log_iv(benchmark, order: float) -> None:
    benchmark(F.log_iv, order, kappa_values(100_000))


if __name__ == "__main__":
    main()
