# SPDX-License-Identifier: MIT
"""The sampler's goals shape by shape: ratios to `torch.distributions.Normal`, `torch.randn`, the
reference and published formulas.

    python -m benchmarks.bench_sampler                   all shapes, kappa 1, 50, 5000: ten minutes
    python -m benchmarks.bench_sampler --quick           six shapes, kappa 50
    python -m benchmarks.bench_sampler --kappa 50 --shape 8192x2 500x64x10 --minima
    python -m benchmarks.bench_sampler --json out.json   with every time in the file

Ratios are ours/theirs, measured by turns in one run: below 1 is faster than the competitor. A star
marks a ratio that misses the goal of its column at that shape. `python -m benchmarks --goals` sums
it up.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import torch

from benchmarks.environment import describe_environment, environment
from benchmarks.sampler_goals import (
    COLUMNS,
    KAPPAS,
    QUICK_SHAPES,
    SHAPES,
    Cell,
    Column,
    measure_cell,
)
from svmf.benchmarking.cases import parse_shape
from svmf.errors import ConfigError


def missed(column: Column, cell: Cell) -> bool:
    goal = column.goal(cell.shape)
    return goal is not None and cell.ratios.get(column.title, 0.0) > goal


def print_header() -> None:
    titles = "  ".join(column.title.rjust(len(column.title) + 1) for column in COLUMNS)
    print(f"{'samples x batch x m':>20}  {titles}", flush=True)


def print_row(cell: Cell) -> None:
    texts = []
    for column in COLUMNS:
        ratio = cell.ratios.get(column.title)
        text = "-" if ratio is None else f"{ratio:.3g}{'*' if missed(column, cell) else ' '}"
        texts.append(text.rjust(len(column.title) + 1))
    print(f"{cell.shape!s:>20}  " + "  ".join(texts), flush=True)


def print_goals(cells: Sequence[Cell]) -> None:
    print("\nGoals, all shapes and kappas together:")
    for column in COLUMNS:
        asked = [
            (cell.ratios[column.title], goal, cell)
            for cell in cells
            if column.title in cell.ratios and (goal := column.goal(cell.shape)) is not None
        ]
        if not asked:
            continue
        met = sum(ratio <= goal for ratio, goal, _ in asked)
        ratio, goal, cell = max(asked, key=lambda entry: entry[0] / entry[1])
        print(
            f"  {column.title:<18} met at {met} of {len(asked)}; worst against its goal: "
            f"{ratio:.3g} (goal {goal:.3g}) at {cell.shape}, kappa {cell.kappa:g}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="six shapes, kappa 50")
    parser.add_argument("--kappa", type=float, nargs="+", help="concentrations (1 50 5000)")
    parser.add_argument("--shape", nargs="+", help="e.g. 8192x64 or 500x64x10")
    parser.add_argument("--seconds", type=float, default=0.3, help="per group of competitors")
    parser.add_argument("--minima", action="store_true", help="ratios of minima: busy machines")
    parser.add_argument(
        "--cpu-time", action="store_true", help="one thread by the process's own time: steadier"
    )
    parser.add_argument("--json", metavar="FILE", help="write all times here")
    arguments = parser.parse_args()
    shapes = QUICK_SHAPES if arguments.quick else SHAPES
    if arguments.shape:
        try:
            shapes = [parse_shape(text) for text in arguments.shape]
        except ConfigError as error:
            parser.error(str(error))
    statistic = "smallest" if arguments.minima else "median"
    print(describe_environment())
    print("Normal: default validation; Normal': validate_args=False; 2t: two threads")
    print("step: sample + KL + backward; ratios of", "minima" if arguments.minima else "medians")
    torch.manual_seed(0)
    cells: list[Cell] = []
    for kappa in arguments.kappa or ((50.0,) if arguments.quick else KAPPAS):
        print(f"\nkappa = {kappa:g}")
        print_header()
        for shape in shapes:
            cells.append(
                measure_cell(
                    shape, kappa, arguments.seconds, statistic, cpu_time=arguments.cpu_time
                )
            )
            print_row(cells[-1])
    print_goals(cells)
    if arguments.json:
        results = [cell.as_json() for cell in cells]
        document = {"environment": environment(), "results": results}
        Path(arguments.json).write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
