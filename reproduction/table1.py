# SPDX-License-Identifier: MIT
"""Table 1: likelihood, ELBO, reconstruction and KL of N-VAE and S-VAE on MNIST, by both protocols,
and which of them the paper's figures are."""

import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from reproduction.agreement import PAPER_RUNS, Agreement, Cell, agreement
from reproduction.binarisation import spread_of_elbo
from reproduction.markdown import markdown_table, mean_spread, paper_cell, verdict, write_table
from reproduction.mnist import DIMS, PROTOCOL_NOTES, PROTOCOLS, SETTINGS_NOTE, results_of, values_of
from reproduction.paper import TABLE1, TABLE1_WINNER
from reproduction.record import Workspace
from reproduction.released_gap import SAMPLES, released_gap
from reproduction.training_job import cut_mark, cut_note

MODELS = {"nvae": "N", "svae": "S"}
# A figure of ours, and the column of the paper that it is held to.
COLUMNS = {"ll": 0, "ll_released": 0, "elbo": 1, "re": 2, "kl": 3}
TITLES = {
    "ll": "LL (importance sampling)",
    "ll_released": "LL released",
    "elbo": "ELBO",
    "re": "RE",
    "kl": "KL",
}
Runs = dict[tuple[str, int], list[dict[str, Any]]]

LIKELIHOOD_NOTE = f"""
LL is log p(x) by importance sampling with {SAMPLES} draws. LL released is the figure that the
authors' released example prints: the reconstruction at one draw plus the log of the mean of p/q
over {SAMPLES} others, which is no bound on log p(x). It is absent from runs that were evaluated
before it was known. The paper has one column LL, shown beside both.
"""
AGREEMENT_NOTE = f"""
For each figure the sum of squared normal deviates of (ours - paper) over the cells (chi-square with
as many degrees of freedom as cells), its p-value, and how many cells lie within two standard
errors. Assumed: independent normal runs of one spread on both sides, the paper's spreads being
standard deviations over {PAPER_RUNS} runs; for LL, ELBO and RE one unknown binarisation of the test
images on either side ({spread_of_elbo(2)} nats at d = 2, {spread_of_elbo(5)} beyond, measured by
`python -m reproduction.binarisation`). ELBO is RE - KL, so that the lines are not independent of
one another. A single run takes the paper's spread.
"""
GAP_NOTE = f"""
LL - ELBO in nats. For a vMF posterior the released figure exceeds the ELBO by E[log mean exp(t)] -
E[t] over {SAMPLES} draws of t = kappa (1 - w), whatever the decoder. For large kappa t is
Gamma(d/2, 1), and nothing is left to fit: the second column. The third has the law of t at the mean
kappa of our S-VAEs, in brackets; the paper does not report its own. For N the second column holds
where every dimension is used, with a narrow posterior.
"""


def runs_of(workspace: Workspace, protocol: str) -> Runs:
    """The runs with the pathwise gradient, by model and dimension."""
    found = results_of(workspace, protocol)
    return {
        (model, dim): runs
        for (model, gradient, dim), runs in found.items()
        if gradient == "pathwise" and model in MODELS
    }


def agreement_of(runs: Runs, name: str, cells: Iterable[tuple[str, int]]) -> Agreement:
    """Of one figure with the paper's, over these cells."""
    return agreement(
        [
            Cell(
                values_of(runs.get((model, dim), []), name),
                TABLE1[model, dim][COLUMNS[name]],
                0.0 if name == "kl" else spread_of_elbo(dim),
            )
            for model, dim in cells
        ]
    )


def agreement_table(workspace: Workspace) -> str:
    """The protocols side by side; stated also over the cells alone that released has."""
    stated, released = (runs_of(workspace, protocol) for protocol in ("stated", "released"))
    rows = []
    for name, title in TITLES.items():
        both = [cell for cell in TABLE1 if values_of(released.get(cell, []), name)]
        rows.append(
            [
                title,
                str(agreement_of(stated, name, TABLE1)),
                str(agreement_of(stated, name, both)),
                str(agreement_of(released, name, TABLE1)),
            ]
        )
    counts = [sum(map(len, runs.values())) for runs in (stated, released)]
    head = ["figure", f"stated (runs: {counts[0]})", "stated, cells of released alone"]
    return markdown_table([*head, f"released (runs: {counts[1]})"], rows)


