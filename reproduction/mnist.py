# SPDX-License-Identifier: MIT
"""The VAEs on dynamically binarised MNIST, of which tables 1 and 2 and the comparison of gradient
estimators are made.

One training run serves all of them: at its end the likelihood (500 importance samples), the k-NN
accuracies (20 label draws) and, for seed 0, the figures are made.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from reproduction.mnist_figures import draw_model
from reproduction.record import Job, Workspace, results_by
from reproduction.training_job import training_job
from svmf.training import RunConfig, make_config

DIMS = (2, 5, 10, 20, 40)
ESTIMATOR_DIMS = (2, 5, 10)
ESTIMATORS = {
    ("svae", "pathwise"): "vMF, pathwise",
    ("svae", "corrected"): "vMF, g_rep + g_cor (paper)",
    ("svae", "rejection"): "vMF, g_rep alone",
    ("psvae", "pathwise"): "power spherical",
}
# "stated": the paper's appendix. "released": the authors' TensorFlow example, whose reader splits
# the training file 55,000 / 5,000 and which has no warm-up.
PROTOCOLS: dict[str, dict[str, Any]] = {
    "stated": {},
    "released": {"warm_up": 0, "validation_rows": 5000},
}
PROTOCOL_NOTES = {
    "stated": "Stated, in the paper's appendix: KL warm-up over 100 epochs; 10,000 of the 60,000 "
    "training images validate.",
    "released": "Released, in the authors' TensorFlow example: no warm-up; 5,000 of the 60,000 "
    "training images validate. (The example trains for 1,000 steps; the stopping rule here is the "
    "paper's.)",
}
# What k-NN is given, by the name of its figures.
CODES = {
    "knn": "means, binarised images",
    "knn_grey": "means, grey images",
    "knn_sample": "one sample, binarised images",
}
SETTINGS_NOTE = """
MNIST, dynamically binarised, 10,000 test images. MLP 256-128 / 128-256, Glorot initialisation, Adam
1e-3, batches of 64, early stopping with a look-ahead of 50 epochs on the validation ELBO (counted
from the end of the warm-up); the epoch of the best validation ELBO is reported. kappa = softplus +
1; d is the paper's: the S-VAE lives in R^(d+1). One binarisation of the test images (seed 0) for
all runs. float32. Mean ± standard deviation (number of runs); the test between N and S is Welch's,
a winner is named for p < 0.01.
"""


def config_of(
    workspace: Workspace, model: str, gradient: str, dim: int, seed: int, protocol: str
) -> RunConfig:
    options: dict[str, Any] = {"dim": dim, "seed": seed, "gradient": gradient}
    options |= {"threads": workspace.threads, "compile": workspace.compile}
    if workspace.quick:
        options |= {"data": "digits", "epochs": workspace.at_most(2), "warm_up": 1, "hidden": (16,)}
    else:
        options |= {"data": "mnist", "epochs": workspace.at_most(2000), **PROTOCOLS[protocol]}
    return make_config(model, **options)


def experiment_of(protocol: str) -> str:
    """The folder of a protocol's results."""
    return "mnist" if protocol == "stated" else f"mnist-{protocol}"


def job_of(
    workspace: Workspace, model: str, gradient: str, dim: int, seed: int, protocol: str = "stated"
) -> Job:
    variant = "" if gradient == "pathwise" else f"-{gradient}"
    key = f"{model}{variant}-d{dim}-seed{seed}"
    draws = seed == 0 and gradient == "pathwise" and model != "psvae" and protocol == "stated"
    figures = workspace.results / "figures"
    return training_job(
        experiment_of(protocol),
        key,
        config_of(workspace, model, gradient, dim, seed, protocol),
        {"samples": 5, "label_draws": 2, "limit": 50} if workspace.quick else None,
        (lambda task: draw_model(task, figures)) if draws else None,
    )


def table_jobs(
    workspace: Workspace, seeds: int, dims: Sequence[int] | None = None, protocol: str = "stated"
) -> list[Job]:
    """Seed by seed, so that a part of the table is whole early."""
    chosen = dims or ((2, 5) if workspace.quick else DIMS)
    return [
        job_of(workspace, model, "pathwise", dim, seed, protocol)
        for seed in range(seeds)
        for dim in chosen
        for model in ("svae", "nvae")
    ]


def estimator_jobs(
    workspace: Workspace, seeds: int, dims: Sequence[int] | None = None
) -> list[Job]:
    chosen = dims or ((2,) if workspace.quick else ESTIMATOR_DIMS)
    return [
        job_of(workspace, model, gradient, dim, seed)
        for seed in range(seeds)
        for dim in chosen
        for model, gradient in ESTIMATORS
        if dim != 2 or gradient == "pathwise"  # on S^2 nothing is rejected: one estimator
    ]


def results_of(
    workspace: Workspace, protocol: str = "stated"
) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    """By model, gradient and dimension."""
    cell = itemgetter("model", "gradient", "dim")
    return results_by(workspace, experiment_of(protocol), lambda result: cell(result["config"]))


def values_of(results: list[dict[str, Any]], name: str) -> list[float]:
    return [result["figures"][name] for result in results if name in result["figures"]]


def accuracies_of(
    results: list[dict[str, Any]], labels: int, code: str = "knn"
) -> list[list[float]]:
    """k-NN accuracies in per cent: for each model those of its label draws. `code` is one of
    `CODES`."""
    return [
        [100 * accuracy for accuracy in result["figures"][code][str(labels)]]
        for result in results
        if str(labels) in result["figures"].get(code, {})
    ]
