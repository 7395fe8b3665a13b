# SPDX-License-Identifier: MIT
"""`svmf bench`: what svmf costs on this machine against what one would use instead."""

import argparse
import math
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svmf.benchmarking.plan import Plan

HELP = "measure speed and memory on this machine, side by side with the alternatives"
EXAMPLES = (
    "svmf bench                                    # all tables and plots: under five minutes",
    "svmf bench --quick                            # a first look: under a minute",
    "svmf bench --op step --shape 8192x64          # one operation, one shape",
    "svmf bench --op sample --shape 500x64x10 --kappa 1 1e4 --dtype float64 --threads 1 2",
    "svmf bench --op log_iv vmf_kl_uniform         # special functions against scipy.special.ive",
    "svmf bench --goals                            # goal, figure and limit: about five minutes",
    "svmf bench --device cuda --json bench.json    # every time in a file, from a GPU",
)
_OPS_HELP = (
    "only these: sample, step (sample + KL + backward), training, memory, first-call, special, "
    "or a function such as log_iv"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--op", nargs="+", metavar="NAME", default=[], help=_OPS_HELP)
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
    parser.add_argument("--goals", action="store_true", help="the table goal, figure, limit")
    parser.add_argument(
        "--minima", action="store_true", help="--goals by minima, for a busy machine"
    )
    parser.add_argument(
        "--cpu-time",
        action="store_true",
        help="one thread by the process's own time: steadier on a busy machine",
    )
    parser.add_argument("--seconds", type=float, help="for the candidates of one case (0.4)")
    parser.add_argument(
        "--minutes", type=float, default=4.5, help="when time is up, cases are left out (4.5)"
    )
    parser.add_argument("--json", metavar="FILE", help="write every time to this file")
    parser.add_argument("--out", metavar="DIR", default="bench_output", help="plots (bench_output)")


def run(args: argparse.Namespace) -> int:
    from pathlib import Path

    from svmf.benchmarking.report import check_writable, write_json, write_plots
    from svmf.benchmarking.session import Session
    from svmf.progress import ProgressLine

    plan = _plan(args)
    if args.json:
        check_writable(Path(args.json))
    session = Session(plan, lambda text: print(text, flush=True), ProgressLine())
    report = session.run()
    if report.interrupted:
        print("\nsvmf bench: interrupted; the tables show what was measured", file=sys.stderr)
    if args.json:
        write_json(report, Path(args.json))
        print(f"\ntimes  {args.json}")
    try:
        figures = [] if plan.goals else write_plots(report, Path(args.out))
    except ModuleNotFoundError as error:
        print(f"\nplots: skipped, the package {error.name} is not installed")
        figures = []
    for figure in figures:
        print(f"plot   {figure}")
    return 130 if report.interrupted else 0


def _plan(args: argparse.Namespace) -> "Plan":
    """The options, checked."""
    from svmf.benchmarking.plan import SECTIONS, Plan
    from svmf.benchmarking.shapes import parse_shape
    from svmf.errors import ConfigError

    for name in args.op:
        if name not in SECTIONS:
            raise ConfigError(f"--op: expected one of {', '.join(SECTIONS)}, got {name!r}")
    for kappa in args.kappa:
        if not (math.isfinite(kappa) and kappa >= 0):
            raise ConfigError(f"--kappa: expected finite numbers of at least 0, got {kappa:g}")
    for count in args.threads:
        if count < 1:
            raise ConfigError(f"--threads: expected at least 1, got {count}")
    for option in ("seconds", "minutes"):
        value = getattr(args, option)
        if value is not None and not value > 0:
            raise ConfigError(f"--{option}: expected a positive number, got {value:g}")
    if args.minima and not args.goals:
        raise ConfigError("--minima: needs --goals; other tables have medians and their spread")
    if args.goals and (args.op or args.dtype or args.threads or args.device != "cpu"):
        raise ConfigError("--goals: goes without --op, --dtype, --threads and --device")
    return Plan(
        sections=args.op,
        shapes=[parse_shape(text) for text in args.shape],
        kappas=args.kappa,
        dtypes=args.dtype,
        threads=args.threads,
        device=_device(args.device),
        quick=args.quick,
        goals=args.goals,
        cpu_time=args.cpu_time,
        statistic="smallest" if args.minima else "median",
        seconds=args.seconds or (0.15 if args.quick else 0.4),
        minutes=args.minutes,
    )


def _device(name: str) -> str:
    import torch

    from svmf.errors import ConfigError

    if name != "cpu" and not (name == "cuda" or name.startswith("cuda:")):
        raise ConfigError(f"--device: expected cpu or cuda, got {name!r}")
    if name != "cpu" and not torch.cuda.is_available():
        raise ConfigError(f"--device {name}: no CUDA device is available")
    return name