def gap_table(workspace: Workspace) -> str:
    """LL - ELBO: the prediction for the released formula, the paper's, and ours by both."""
    protocols = {protocol: runs_of(workspace, protocol) for protocol in PROTOCOLS}

    def figures(model: str, dim: int) -> list[dict[str, Any]]:
        return [run["figures"] for runs in protocols.values() for run in runs.get((model, dim), [])]

    def gaps(model: str, dim: int, name: str) -> str:
        return mean_spread([f[name] - f["elbo"] for f in figures(model, dim) if name in f])

    def at_our_kappa(dim: int) -> str:
        kappas = [f["kappa"] for f in figures("svae", dim) if "kappa" in f]
        if not kappas:
            return "–"
        kappa = statistics.fmean(kappas)
        return f"{released_gap(dim, kappa):.2f} ({kappa:.0f})"

    rows = []
    for dim in DIMS:
        row = [str(dim), f"{released_gap(dim):.2f}", at_our_kappa(dim)]
        for model in ("svae", "nvae"):
            ll, elbo = TABLE1[model, dim][:2]
            row += [f"{ll[0] - elbo[0]:.2f}", gaps(model, dim, "ll_released")]
            row += [gaps(model, dim, "ll")]
        rows.append(row)
    head = ["d", "Gamma(d/2, 1)", "vMF at our kappa"]
    for letter in ("S", "N"):
        head += [f"{letter}: paper", f"{letter}: ours, released formula"]
        head += [f"{letter}: ours, importance sampling"]
    return markdown_table(head, rows)


def protocol_table(runs: Runs) -> str:
    rows, shown = [], []
    for model, dim in sorted(runs, key=lambda cell: (cell[1], cell[0])):
        here = runs[model, dim]
        shown += here
        published = TABLE1.get((model, dim))
        row = [f"{dim}", MODELS[model]]
        row += [mean_spread(values_of(here, name)) for name in ("ll", "ll_released")]
        row += [paper_cell(published[0]) if published else "–"]
        for name in ("elbo", "re", "kl"):
            theirs = paper_cell(published[COLUMNS[name]]) if published else "–"
            row += [mean_spread(values_of(here, name)), theirs]
        row += [mean_spread(values_of(here, "ll_exact"))]
        row += [mean_spread([run["best_epoch"] for run in here], 0) + cut_mark(here)]
        rows.append(row)
    head = ["d", "model", "LL", "LL released", "paper", "ELBO", "paper", "RE", "paper"]
    head += ["KL", "paper", "LL by quadrature", "best epoch"]
    return markdown_table(head, rows) + cut_note(shown)


def winners_table(runs: Runs) -> str:
    rows = []
    for dim in sorted({dim for _, dim in runs}):
        gaussian, spherical = (values_of(runs.get((m, dim), []), "ll") for m in MODELS)
        expected = TABLE1_WINNER.get(dim)
        theirs = "–" if expected is None else expected or "none"
        rows.append([str(dim), verdict(gaussian, spherical), theirs])
    head = ["d", "better, ours (importance sampling)", "better, paper (p < 0.01)"]
    return markdown_table(head, rows)


def by_protocol(workspace: Workspace, tables: Callable[[Runs], list[str]]) -> list[str]:
    """The parts of a page: the tables of each protocol that has runs."""
    parts = []
    for protocol in PROTOCOLS:
        if runs := runs_of(workspace, protocol):
            parts += [f"## Protocol: {protocol}", PROTOCOL_NOTES[protocol], *tables(runs)]
    return parts


def render(workspace: Workspace) -> Path:
    def tables(runs: Runs) -> list[str]:
        return [protocol_table(runs), "Log-likelihood, N against S:", winners_table(runs)]

    parts = by_protocol(workspace, tables)
    parts += ["## Which protocol the paper's figures are", AGREEMENT_NOTE]
    parts += [agreement_table(workspace)]
    parts += ["## LL less ELBO", GAP_NOTE, gap_table(workspace)]
    notes = f"{SETTINGS_NOTE}\n\n{LIKELIHOOD_NOTE}"
    return write_table(workspace.results / "table1.md", "Table 1: MNIST", notes, *parts)
