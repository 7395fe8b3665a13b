# SPDX-License-Identifier: MIT
"""`python -m benchmarks`: what svmf costs on this machine against what one would use instead, and
the project's goals."""

import argparse
import sys
from collections.abc import Sequence

from benchmarks.laboratory import Laboratory
from benchmarks.plan import SECTIONS, Plan
from svmf.benchmarking.cases import parse_shape
from svmf.cli import Parser, guarded
from svmf.cli.bench import add_case_arguments, checked_cases, chosen, finish
from svmf.errors import ConfigError
from svmf.progress import ProgressLine

EPILOG = """examples:
  python -m benchmarks                              # all tables and plots: under five minutes
  python -m benchmarks --quick                      # a first look: under a minute
  python -m benchmarks --op step --shape 8192x64    # one operation, one shape
  python -m benchmarks --op log_iv vmf_kl_uniform   # special functions against scipy.special.ive
  python -m benchmarks --goals                      # goal, figure and limit: about five minutes
"""
_OPS_HELP = (
    "only these: sample, step (sample + KL + backward), training, memory, first-call, special, "
    "or a function such as log_iv"
)


def build_parser() -> Parser:
    parser = Parser(
        prog="python -m benchmarks",
        description="Measure speed and memory on this machine, side by side with the alternatives.",
        epilog=EPILOG,
    )
    parser.add_argument("--op", nargs="+", metavar="NAME", default=[], help=_OPS_HELP)
    add_case_arguments(parser)
    parser.add_argument("--goals", action="store_true", help="the table goal, figure, limit")
    parser.add_argument(
        "--minima", action="store_true", help="--goals by minima, for a busy machine"
    )
    parser.add_argument(
        "--minutes", type=float, default=4.5, help="when time is up, cases are left out (4.5)"
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    parser = build_parser()
    args = parser.parse_args(argv)
    return guarded(parser.prog, lambda: _run(args))


def _run(args: argparse.Namespace) -> int:
    plan = _plan(args)
    laboratory = Laboratory(plan, lambda text: print(text, flush=True), ProgressLine())
    return finish(laboratory.run(), args, plots=not plan.goals)


def _plan(args: argparse.Namespace) -> Plan:
    """The options, checked."""
    for name in args.op:
        if name not in SECTIONS:
            raise ConfigError(f"--op: expected one of {', '.join(SECTIONS)}, got {name!r}")
    if not args.minutes > 0:
        raise ConfigError(f"--minutes: expected a positive number, got {args.minutes:g}")
    if args.minima and not args.goals:
        raise ConfigError("--minima: needs --goals; other tables have medians and their spread")
    if args.goals and (args.op or args.dtype or args.threads or args.device != "cpu"):
        raise ConfigError("--goals: goes without --op, --dtype, --threads and --device")
    ops = tuple(op for op in ("sample", "step") if not args.op or op in args.op)
    return Plan(
        cases=checked_cases(args, ops),
        chosen=chosen(args),
        shapes=[parse_shape(text) for text in args.shape],
        kappas=args.kappa,
        device=args.device,
        quick=args.quick,
        cpu_time=args.cpu_time,
        seconds=args.seconds,
        sections=args.op,
        goals=args.goals,
        statistic="smallest" if args.minima else "median",
        minutes=args.minutes,
    )


if __name__ == "__main__":
    sys.exit(main())
