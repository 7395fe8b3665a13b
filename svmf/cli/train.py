# SPDX-License-Identifier: MIT
"""`svmf train`: from options to a run folder."""

import argparse
import os
import shlex
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svmf.training import RunConfig

HELP = "train a model, or continue a run that was stopped"
EXAMPLES = (
    "svmf train svae                                      # digits, no download, seconds per epoch",
    "svmf train svae --data mnist --dim 10 --threads 1",
    "svmf train nvae --data /data/fashion --dim 20        # a folder of idx files",
    "svmf train svgae --data cora --lr 0.01 --dropout 0.1",
    "svmf train m1m2-sn --data mnist --dim 50 --labels 100",
    "svmf train --resume --out runs/svae-mnist-d10-seed0  # after Ctrl-C or kill -9",
    "torchrun --nproc-per-node 2 -m svmf train svae --data mnist --dim 10",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        nargs="?",
        metavar="MODEL",
        help="ae, nvae, svae, psvae; m1m2-nn, m1m2-ss, m1m2-sn; nvgae, svgae",
    )
    data = parser.add_argument_group("data")
    data.add_argument(
        "--data",
        metavar="NAME_OR_DIR",
        help="digits, mnist, circle, a folder of idx files; cora, citeseer, pubmed, FOLDER/NAME",
    )
    data.add_argument(
        "--data-root",
        metavar="DIR",
        help="where named data sets lie (otherwise $SVMF_DATA, then the download cache)",
    )
    data.add_argument(
        "--validation-rows", type=int, help="images held out to validate (MNIST: 10000)"
    )
    model = parser.add_argument_group("model")
    model.add_argument("--dim", type=int, help="latent dimension d; the sphere S^d lies in R^(d+1)")
    model.add_argument("--dim2", type=int, help="dimension of z2 in M1+M2 (default: as --dim)")
    model.add_argument("--hidden", type=int, nargs="+", metavar="N", help="hidden layer widths")
    model.add_argument(
        "--gradient",
        help="estimator of the gradient in kappa: pathwise (default), corrected, rejection",
    )
    model.add_argument("--alpha", type=float, help="M1+M2: weight of the classification loss")
    model.add_argument("--labels", type=int, help="M1+M2: number of labelled rows (default 100)")
    model.add_argument("--labelled-batch", type=int, help="M1+M2: labelled rows in each step")
    model.add_argument(
        "--label-tolerance",
        type=float,
        metavar="Q",
        help="M1+M2: leave out labels that together have this probability (0; 1e-4 is faster)",
    )
    model.add_argument("--dropout", type=float, help="graphs: dropout rate")
    model.add_argument("--kl-weight", type=float, help="graphs: KL weight (default 1/nodes)")
    model.add_argument("--multiplier", type=float, help="graphs: start of the dot product's factor")
    model.add_argument("--split-seed", type=int, help="graphs: edge split (default: as --seed)")
    training = parser.add_argument_group("training")
    training.add_argument("--epochs", type=int, help="upper bound on the number of epochs")
    training.add_argument("--batch-size", type=int, help="rows per step, over all processes")
    training.add_argument("--lr", type=float, help="learning rate of Adam")
    training.add_argument("--beta", type=float, help="KL weight (default 1)")
    training.add_argument("--warm-up", type=int, help="epochs of linear growth of the KL weight")
    training.add_argument(
        "--look-ahead", type=int, help="stop after so many epochs without a better validation score"
    )
    training.add_argument("--clip", type=float, help="bound on the gradient norm")
    training.add_argument("--seed", type=int, help="seed of everything random (default 0)")
    machine = parser.add_argument_group("machine")
    machine.add_argument("--device", help="cpu (default) or cuda")
    machine.add_argument("--threads", type=int, help="CPU threads")
    machine.add_argument(
        "--compile", action="store_true", default=None, help="compile the training step"
    )
    output = parser.add_argument_group("output")
    output.add_argument("--out", metavar="RUN", help="run folder (default: under runs/)")
    output.add_argument("--resume", action="store_true", help="continue the run in --out")
    output.add_argument(
        "--checkpoint-seconds", type=float, default=20.0, help="time between checkpoints (20)"
    )
    output.add_argument("--tensorboard", action="store_true", help="write TensorBoard files too")
    output.add_argument("--quiet", action="store_true", help="no progress on standard error")


_CONFIG_OPTIONS = (
    "data", "data_root", "validation_rows", "dim", "dim2", "hidden", "gradient", "alpha", "labels",
    "labelled_batch", "label_tolerance", "dropout", "kl_weight", "multiplier", "split_seed",
    "epochs", "batch_size", "lr", "beta", "warm_up", "look_ahead", "clip", "seed", "device",
    "threads", "compile",
)  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from svmf.errors import ConfigError
    from svmf.progress import ProgressLine
    from svmf.training import RunFolder, continue_run, make_config, start_run

    given = {name: getattr(args, name) for name in _CONFIG_OPTIONS}
    if given["hidden"] is not None:
        given["hidden"] = tuple(given["hidden"])
    if args.model is None and not args.resume:
        raise ConfigError("expected a MODEL, for instance svae (see svmf train --help)")
    if args.resume and args.out is None:
        raise ConfigError("--resume needs the run folder: --out RUN")
    if args.checkpoint_seconds < 0:
        raise ConfigError(
            f"--checkpoint-seconds: expected at least 0, got {args.checkpoint_seconds}"
        )
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


def _default_folder(config: "RunConfig") -> str:
    data = config.data.rstrip("/").rsplit("/", 1)[-1]
    return f"runs/{config.model}-{data}-d{config.dim}-seed{config.seed}"
