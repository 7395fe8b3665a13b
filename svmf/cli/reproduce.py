# SPDX-License-Identifier: MIT
"""`svmf reproduce`: says where the reproduction of the paper is now."""

import argparse

HELP = "moved: `python -m reproduction` in a checkout of the project"
EXAMPLES = ("python -m reproduction table1 --seeds 3",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    from svmf.errors import ConfigError

    command = " ".join(["python -m reproduction", *args.rest])
    raise ConfigError(f"moved out of the package: in a checkout of svmf run `{command}`")
