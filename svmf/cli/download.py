# SPDX-License-Identifier: MIT
"""`svmf download`: brings a data set to this machine, verified."""

import argparse

from svmf.catalogue import COLLECTIONS

HELP = "download a data set and verify it"
EXAMPLES = (
    "svmf download mnist",
    "svmf download planetoid --to /data",
    "svmf download mnist --mirror https://example.org/mnist/",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("collection", choices=COLLECTIONS, help="one of " + ", ".join(COLLECTIONS))
    parser.add_argument(
        "--to", metavar="DIR", help="root folder (otherwise $SVMF_DATA, then ~/.cache/svmf)"
    )
    parser.add_argument(
        "--mirror", action="append", default=[], metavar="URL", help="try this address first"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def run(args: argparse.Namespace) -> int:
    from svmf.data.download import download
    from svmf.data.locate import data_roots
    from svmf.progress import ProgressLine

    root = data_roots(args.to)[0]
    progress = ProgressLine(enabled=not args.quiet)
    folder = download(COLLECTIONS[args.collection], root, args.mirror, progress)
    print(folder)
    return 0
