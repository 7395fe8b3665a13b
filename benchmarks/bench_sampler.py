# SPDX-License-Identifier: MIT
"""What drawing vMF samples costs against `torch.distributions.Normal`, `torch.randn`, the reference
and published formulas.

    python benchmarks/bench_sampler.py                   all shapes, kappa 1, 50, 5000: ten minutes
    python benchmarks/bench_sampler.py --quick           six shapes, kappa 50
    python benchmarks/bench_sampler.py --json out.json   with every time in the file
    pytest benchmarks/bench_sampler.py --benchmark-only  a few shapes under pytest-benchmark

Ratios are ours/theirs of medians measured by turns in one run: below 1 is faster than the
competitor. A star marks a ratio that misses the goal of its column at that shape.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field

import latent_candidates as candidates
import pytest
import torch
from common import Shape, Timing, describe_environment, threads, time_interleaved, write_json

BATCHES = (64, 1024, 8192)
DIMENSIONS = (2, 3, 5, 10, 20, 40, 64, 128, 512)
SHAPES = [*(Shape(1, batch, m) for batch in BATCHES for m in DIMENSIONS), Shape(500, 64, 10)]
QUICK_SHAPES = [
    Shape(1, 64, 10), Shape(1, 1024, 5), Shape(1, 1024, 64), Shape(1, 8192, 2), Shape(1, 8192, 128),
    Shape(500, 64, 10),
]  # fmt: skip
KAPPAS = (1.0, 50.0, 5000.0)
# Slower competitors (plain Python formulas) are timed up to this many elements.
SLOW_ELEMENTS = 1_100_000


def _large(shape: Shape) -> bool:
    return shape.m >= 64 and shape.rows >= 1024


@dataclass(frozen=True)
class Column:
    """One comparison: who against whom, with how many threads, the largest ratio that is good."""

    title: str
    ours: str
    theirs: str
    threads: int
    goal: Callable[[Shape], float | None]


COLUMNS = [
    Column(
        "fwd/Normal 2t", "forward", "normal", 2,
        lambda s: 0.25 if _large(s) else 0.7 if s.rows == 64 else 0.5,
    ),
    Column(
        "fwd/Normal' 1t", "forward", "normal'", 1,
        lambda s: 0.4 if _large(s) else 1.5 if s.rows == 64 else 1.0,
    ),
    Column(
        "fwd/randn 1t", "forward", "randn", 1,
        lambda s: 0.5 if _large(s) else 1.5 if s.rows >= 1024 and s.m >= 10 else None,
    ),
    Column("step/Normal 2t", "step", "normal step", 2, lambda s: 0.25 if _large(s) else 0.6),
    Column("step/Normal' 1t", "step", "normal' step", 1, lambda s: 0.35 if _large(s) else 1.0),
    Column("step/reference 1t", "step", "reference step", 1, lambda s: 0.05),
    Column("step/published 1t", "step", "published step", 1, lambda s: 0.05),
    Column(
        "fwd 2t/1t", "forward", "forward", 0, lambda s: 1 / 1.7 if s.elements >= 65536 else None
    ),
]  # fmt: skip


def forward_calls(shape: Shape, kappa: float) -> dict[str, candidates.Call]:
    return {
        "forward": candidates.vmf_forward(shape, kappa),
        "normal": candidates.normal_forward(shape, validate=True),
        "normal'": candidates.normal_forward(shape, validate=False),
        "randn": candidates.randn(shape),
    }


def step_calls(shape: Shape, kappa: float) -> dict[str, candidates.Call]:
    return {
        "step": candidates.vmf_step(shape, kappa),
        "normal step": candidates.normal_step(shape, validate=True),
        "normal' step": candidates.normal_step(shape, validate=False),
    }


def slow_calls(shape: Shape, kappa: float) -> dict[str, candidates.Call]:
    return {
        "step": candidates.vmf_step(shape, kappa),
        "reference step": candidates.reference_step(shape, kappa),
        "published step": candidates.published_step(shape, kappa),
    }


@dataclass
class Cell:
    """All that was measured at one shape and kappa."""

    shape: Shape
    kappa: float
    times: dict[str, dict[str, Timing]] = field(
        default_factory=dict
    )  # "1 thread forward" -> timings
    ratios: dict[str, float] = field(default_factory=dict)


def measure(shape: Shape, kappa: float, seconds: float, statistic: str = "median") -> Cell:
    cell = Cell(shape, kappa)
    groups = {"forward": forward_calls, "step": step_calls}
    for count in (1, 2):
        with threads(count):
            for name, calls in groups.items():
                cell.times[f"{count} {name}"] = time_interleaved(
                    calls(shape, kappa), seconds=seconds
                )
    if shape.elements <= SLOW_ELEMENTS:
        with threads(1):
            calls = slow_calls(shape, kappa)
            cell.times["1 slow"] = time_interleaved(calls, seconds=seconds, least_blocks=3)
    for column in COLUMNS:
        ratio = _ratio(cell, column, statistic)
        if ratio is not None:
            cell.ratios[column.title] = ratio
    return cell


def _ratio(cell: Cell, column: Column, statistic: str) -> float | None:
    def seconds(timing: Timing) -> float:
        return getattr(timing, statistic)

    if column.threads == 0:
        two, one = cell.times["2 forward"]["forward"], cell.times["1 forward"]["forward"]
        return seconds(two) / seconds(one)
    for name, times in cell.times.items():
        if name.startswith(str(column.threads)) and column.theirs in times:
            return seconds(times[column.ours]) / seconds(times[column.theirs])
    return None


def _missed(column: Column, cell: Cell) -> bool:
    goal = column.goal(cell.shape)
    return goal is not None and cell.ratios.get(column.title, 0.0) > goal


def print_table(cells: list[Cell]) -> None:
    widths = [len(column.title) + 1 for column in COLUMNS]
    print(
        f"{'samples x batch x m':>20}  "
        + "  ".join(c.title.rjust(w) for c, w in zip(COLUMNS, widths, strict=True))
    )
    for cell in cells:
        texts = []
        for column, width in zip(COLUMNS, widths, strict=True):
            ratio = cell.ratios.get(column.title)
            text = "-" if ratio is None else f"{ratio:.3g}{'*' if _missed(column, cell) else ' '}"
            texts.append(text.rjust(width))
        print(f"{cell.shape!s:>20}  " + "  ".join(texts))


def print_goals(cells: list[Cell]) -> None:
    print("\nGoals, all shapes and kappas together:")
    for column in COLUMNS:
        asked = [c for c in cells if column.goal(c.shape) is not None and column.title in c.ratios]
        if not asked:
            continue
        missed = [c for c in asked if _missed(column, c)]
        worst = max(asked, key=lambda c: c.ratios[column.title] / column.goal(c.shape))
        goal = column.goal(worst.shape)
        print(
            f"  {column.title:<18} met at {len(asked) - len(missed)} of {len(asked)}; worst "
            f"against its goal: {worst.ratios[column.title]:.3g} (goal {goal:.3g}) at "
            f"{worst.shape}, kappa {worst.kappa:g}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="six shapes, kappa 50")
    parser.add_argument("--kappa", type=float, nargs="+", help="concentrations (1 50 5000)")
    parser.add_argument("--shape", nargs="+", help="e.g. 8192x64 or 500x64x10")
    parser.add_argument("--seconds", type=float, default=0.3, help="per group of competitors")
    parser.add_argument("--minima", action="store_true", help="ratios of minima: busy machines")
    parser.add_argument("--json", metavar="FILE", help="write all times here")
    arguments = parser.parse_args()
    shapes = QUICK_SHAPES if arguments.quick else SHAPES
    if arguments.shape:
        sizes = [[int(n) for n in text.split("x")] for text in arguments.shape]
        shapes = [Shape(*(size if len(size) == 3 else (1, *size))) for size in sizes]
    statistic = "smallest" if arguments.minima else "median"
    kappas = arguments.kappa or ((50.0,) if arguments.quick else KAPPAS)
    print(describe_environment())
    print("Normal: default validation; Normal': validate_args=False; 2t: two threads")
    print(
        "step: sample + KL + backward; ratios of", "minima\n" if arguments.minima else "medians\n"
    )
    torch.manual_seed(0)
    cells: list[Cell] = []
    for kappa in kappas:
        print(f"kappa = {kappa:g}")
        some = [measure(shape, kappa, arguments.seconds, statistic) for shape in shapes]
        print_table(some)
        print()
        cells += some
    print_goals(cells)
    if arguments.json:
        write_json(arguments.json, [vars(cell) for cell in cells])


BENCHMARK_SHAPES = [Shape(1, 64, 10), Shape(1, 8192, 10), Shape(1, 1024, 64), Shape(1, 8192, 512)]


@pytest.mark.parametrize("shape", BENCHMARK_SHAPES, ids=str)
@pytest.mark.parametrize("name", ["forward", "normal", "normal'", "randn"])
def test_forward(benchmark, shape, name):
    benchmark.group = f"sample {shape}"
    with threads(1):
        benchmark(forward_calls(shape, 50.0)[name])


@pytest.mark.parametrize("shape", BENCHMARK_SHAPES, ids=str)
@pytest.mark.parametrize("name", ["step", "normal step", "normal' step"])
def test_step(benchmark, shape, name):
    benchmark.group = f"sample + KL + backward {shape}"
    with threads(1):
        benchmark(step_calls(shape, 50.0)[name])


if __name__ == "__main__":
    main()
