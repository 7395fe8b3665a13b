# SPDX-License-Identifier: MIT
"""Table 2: k-NN classification with the codes of the models of table 1."""

import statistics
from pathlib import Path

from reproduction.markdown import markdown_table, mean_spread, paper_cell, verdict, write_table
from reproduction.mnist import SETTINGS_NOTE, accuracies_of, results_of
from reproduction.paper import TABLE2
from reproduction.record import Workspace

LABELS = (100, 600, 1000)


def render(workspace: Workspace) -> Path:
    found = results_of(workspace)
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
                row += [paper_cell(published, 1) if published else "–"]
            rows.append([*row, verdict(model_means["nvae"], model_means["svae"])])
    head = ["d", "labels", "N-VAE", "paper", "S-VAE", "paper", "better, ours"]
    notes = SETTINGS_NOTE + (
        "\nM1: 5-NN on posterior means of the models of table 1, Euclidean for N, geodesic for S; "
        "labels balanced over the classes, 20 label draws per trained model. Mean and spread are "
        "over all draws of all models; the test is between the models, each by the mean of its "
        "draws: draws on one model are not independent runs."
    )
    body = markdown_table(head, rows)
    return write_table(workspace.results / "table2.md", "Table 2: k-NN on MNIST", notes, body)
