# SPDX-License-Identifier: MIT
"""`python -m reproduction NAME`: a table or figure of the paper, from training to Markdown. Run it
from a checkout of the project, where `results/` lies."""

import argparse
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from reproduction.catalogue import EXPERIMENTS
from reproduction.record import Job, Workspace, run_jobs
from svmf.cli import Parser, guarded, require_at_least
from svmf.errors import ConfigError, DataError

EPILOG = """examples:
  python -m reproduction fig1
  python -m reproduction table1 --seeds 3            # hours; continues where it was stopped
  python -m reproduction table1 --dims 2 5 --seeds 1
  python -m reproduction table3 --dims 50 50 10 10   # pairs of dim z1, dim z2
  python -m reproduction table3 --epochs 100         # a first look; without --epochs it goes on
  python -m reproduction beyond --dims 40 --epochs 40 --only 'n-*' 's10x4-*'
  python -m reproduction all --quick                 # minutes: shows that everything works
  a second process with the same command takes the runs that the first has not begun

names:
""" + "".join(f"  {name:16s} {experiment.title}\n" for name, experiment in EXPERIMENTS.items())


def build_parser() -> Parser:
    parser = Parser(
        prog="python -m reproduction",
        description="Reproduce a table or figure of the paper.",
        epilog=EPILOG,
    )
    parser.add_argument(
        "name", metavar="NAME", choices=(*EXPERIMENTS, "all"), help="see below; or all"
    )
    parser.add_argument("--seeds", type=int, help="runs per cell (default: as documented)")
    parser.add_argument("--dims", type=int, nargs="+", help="only these latent dimensions")
    parser.add_argument(
        "--only", nargs="+", metavar="PATTERN", help="only runs named so, as files: 's10x4-*'"
    )
    parser.add_argument(
        "--epochs", type=int, metavar="N", help="cut runs on MNIST after N; more continues them"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="tiny settings, to see that it works; the scores mean nothing",
    )
    parser.add_argument("--results", metavar="DIR", help="JSON, tables, figures (results)")
    parser.add_argument("--work", metavar="DIR", help="checkpoints (runs/reproduce)")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of each run (1)")
    parser.add_argument(
        "--compile", action="store_true", help="compile the steps on MNIST: half as fast again"
    )
    parser.add_argument(
        "--render-only", action="store_true", help="only tables from the JSON files"
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    parser = build_parser()
    args = parser.parse_args(argv)
    return guarded(parser.prog, lambda: _run(args))


def _check(args: argparse.Namespace) -> None:
    for option in ("seeds", "threads", "epochs"):
        require_at_least(option, getattr(args, option), 1)
    if args.dims is not None and min(args.dims) < 1:
        raise ConfigError(f"--dims: expected dimensions of at least 1, got {min(args.dims)}")
    if args.dims is not None and args.name == "table3" and len(args.dims) % 2:
        raise ConfigError("--dims: table3 takes pairs of dim z1 and dim z2")
    cuttable = [name for name, experiment in EXPERIMENTS.items() if experiment.cuttable]
    if args.epochs is not None and args.name not in (*cuttable, "all"):
        raise ConfigError(f"--epochs: only for {', '.join(cuttable)}, got {args.name}")


def _wanted(job: Job, patterns: Sequence[str] | None) -> bool:
    return patterns is None or any(fnmatchcase(job.key, pattern) for pattern in patterns)


def _run(args: argparse.Namespace) -> int:
    _check(args)
    suffix = "-quick" if args.quick else ""
    workspace = Workspace(
        Path(args.results or f"results{suffix}"),
        Path(args.work or f"runs/reproduce{suffix}"),
        args.quick,
        args.threads,
        args.compile,
        args.epochs,
        lambda text: print(text, flush=True),
    )
    skipped = False
    for name in EXPERIMENTS if args.name == "all" else (args.name,):
        experiment = EXPERIMENTS[name]
        seeds = args.seeds or (1 if args.quick else experiment.seeds)
        try:
            if not args.render_only:
                jobs = experiment.jobs(workspace, seeds, args.dims)
                run_jobs([job for job in jobs if _wanted(job, args.only)], workspace)
        except DataError as error:
            if args.name != "all":
                raise
            print(f"reproduction: {name} skipped: {error}", file=sys.stderr)
            skipped = True
            continue
        for render in experiment.render:
            print(render(workspace))
    if args.quick:
        print("These scores mean nothing: --quick trains tiny networks for an epoch or two.")
    return 1 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
