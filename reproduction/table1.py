# SPDX-License-Identifier: MIT
"""Table 1: likelihood, ELBO, reconstruction and KL of N-VAE and S-VAE on MNIST."""

from pathlib import Path

from reproduction.markdown import markdown_table, mean_spread, paper_cell, verdict, write_table
from reproduction.mnist import SETTINGS_NOTE, results_of, values_of
from reproduction.paper import TABLE1, TABLE1_WINNER
from reproduction.record import Workspace
from reproduction.training_job import cut_mark, cut_note


def render(workspace: Workspace) -> Path:
    found = results_of(workspace)
    dims = sorted({dim for _, gradient, dim in found if gradient == "pathwise"})
    rows, shown = [], []
    for dim in dims:
        for model, letter in (("nvae", "N"), ("svae", "S")):
            runs = found.get((model, "pathwise", dim), [])
            shown += runs
            published = TABLE1.get((model, dim))
            row = [f"{dim}", letter]
            for index, name in enumerate(("ll", "elbo", "re", "kl")):
                theirs = paper_cell(published[index]) if published else "–"
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
    return write_table(workspace.results / "table1.md", "Table 1: MNIST", SETTINGS_NOTE, body)
