# SPDX-License-Identifier: MIT
"""`svmf demo`: the paper's first experiment, and what the sampler costs, in about a minute."""

import argparse

HELP = "run the paper's first experiment end to end: about a minute, nothing downloaded"
EXAMPLES = ("svmf demo", "svmf demo --out /tmp/demo --seed 3")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", metavar="DIR", default="demo_output", help="where files go (demo_output)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the data and the models (0)")
    parser.add_argument("--epochs", type=int, help="for each model (60)")


def run(args: argparse.Namespace) -> int:
    from svmf.demo import run_demo
    from svmf.errors import ConfigError

    if args.seed < 0:
        raise ConfigError(f"--seed: expected at least 0, got {args.seed}")
    if args.epochs is not None and args.epochs < 1:
        raise ConfigError(f"--epochs: expected at least 1, got {args.epochs}")
    run_demo(args.out, args.seed, args.epochs)
    return 0
