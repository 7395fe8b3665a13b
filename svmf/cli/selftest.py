# SPDX-License-Identifier: MIT
"""`svmf selftest`: does this installation work here? One report to paste."""

import argparse

HELP = "check that every op works on this machine, and print one report to paste"
EXAMPLES = ("svmf selftest", "svmf selftest --device cuda > report.txt")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device",
        choices=("cpu", "cuda"),
        help="what to test (default: cuda where torch has a GPU and svmf was built with CUDA)",
    )


def run(args: argparse.Namespace) -> int:
    from svmf.selftest import selftest

    return selftest(args.device)
