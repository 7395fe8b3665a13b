# SPDX-License-Identifier: MIT
"""Table 2: k-NN classification with the codes of the models of table 1, by both protocols."""

import math
import statistics
from pathlib import Path

from reproduction.markdown import markdown_table, mean_spread, paper_cell, verdict, write_table
from reproduction.mnist import CODES, PROTOCOLS, SETTINGS_NOTE, accuracies_of
from reproduction.paper import TABLE2
from reproduction.record import Workspace
from reproduction.table1 import Runs, by_protocol, runs_of

LABELS = (100, 600, 1000)
NOTES = """
M1: 5-NN on the codes of the models of table 1, Euclidean for N, geodesic for S; labels balanced
over the classes, 20 label draws per trained model. Mean and spread are over all draws of all
models; the test is between the models, each by the mean of its draws: draws on one model are not
independent runs.
"""
CODES_NOTE = """
The paper does not say what k-NN is given. Below, our accuracy less the paper's in points: mean over
the cells of a model (five dimensions, three numbers of labels; as many as have runs) and, in
brackets, the root of the mean square. Runs that were evaluated before the other codes were known
have the first alone.
"""


def means_of(runs: Runs, model: str, dim: int, labels: int, code: str = "knn") -> list[float]:
    """One accuracy for each trained model: the mean over its label draws."""
    found = accuracies_of(runs.get((model, dim), []), labels, code)
    return [statistics.fmean(draws) for draws in found]


def protocol_table(runs: Runs) -> str:
    rows = []
    for dim in sorted({dim for _, dim in runs}):
        for labels in LABELS:
            row = [str(dim), str(labels)]
            for model in ("nvae", "svae"):
                per_model = accuracies_of(runs.get((model, dim), []), labels)
                published = TABLE2.get((model, dim), {}).get(labels)
                row += [mean_spread([accuracy for draws in per_model for accuracy in draws], 1)]
                row += [paper_cell(published, 1) if published else "–"]
            both = (means_of(runs, model, dim, labels) for model in ("nvae", "svae"))
            rows.append([*row, verdict(*both)])
    head = ["d", "labels", "N-VAE", "paper", "S-VAE", "paper", "better, ours"]
    return markdown_table(head, rows)


def codes_table(workspace: Workspace) -> str:
    """How far each code is from the paper's accuracies."""

    def distance(runs: Runs, model: str, code: str) -> str:
        differences = [
            statistics.fmean(ours) - theirs[labels][0]
            for (published, dim), theirs in TABLE2.items()
            for labels in LABELS
            if published == model and (ours := means_of(runs, model, dim, labels, code))
        ]
        if not differences:
            return "–"
        root = math.sqrt(statistics.fmean(value**2 for value in differences))
        return f"{statistics.fmean(differences):+.1f} ({root:.1f}), {len(differences)} cells"

    rows = []
    for protocol in PROTOCOLS:
        runs = runs_of(workspace, protocol)
        for code, title in CODES.items():
            rows.append([protocol, title, *(distance(runs, m, code) for m in ("nvae", "svae"))])
    return markdown_table(["protocol", "code", "N-VAE less paper", "S-VAE less paper"], rows)


def render(workspace: Workspace) -> Path:
    parts = by_protocol(workspace, lambda runs: [protocol_table(runs)])
    parts += ["## What k-NN is given", CODES_NOTE, codes_table(workspace)]
    path = workspace.results / "table2.md"
    return write_table(path, "Table 2: k-NN on MNIST", f"{SETTINGS_NOTE}\n\n{NOTES}", *parts)
