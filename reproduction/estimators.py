# SPDX-License-Identifier: MIT
"""Beyond the paper: do the gradient estimator or the power spherical posterior matter on MNIST, in
likelihood and in epochs to converge? The runs themselves are made in `reproduction.mnist`."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from reproduction.markdown import (
    difference_interval,
    markdown_table,
    mean_spread,
    welch,
    write_table,
)
from reproduction.mnist import (
    ESTIMATOR_DIMS,
    ESTIMATORS,
    PROTOCOL_NOTES,
    SETTINGS_NOTE,
    results_of,
    values_of,
)
from reproduction.record import Workspace
from reproduction.training_job import cut_mark, cut_note

WINDOW = 5  # epochs: the validation ELBO jumps by 0.1 to 0.2 nats from one to the next
MARGIN = 0.5  # nats below what every run reached
PATHWISE = ("svae", "pathwise")  # what the others are compared with
FIGURES = ("LL", "ELBO", "RE", "KL")
COLUMNS = (
    "d",
    "posterior, gradient",
    *FIGURES,
    "best epoch",
    "epochs to target",
    "LL less pathwise",
    "p",
)
_NOTES = f"""
{SETTINGS_NOTE.strip()} {PROTOCOL_NOTES["stated"]}

The last columns compare the LL with that of the pathwise vMF of the same dimension: difference of
the means with Welch's 95 per cent interval, and the p-value of the test. At d = 2 the sampler
inverts the distribution function and rejects nothing, so that the three estimators are one.
"Epochs to target" counts until the validation ELBO, averaged over {WINDOW} epochs, reaches a level
that all runs of the dimension reach: {MARGIN} nats below the best of the run that came least far.
It leaves out a run whose result has no scores by epoch (`validation_scores`).
"""


def smoothed(scores: list[float]) -> list[float]:
    """Means of WINDOW epochs in a row, by the last of them; empty for a shorter run."""
    return [fmean(scores[i - WINDOW : i]) for i in range(WINDOW, len(scores) + 1)]


def common_target(runs: list[dict[str, Any]]) -> float | None:
    """A validation score that every one of these runs reaches."""
    best = [max(means) for run in runs if (means := smoothed(run.get("validation_scores", [])))]
    return min(best) - MARGIN if best else None


def epochs_to(target: float, runs: list[dict[str, Any]]) -> list[float]:
    """The first epoch at or above the target, of the runs that have kept their scores."""
    found = []
    for run in runs:
        means = smoothed(run.get("validation_scores", []))
        found += [WINDOW + i for i, mean in enumerate(means) if mean >= target][:1]
    return [float(epoch) for epoch in found]


def compare(workspace: Workspace) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """A row for every cell that has runs, its columns by their heads; and these runs."""
    found = results_of(workspace)
    rows, shown = [], []
    for dim in ESTIMATOR_DIMS:
        cells = {(m, g): found[m, g, dim] for m, g in ESTIMATORS if (m, g, dim) in found}
        runs_of_dim = [run for runs in cells.values() for run in runs]
        target = common_target(runs_of_dim)
        shown += runs_of_dim
        base = values_of(cells.get(PATHWISE, []), "ll")
        for cell, runs in cells.items():
            compared = [] if cell == PATHWISE else values_of(runs, "ll")
            p = welch(compared, base)
            texts = [
                str(dim),
                ESTIMATORS[cell],
                *(mean_spread(values_of(runs, name.lower())) for name in FIGURES),
                mean_spread([run["best_epoch"] for run in runs], 0) + cut_mark(runs),
                "–" if target is None else mean_spread(epochs_to(target, runs), 0),
                difference_interval(compared, base),
                "–" if p is None else f"{p:.2g}",
            ]
            rows.append(dict(zip(COLUMNS, texts, strict=True)))
    return rows, shown


def columns(rows: list[dict[str, str]], heads: Sequence[str] = COLUMNS) -> str:
    """These columns of the comparison as a table."""
    return markdown_table(heads, [[row[head] for head in heads] for row in rows])


def render(workspace: Workspace) -> Path:
    rows, shown = compare(workspace)
    title = "Gradient estimators and posteriors"
    body = columns(rows) + cut_note(shown)
    return write_table(workspace.results / "estimators.md", title, _NOTES, body)
