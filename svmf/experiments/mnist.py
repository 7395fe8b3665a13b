# SPDX-License-Identifier: MIT
"""Tables 1 and 2, and the comparison of gradient estimators: VAEs on dynamically binarised MNIST.

One training run serves all of them: at its end the likelihood (500 importance samples), the k-NN
accuracies (20 label draws) and, for seed 0, the figures are made.
"""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from svmf.experiments.mnist_figures import draw_model
from svmf.experiments.paper import TABLE1, TABLE1_WINNER, TABLE2
from svmf.experiments.record import Job, Place, read_results
from svmf.experiments.tables import markdown_table, mean_spread, verdict, write_table
from svmf.experiments.training_job import cut_mark, cut_note, training_job
from svmf.training import RunConfig, make_config

DIMS = (2, 5, 10, 20, 40)
ESTIMATOR_DIMS = (2, 5, 10)
ESTIMATORS = {
    ("svae", "pathwise"): "vMF, pathwise",
    ("svae", "corrected"): "vMF, g_rep + g_cor (paper)",
    ("svae", "rejection"): "vMF, g_rep alone",
    ("psvae", "pathwise"): "power spherical",
}
LABELS = (100, 600, 1000)
# "stated": the paper's appendix. "released": the authors' TensorFlow example, whose reader splits
# the training file 55,000 / 5,000 and which has no warm-up.
PROTOCOLS: dict[str, dict[str, Any]] = {
    "stated": {},
    "released": {"warm_up": 0, "validation_rows": 5000},
}
SETTINGS_NOTE = """
MNIST, dynamically binarised; 50,000 training, 10,000 validation and 10,000 test images (the last
sixth of the training file validates). MLP 256-128 / 128-256, Glorot initialisation, Adam 1e-3,
batches of 64, KL warm-up over 100 epochs, early stopping with a look-ahead of 50 epochs on the
validation ELBO (counted from the end of the warm-up); the epoch of the best validation ELBO is
reported. kappa = softplus + 1; d is the paper's: the S-VAE lives in R^(d+1). One binarisation of
the test images (seed 0) for all runs. float32. Mean ± standard deviation (number of runs); the test
between N and S is Welch's, a winner is named for p < 0.01.
"""


def config_of(
    place: Place, model: str, gradient: str, dim: int, seed: int, protocol: str
) -> RunConfig:
    options: dict[str, Any] = {"dim": dim, "seed": seed, "gradient": gradient}
    options |= {"threads": place.threads, "compile": place.compile}
    if place.quick:
        options |= {"data": "digits", "epochs": place.at_most(2), "warm_up": 1, "hidden": (16,)}
    else:
        options |= {"data": "mnist", "epochs": place.at_most(2000), **PROTOCOLS[protocol]}
    return make_config(model, **options)


def experiment_of(protocol: str) -> str:
    """The folder of a protocol's results."""
    return "mnist" if protocol == "stated" else f"mnist-{protocol}"


def job_of(
    place: Place, model: str, gradient: str, dim: int, seed: int, protocol: str = "stated"
) -> Job:
    variant = "" if gradient == "pathwise" else f"-{gradient}"
    key = f"{model}{variant}-d{dim}-seed{seed}"
    draws = seed == 0 and gradient == "pathwise" and model != "psvae" and protocol == "stated"
    figures = place.results / "figures"
    return training_job(
        experiment_of(protocol),
        key,
        config_of(place, model, gradient, dim, seed, protocol),
        {"samples": 5, "label_draws": 2, "limit": 50} if place.quick else None,
        (lambda task: draw_model(task, figures)) if draws else None,
    )


def table_jobs(
    place: Place, seeds: int, dims: Sequence[int] | None = None, protocol: str = "stated"
) -> list[Job]:
    """Seed by seed, so that a part of the table is whole early."""
    chosen = dims or ((2, 5) if place.quick else DIMS)
    return [
        job_of(place, model, "pathwise", dim, seed, protocol)
        for seed in range(seeds)
        for dim in chosen
        for model in ("svae", "nvae")
    ]


