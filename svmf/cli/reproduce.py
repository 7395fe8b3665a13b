# SPDX-License-Identifier: MIT
"""`svmf reproduce`: a table or figure of the paper, from training to Markdown."""

import argparse
import sys

HELP = "reproduce a table or figure of the paper"
EXAMPLES = (
    "svmf reproduce fig1",
    "svmf reproduce table1 --seeds 3               # hours; continues where it was stopped",
    "svmf reproduce table1 --dims 2 5 --seeds 1",
    "svmf reproduce table3 --dims 50 50 10 10      # pairs of dim z1, dim z2",
    "svmf reproduce table3 --epochs 100            # a first look; without --epochs it goes on",
    "svmf reproduce all --quick                    # minutes: shows that everything works",
    "a second process with the same command takes the runs that the first has not begun",
)
CUTTABLE = ("table1", "table1-released", "table2", "table3", "estimators")
NAMES = (
    "fig1", "table1", "table1-released", "table2", "table3", "table4", "table5", "figures",
    "estimators",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", choices=(*NAMES, "all"), help=", ".join(NAMES))
    parser.add_argument("--seeds", type=int, help="runs per cell (default: as documented)")
    parser.add_argument("--dims", type=int, nargs="+", help="only these latent dimensions")
    parser.add_argument(
        "--epochs", type=int, metavar="N", help="cut runs on MNIST after N; more continues them"
    )
    parser.add_argument("--quick", action="store_true", help="tiny settings, to see that it works")
    parser.add_argument("--results", metavar="DIR", help="JSON, tables, figures (results)")
    parser.add_argument("--work", metavar="DIR", help="checkpoints (runs/reproduce)")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of each run (1)")
    parser.add_argument(
        "--compile", action="store_true", help="compile the steps on MNIST: half as fast again"
    )
    parser.add_argument(
        "--render-only", action="store_true", help="only tables from the JSON files"
    )


def run(args: argparse.Namespace) -> int:
    from pathlib import Path

    from svmf.errors import ConfigError, DataError
    from svmf.experiments.catalogue import EXPERIMENTS
    from svmf.experiments.record import Place, run_jobs

    for option in ("seeds", "threads", "epochs"):
        value = getattr(args, option)
        if value is not None and value < 1:
            raise ConfigError(f"--{option}: expected at least 1, got {value}")
    if args.dims is not None and min(args.dims) < 1:
        raise ConfigError(f"--dims: expected dimensions of at least 1, got {min(args.dims)}")
    if args.dims is not None and args.name == "table3" and len(args.dims) % 2:
        raise ConfigError("--dims: table3 takes pairs of dim z1 and dim z2")
    if args.epochs is not None and args.name not in (*CUTTABLE, "all"):
        raise ConfigError(f"--epochs: only for {', '.join(CUTTABLE)}, got {args.name}")
    suffix = "-quick" if args.quick else ""
    place = Place(
        Path(args.results or f"results{suffix}"),
        Path(args.work or f"runs/reproduce{suffix}"),
        args.quick,
        args.threads,
        args.compile,
        args.epochs,
        lambda text: print(text, flush=True),
    )
    skipped = False
    for name in NAMES if args.name == "all" else (args.name,):
        experiment = EXPERIMENTS[name]
        seeds = args.seeds or (1 if args.quick else experiment.seeds)
        try:
            if not args.render_only:
                run_jobs(experiment.jobs(place, seeds, args.dims), place)
        except DataError as error:
            if args.name != "all":
                raise
            print(f"svmf reproduce: {name} skipped: {error}", file=sys.stderr)
            skipped = True
            continue
        for render in experiment.render:
            print(render(place))
    return 1 if skipped else 0
