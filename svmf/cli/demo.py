# SPDX-License-Identifier: MIT
"""`svmf demo`: the paper's first experiment, and what the sampler costs, in about a minute."""

import argparse

from svmf.cli import require_at_least

HELP = "run the paper's first experiment end to end: about a minute, nothing downloaded"
EXAMPLES = ("svmf demo", "svmf demo --out /tmp/demo --seed 3")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", metavar="DIR", default="demo_output", help="where files go (demo_output)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the data and the models (0)")
    parser.add_argument("--epochs", type=int, help="for each model (60)")


def run(args: argparse.Namespace) -> int:
    require_at_least("seed", args.seed, 0)
    require_at_least("epochs", args.epochs, 1)
    from svmf.demo import run_demo

    run_demo(args.out, args.seed, args.epochs)
    return 0