def estimator_jobs(place: Place, seeds: int, dims: Sequence[int] | None = None) -> list[Job]:
    chosen = dims or ((2,) if place.quick else ESTIMATOR_DIMS)
    return [
        job_of(place, model, gradient, dim, seed)
        for seed in range(seeds)
        for dim in chosen
        for model, gradient in ESTIMATORS
        if dim != 2 or gradient == "pathwise"  # on S^2 nothing is rejected: one estimator
    ]


def results_of(place: Place) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    """By model, gradient and dimension."""
    found: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for result in read_results(place, "mnist"):
        config = result["config"]
        cell = (config["model"], config["gradient"], config["dim"])
        found.setdefault(cell, []).append(result)
    return found


def values_of(results: list[dict[str, Any]], name: str) -> list[float]:
    return [result["figures"][name] for result in results if name in result["figures"]]


def accuracies_of(results: list[dict[str, Any]], labels: int) -> list[list[float]]:
    """k-NN accuracies in per cent: for each model those of its label draws."""
    return [
        [100 * accuracy for accuracy in result["figures"]["knn"][str(labels)]]
        for result in results
        if str(labels) in result["figures"].get("knn", {})
    ]


def _paper(cell: tuple[float, float], digits: int = 2) -> str:
    return f"{cell[0]:.{digits}f} ± {cell[1]:.{digits}f}"


def render_table1(place: Place) -> Path:
    found = results_of(place)
    dims = sorted({dim for _, gradient, dim in found if gradient == "pathwise"})
    rows, shown = [], []
    for dim in dims:
        for model, letter in (("nvae", "N"), ("svae", "S")):
            runs = found.get((model, "pathwise", dim), [])
            shown += runs
            published = TABLE1.get((model, dim))
            row = [f"{dim}", letter]
            for index, name in enumerate(("ll", "elbo", "re", "kl")):
                theirs = _paper(published[index]) if published else "–"
                row += [mean_spread(values_of(runs, name)), theirs]
            row += [mean_spread(values_of(runs, "ll_exact"))]
            row += [mean_spread([run["best_epoch"] for run in runs], 0) + cut_mark(runs)]
            rows.append(row)
    head = ["d", "model", "LL", "paper", "ELBO", "paper", "RE", "paper", "KL", "paper"]
    body = markdown_table([*head, "LL by quadrature", "best epoch"], rows)
    body += cut_note(shown)
    tests = []
    for dim in dims:
        gaussian = values_of(found.get(("nvae", "pathwise", dim), []), "ll")
        spherical = values_of(found.get(("svae", "pathwise", dim), []), "ll")
        expected = TABLE1_WINNER.get(dim)
        theirs = "–" if expected is None else expected or "none"
        tests.append([str(dim), verdict(gaussian, spherical), theirs])
    body += "\nLog-likelihood, N against S:\n\n"
    body += markdown_table(["d", "better, ours", "better, paper (p < 0.01)"], tests)
    return write_table(place.results / "table1.md", "Table 1: MNIST", SETTINGS_NOTE, body)


def render_table2(place: Place) -> Path:
    found = results_of(place)
    rows = []
    for dim in sorted({dim for _, gradient, dim in found if gradient == "pathwise"}):
        for labels in LABELS:
            model_means = {}
            row = [str(dim), str(labels)]
            for model in ("nvae", "svae"):
                per_model = accuracies_of(found.get((model, "pathwise", dim), []), labels)
                model_means[model] = [statistics.fmean(draws) for draws in per_model]
                published = TABLE2.get((model, dim), {}).get(labels)
                row += [mean_spread([accuracy for draws in per_model for accuracy in draws], 1)]
                row += [_paper(published, 1) if published else "–"]
            rows.append([*row, verdict(model_means["nvae"], model_means["svae"])])
    head = ["d", "labels", "N-VAE", "paper", "S-VAE", "paper", "better, ours"]
    notes = SETTINGS_NOTE + (
        "\nM1: 5-NN on posterior means of the models of table 1, Euclidean for N, geodesic for S; "
        "labels balanced over the classes, 20 label draws per trained model. Mean and spread are "
        "over all draws of all models; the test is between the models, each by the mean of its "
        "draws: draws on one model are not independent runs."
    )
    body = markdown_table(head, rows)
    return write_table(place.results / "table2.md", "Table 2: k-NN on MNIST", notes, body)
