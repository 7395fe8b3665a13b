# SPDX-License-Identifier: MIT
"""Table 3: M1+M2 on MNIST with 100 labels, in the pairings N+N, S+S and S+N."""

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import torch

from reproduction.markdown import markdown_table, mean_spread, write_table
from reproduction.paper import TABLE3
from reproduction.pictures import draw_images
from reproduction.record import Job, Workspace, results_by
from reproduction.training_job import cut_mark, cut_note, training_job
from svmf.training import make_config
from svmf.training.semi_supervised_task import SemiSupervisedTask
from svmf.training.task import Task

PAIRINGS = {"m1m2-nn": "N+N", "m1m2-ss": "S+S", "m1m2-sn": "S+N"}
# the cells asked for first, then the rest of the paper's table
CELLS = ((5, 5), (10, 10), (50, 50), (50, 10), (5, 10), (5, 50), (10, 5), (10, 50), (50, 5))
MAIN_CELLS = 4
FIGURE_CELL = ("m1m2-sn", 50, 50)
# 20 labelled rows beside 100 others in each step: the objective is that of any number, and all
# hundred would nearly double the cost of a step
SETTINGS: dict[str, Any] = {
    "alpha": 1.0, "labels": 100, "labelled_batch": 20, "label_tolerance": 1e-4,
}  # fmt: skip
_NOTES = """
MNIST, 100 labels (ten of each class, drawn by the run's seed), the others unlabelled; one hidden
layer of 500 ReLU units in every network, Adam 1e-3, batches of 100 without and 20 with labels,
trained end to end, the unobserved label summed out (in training without labels that together have a
probability of 1e-4; the runs of seed 0 took all). The loss is the mean bound over all
data, to which each labelled image contributes as much as each other one, plus alpha = 1 times the
mean cross-entropy of the labelled ones. Early stopping with a look-ahead of 50 epochs on the
validation bound, which uses no label; the epoch of the best bound is reported. Accuracy of q(y|z1)
at the posterior mean on the 10,000 test images. Mean ± standard deviation (number of runs).
"""


def jobs(
    workspace: Workspace, seeds: int, cells: Sequence[tuple[int, int]] | None = None
) -> list[Job]:
    chosen = cells or (((2, 2),) if workspace.quick else CELLS[:MAIN_CELLS])
    return [
        _job(workspace, model, dim1, dim2, seed)
        for seed in range(seeds)
        for dim1, dim2 in chosen
        for model in PAIRINGS
    ]


def _job(workspace: Workspace, model: str, dim1: int, dim2: int, seed: int) -> Job:
    common = {"dim": dim1, "dim2": dim2, "seed": seed, **SETTINGS}
    common |= {"threads": workspace.threads, "compile": workspace.compile}
    if workspace.quick:
        config = make_config(model, data="digits", epochs=1, hidden=(16,), **common)
    else:
        config = make_config(model, data="mnist", epochs=workspace.at_most(1000), **common)
    draws = (model, dim1, dim2) == FIGURE_CELL or (workspace.quick and model == FIGURE_CELL[0])
    path = workspace.results / "figures" / "analogies-m1m2.png"
    return training_job(
        "m1m2",
        f"{model}-{dim1}-{dim2}-seed{seed}",
        config,
        after=(lambda task: draw_analogies(task, path)) if draws and seed == 0 else None,
    )


def draw_analogies(task: Task, path: Path) -> None:
    """Left: a test image of each class. To the right: its style with every label."""
    assert isinstance(task, SemiSupervisedTask)
    test = task.images.test
    shown = torch.stack([(test.labels == c).nonzero()[0, 0] for c in range(task.images.classes)])
    x = (test.images[shown].float() / 255).to(task.device)
    fantasies = task.model.analogies(x).cpu()
    rows = torch.cat([x.cpu().unsqueeze(1), fantasies], dim=1)
    title = "M1+M2 (S+N): test image, then its style with each label"
    size = task.images.height, task.images.width
    draw_images(rows.flatten(0, 1), rows.shape[1], *size, title, path)


def results_of(workspace: Workspace) -> dict[tuple[str, int, int], list[dict[str, Any]]]:
    """By model, dim z1 and dim z2."""
    cell = itemgetter("model", "dim", "dim2")
    return results_by(workspace, "m1m2", lambda result: cell(result["config"]))


def accuracies_of(runs: list[dict[str, Any]]) -> list[float]:
    """In per cent."""
    return [100 * run["figures"]["accuracy"] for run in runs]


def render(workspace: Workspace) -> Path:
    found = results_of(workspace)
    rows = []
    for dim1, dim2 in sorted({cell[1:] for cell in found}):
        row = [str(dim1), str(dim2)]
        published = TABLE3.get((dim1, dim2))
        for index, model in enumerate(PAIRINGS):
            theirs = f"{published[index][0]} ± {published[index][1]}" if published else "–"
            runs = found.get((model, dim1, dim2), [])
            row += [mean_spread(accuracies_of(runs), 1) + cut_mark(runs), theirs]
        rows.append(row)
    head = ["dim z1", "dim z2"]
    for name in PAIRINGS.values():
        head += [name, "paper"]
    body = markdown_table(head, rows)
    body += cut_note([run for runs in found.values() for run in runs])
    return write_table(workspace.results / "table3.md", "Table 3: M1+M2 on MNIST", _NOTES, body)
