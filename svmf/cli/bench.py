# SPDX-License-Identifier: MIT
"""`svmf bench`: how fast is the sampler on this machine, against what one would use instead?"""

import argparse
import itertools
import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from svmf.cli import require_at_least
from svmf.errors import ConfigError, RunError

if TYPE_CHECKING:
    from svmf.benchmarking.cases import Case
    from svmf.benchmarking.report import Report

HELP = "measure the sampler's speed on this machine, side by side with the alternatives"
EXAMPLES = (
    "svmf bench                                    # tables and plots: about a minute",
    "svmf bench --quick                            # a first look: seconds",
    "svmf bench --op step --shape 8192x64          # one operation, one shape",
    "svmf bench --op sample --shape 500x64x10 --kappa 1 1e4 --dtype float64 --threads 1 2",
    "svmf bench --device cuda --json bench.json    # every time in a file, from a GPU",
    "special functions, memory, training steps and goals: `python -m benchmarks` in a checkout",
)
_OPS = ("sample", "step")
_MOVED = ("goals", "minima", "minutes")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--op", nargs="+", metavar="NAME", default=[], help="sample or step (sample, KL, backward)"
    )
    add_case_arguments(parser)
    for option in _MOVED:
        parser.add_argument(f"--{option}", nargs="?", const="", help=argparse.SUPPRESS)


def add_case_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that choose what is sampled; the laboratory in benchmarks/ has them too."""
    parser.add_argument(
        "--shape", nargs="+", metavar="SHAPE", default=[], help="ROWSxM or SAMPLESxROWSxM"
    )
    parser.add_argument("--kappa", type=float, nargs="+", default=[], help="concentrations")
    parser.add_argument(
        "--dtype", nargs="+", default=[], choices=("float32", "float64"), help="number types"
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[], help="CPU threads")
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--quick", action="store_true", help="fewer cases, shorter")
    parser.add_argument(
        "--cpu-time",
        action="store_true",
        help="one thread by the process's own time: steadier on a busy machine",
    )
    parser.add_argument("--seconds", type=float, help="for the candidates of one case (0.4)")
    parser.add_argument("--json", metavar="FILE", help="write every time to this file")
    parser.add_argument("--out", metavar="DIR", default="bench_output", help="plots (bench_output)")


def run(args: argparse.Namespace) -> int:
    for option in _MOVED:
        if getattr(args, option) is not None:
            raise ConfigError(
                f"--{option}: moved to `python -m benchmarks --{option}` in a checkout of svmf"
            )
    for name in args.op:
        if name not in _OPS:
            raise ConfigError(
                f"--op: expected one of {', '.join(_OPS)}, got {name!r} (other operations: "
                "`python -m benchmarks` in a checkout of svmf)"
            )
    cases = checked_cases(args, args.op or _OPS)
    from svmf.benchmarking.report import Report
    from svmf.benchmarking.sampler import CANDIDATES, installed, measure_cases
    from svmf.progress import ProgressLine

    report, progress = Report(args.device, args.cpu_time), ProgressLine()
    print(report.heading(), flush=True)
    candidates = installed(CANDIDATES, report.notes.append)
    try:
        report.sampling.extend(
            measure_cases(cases, candidates, progress.update, args.seconds, args.cpu_time)
        )
    except KeyboardInterrupt:
        report.interrupted = True
    progress.close()
    for text in [*report.notes, *(f"\n{table}" for table in report.tables().values())]:
        print(text)
    return finish(report, args, plots=True)


def chosen(args: argparse.Namespace) -> bool:
    """Whether values were chosen, so that nothing is swept."""
    return bool(args.shape or args.kappa or args.dtype or args.threads)


def checked_cases(args: argparse.Namespace, ops: Sequence[str]) -> "list[tuple[str, Case]]":
    """The options checked, and what they ask for as (the quantity that varies, case)."""
    for kappa in args.kappa:
        if not (math.isfinite(kappa) and kappa >= 0):
            raise ConfigError(f"--kappa: expected finite numbers of at least 0, got {kappa:g}")
    for count in args.threads:
        require_at_least("threads", count, 1)
    if args.seconds is not None and not args.seconds > 0:
        raise ConfigError(f"--seconds: expected a positive number, got {args.seconds:g}")
    if args.device != "cpu" and not (args.device == "cuda" or args.device.startswith("cuda:")):
        raise ConfigError(f"--device: expected cpu or cuda, got {args.device!r}")

    import torch

    from svmf.benchmarking.cases import Case, parse_shape, usual_cases
    from svmf.training.files import named_trouble

    if args.device != "cpu" and not torch.cuda.is_available():
        raise ConfigError(f"--device {args.device}: no CUDA device is available")
    shapes = [parse_shape(text) for text in args.shape or ["8192x10"]]
    if args.json:  # says so before the work, not after it
        path = Path(args.json)
        with named_trouble(path, "cannot be written"):
            path.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(path if path.exists() else path.parent, os.W_OK) or path.is_dir():
            raise RunError(f"{path}: cannot be written")
    torch.manual_seed(0)
    args.seconds = args.seconds or (0.15 if args.quick else 0.4)
    if not chosen(args):
        return usual_cases(ops, args.quick, args.device)
    return [
        ("", Case(*values, args.device))
        for values in itertools.product(
            ops, shapes, args.kappa or [50.0], args.dtype or ["float32"], args.threads or [1]
        )
    ]


def finish(report: "Report", args: argparse.Namespace, plots: bool) -> int:
    """Writes the files that were asked for; the exit code."""
    from svmf.training.files import named_trouble

    if report.interrupted:
        print("\nsvmf bench: interrupted; the tables show what was measured", file=sys.stderr)
    if args.json:
        with named_trouble(Path(args.json), "cannot be written"):
            Path(args.json).write_text(json.dumps(report.as_json(), indent=1) + "\n")
        print(f"\ntimes  {args.json}")
    try:
        with named_trouble(Path(args.out), "cannot be written"):
            for figure in report.plots(Path(args.out)) if plots else []:
                print(f"plot   {figure}")
    except ModuleNotFoundError as error:
        print(f"\nplots: skipped, the package {error.name} is not installed")
    return 130 if report.interrupted else 0
