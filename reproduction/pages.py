# SPDX-License-Identifier: MIT
"""The tables that show results, made from the JSON files of results/: those of README.md and
docs/results.md, and the files of results/ itself. tools/update_tables.py puts them there."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from reproduction import beyond, estimators, mnist, table1, table2, table3, table3_trials, table4
from reproduction.catalogue import EXPERIMENTS
from reproduction.markdown import SIGNIFICANT, markdown_table, welch
from reproduction.paper import TABLE1, TABLE2, TABLE3, TABLE4
from reproduction.record import Workspace
from reproduction.training_job import cut_mark


def mean(values: Sequence[float]) -> str:
    return f"{statistics.fmean(values):.1f}" if values else "–"


def with_winner(gaussian: list[list[float]], spherical: list[list[float]]) -> tuple[str, str]:
    """Means of N and of S, one or several figures each; bold if all of one are significantly the
    larger ones."""
    texts = [" / ".join(mean(values) for values in side) for side in (gaussian, spherical)]
    p = [welch(n, s) for n, s in zip(gaussian, spherical, strict=True)]
    if all(value is not None and value < SIGNIFICANT for value in p):
        ahead = {
            statistics.fmean(s) > statistics.fmean(n)
            for n, s in zip(gaussian, spherical, strict=True)
        }
        if len(ahead) == 1:
            winner = int(ahead.pop())
            texts[winner] = f"**{texts[winner]}**"
    return texts[0], texts[1]


def overview(workspace: Workspace) -> str:
    """README's table."""
    rows = []
    vaes = mnist.results_of(workspace)
    for dim in mnist.DIMS:
        runs = [vaes.get((model, "pathwise", dim), []) for model in ("nvae", "svae")]
        n, s = with_winner(*([mnist.values_of(side, "ll")] for side in runs))
        theirs = [TABLE1[model, dim][0][0] for model in ("nvae", "svae")]
        title = f"MNIST, d = {dim}" + (": log-likelihood" if dim == mnist.DIMS[0] else "")
        rows.append([title, n, f"{theirs[0]:.1f}†", s, f"{theirs[1]:.1f}†"])
    counts = (100, 1000)
    for dim in (2, 5, 10):
        models = [
            [
                list(map(statistics.fmean, mnist.accuracies_of(vaes[model, "pathwise", dim], k)))
                for k in counts
            ]
            for model in ("nvae", "svae")
        ]
        n, s = with_winner(*models)
        theirs_of = [
            " / ".join(f"{TABLE2[model, dim][k][0]:.1f}" for k in counts)
            for model in ("nvae", "svae")
        ]
        title = f"MNIST, d = {dim}: 5-NN" + (
            " from 100 / 1000 labels, per cent" if dim == 2 else ""
        )
        rows.append([title, n, theirs_of[0], s, theirs_of[1]])
    stacked = table3.results_of(workspace)
    pair = [stacked.get((model, 10, 10), []) for model in ("m1m2-nn", "m1m2-sn")]
    n, s = with_winner(*([table3.accuracies_of(side)] for side in pair))
    title = "MNIST, M1+M2 (10, 10) from 100 labels, per cent: N+N, S+N"
    rows.append([title, n, f"{TABLE3[10, 10][0][0]}", s, f"{TABLE3[10, 10][2][0]}"])
    graphs = table4.results_of(workspace)
    for graph in table4.GRAPHS:
        n, s = with_winner(
            *([table4.best_auc(graphs, graph, model, "fixed")] for model in table4.MODELS)
        )
        title = f"{graph.capitalize()}, " + ("link prediction, AUC" if graph == "cora" else "AUC")
        theirs_of = [f"{TABLE4[graph, model][0][0]}" for model in table4.MODELS]
        rows.append([title, n, theirs_of[0], s, theirs_of[1]])
    return markdown_table(["", "N, ours", "N, paper", "S, ours", "S, paper"], rows)


def likelihoods(workspace: Workspace) -> str:
    """Table 1: the paper's figures, and under them ours by either protocol."""
    protocols = {name: table1.runs_of(workspace, name) for name in mnist.PROTOCOLS}
    rows = []
    for dim in mnist.DIMS:
        for model, letter in table1.MODELS.items():
            ll, *others = (f"{cell[0]:.1f}" for cell in TABLE1[model, dim])
            rows.append([str(dim), letter, "paper", ll, ll, *others])
            for name, found in protocols.items():
                runs = found.get((model, dim), [])
                figures = [mean(mnist.values_of(runs, figure)) for figure in table1.COLUMNS]
                rows.append(["", "", f"{name} ({len(runs)})", *figures])
    return markdown_table(["d", "model", "runs", "LL", "LL released", "ELBO", "RE", "KL"], rows)


def stacked_accuracies(workspace: Workspace) -> str:
    found = table3.results_of(workspace)
    rows = []
    for dims in sorted({cell[1:] for cell in found}):
        row = [f"{dims[0]}, {dims[1]}"]
        for index, model in enumerate(table3.PAIRINGS):
            runs = found.get((model, *dims), [])
            ours = mean(table3.accuracies_of(runs)) + cut_mark(runs)
            row.append(f"{ours} ({len(runs)}), {TABLE3[dims][index][0]}")
        rows.append(row)
    head = ["dim z1, z2", *(f"{name}, paper" for name in table3.PAIRINGS.values())]
    return markdown_table(head, rows)


_ESTIMATOR_HEADS = ("d", "posterior, gradient", "LL", "LL less pathwise", "epochs to target")
PAGE_TABLES = {
    "overview": overview,
    "likelihoods": likelihoods,
    "protocols": table1.agreement_table,
    "gap": table1.gap_table,
    "knn": table2.codes_table,
    "m1m2": stacked_accuracies,
    "m1m2-trials": table3_trials.table,
    "estimators": lambda w: estimators.columns(estimators.compare(w)[0], _ESTIMATOR_HEADS),
    "beyond": lambda w: beyond.table(w, beyond.COLUMNS),
}


def page_tables(root: Path) -> dict[str, str]:
    workspace = Workspace(root / "results", root / "results")
    return {name: make(workspace).rstrip("\n") for name, make in PAGE_TABLES.items()}


def result_files(root: Path) -> dict[Path, str]:
    """The Markdown files of results/, as they should be."""
    texts = {}
    with TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in (root / "results").iterdir():
            if part.is_dir() and part.name != "figures":
                (copy / part.name).symlink_to(part)
        for experiment in EXPERIMENTS.values():
            for render in experiment.render:
                made = render(Workspace(copy, copy))
                if made.suffix == ".md":
                    texts[root / "results" / made.name] = made.read_text()
    return texts
