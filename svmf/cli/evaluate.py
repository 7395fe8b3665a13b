# SPDX-License-Identifier: MIT
"""`svmf evaluate`: the test figures of a run's best epoch."""

import argparse
import json

from svmf.cli import require_at_least
from svmf.training.config import config_options

HELP = "print the test figures of a run"
EXAMPLES = (
    "svmf evaluate runs/svae-mnist-d10-seed0",
    "svmf evaluate runs/svae-mnist-d10-seed0 --json",
    "svmf evaluate runs/svae-mnist-d10-seed0 --samples 50 --limit 1000   # a quick look",
)
_NAMES = {
    "ll": "log-likelihood (importance sampling)",
    "ll_exact": "log-likelihood (quadrature)",
    "elbo": "ELBO",
    "re": "reconstruction term",
    "kl": "KL divergence",
    "kappa": "mean concentration",
    "sigma": "mean standard deviation",
    "norm": "mean norm of the code",
    "spread": "mean spread of the factors",
    "accuracy": "accuracy",
    "auc": "AUC",
    "ap": "average precision",
}

_OVERRIDES = ("data", "data_root", "device", "threads")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="RUN", help="folder that svmf train made")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--samples", type=int, default=500, help="importance samples per row (500; 0: skip)"
    )
    parser.add_argument("--limit", type=int, help="use only so many test rows for the likelihood")
    parser.add_argument("--label-draws", type=int, default=20, help="label sets for k-NN (20)")
    moved = parser.add_argument_group("where it differs from the training run")
    for name in _OVERRIDES:
        config_options()[name].add_to(moved, config_options()[name].said.help)


def run(args: argparse.Namespace) -> int:
    require_at_least("samples", args.samples, 0)
    require_at_least("limit", args.limit, 1)
    require_at_least("label-draws", args.label_draws, 1)
    from svmf.training import evaluate_run

    overrides = {name: getattr(args, name) for name in _OVERRIDES}
    figures = evaluate_run(
        args.run_folder,
        overrides,
        samples=args.samples,
        limit=args.limit,
        label_draws=args.label_draws,
    )
    if args.json:
        print(json.dumps(figures))
        return 0
    print(
        f"{figures['model']} on {figures['data']}, d = {figures['dim']}, "
        f"seed {figures['seed']}, best epoch {figures['best_epoch']}"
    )
    for name, text in _NAMES.items():
        if name in figures:
            print(f"  {text:38s} {figures[name]:10.4f}")
    for count, accuracies in figures.get("knn", {}).items():
        mean = sum(accuracies) / len(accuracies)
        text = f"5-NN accuracy, {count} labels"
        print(f"  {text:38s} {100 * mean:9.2f}%  (mean of {len(accuracies)} label sets)")
    return 0
