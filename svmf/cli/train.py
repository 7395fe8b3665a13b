# SPDX-License-Identifier: MIT
"""`svmf train`: from options to a run folder."""

import argparse
import os
import shlex
import sys

from svmf.cli import require_at_least
from svmf.errors import ConfigError
from svmf.training.config import RunConfig, config_options, make_config
from svmf.training.defaults import help_with_default
from svmf.training.model_table import KINDS, MODELS
from svmf.training.options import add_options

HELP = "train a model, or continue a run that was stopped"
EXAMPLES = (
    "svmf train svae                                      # digits, no download, seconds per epoch",
    "svmf train svae --data mnist --dim 10 --threads 1",
    "svmf train svae --data mine.npy                      # also .npz, .csv, a folder of images",
    "svmf train nvae --data /data/fashion --dim 20        # a folder of idx files",
    "svmf train svgae --data cora --lr 0.01 --dropout 0.1",
    "svmf train m1m2-sn --data mnist --dim 50 --labels 100",
    "svmf train --resume --out runs/svae-mnist-d10-seed0  # after Ctrl-C or kill -9",
    "torchrun --nproc-per-node 2 -m svmf train svae --data mnist --dim 10",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", nargs="?", metavar="MODEL", help=_models())
    add_options(parser, config_options(), help_with_default)
    output = parser.add_argument_group("output")
    output.add_argument("--out", metavar="RUN", help="run folder (default: under runs/)")
    output.add_argument("--resume", action="store_true", help="continue the run in --out")
    output.add_argument(
        "--checkpoint-seconds",
        type=float,
        default=20.0,
        metavar="X",
        help="time between checkpoints (default 20)",
    )
    output.add_argument("--tensorboard", action="store_true", help="write TensorBoard files too")
    output.add_argument("--quiet", action="store_true", help="no progress on standard error")


def _models() -> str:
    kinds = ([(name, spec) for name, spec in MODELS.items() if spec.kind == kind] for kind in KINDS)
    return "; ".join(", ".join(f"{name} ({spec.help})" for name, spec in kind) for kind in kinds)


def run(args: argparse.Namespace) -> int:
    given = {name: getattr(args, name) for name in config_options()}
    if args.model is None and not args.resume:
        raise ConfigError("expected a MODEL, for instance svae (see svmf train --help)")
    if args.resume and args.out is None:
        raise ConfigError("--resume needs the run folder: --out RUN")
    require_at_least("checkpoint-seconds", args.checkpoint_seconds, 0)
    if args.model is not None:
        make_config(args.model, **given)  # a mistake is told at once: torch takes seconds to import

    from svmf.progress import ProgressLine
    from svmf.training import RunFolder, continue_run, start_run

    options = {
        "progress": ProgressLine(enabled=not args.quiet and _is_writer()),
        "checkpoint_seconds": args.checkpoint_seconds,
        "tensorboard": args.tensorboard,
    }
    # a run that was killed before it wrote anything is simply started
    if args.resume and (args.model is None or RunFolder(args.out).exists()):
        out = args.out
        outcome = continue_run(out, {"model": args.model, **given}, **options)
    else:
        config = make_config(args.model, **given)
        out = args.out or _default_folder(config)
        outcome = start_run(config, out, **options)
    if not _is_writer():
        return 0
    if not outcome.finished:
        print(
            f"stopped after epoch {outcome.epoch}, state saved; continue with\n"
            f"  svmf train --resume --out {shlex.quote(str(out))}",
            file=sys.stderr,
        )
        return 128 + outcome.interrupted_by
    print(f"trained {outcome.epoch} epochs")
    print(f"best epoch {outcome.best_epoch}, validation score {outcome.best_score:.6g}")
    print(f"run folder {out}")
    print(f"test figures: svmf evaluate {shlex.quote(str(out))}")
    return 0


def _is_writer() -> bool:
    return os.environ.get("RANK", "0") == "0"


def _default_folder(config: RunConfig) -> str:
    data = config.data.rstrip("/").rsplit("/", 1)[-1]
    size = f"d{config.dim}" if config.latent is None else config.latent
    return f"runs/{config.model}-{data}-{size}-seed{config.seed}"
