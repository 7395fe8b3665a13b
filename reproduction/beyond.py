# SPDX-License-Identifier: MIT
"""Beyond the paper: can a latent on spheres hold its own against the Gaussian in high dimension?

One protocol (the released one), many posteriors: `python -m reproduction beyond`. Within a
dimension the validation ELBO chooses among the spheres, and what it chose is tested against N.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from reproduction import high_dimension
from reproduction.markdown import (
    difference_interval,
    markdown_table,
    mean_spread,
    verdict,
    welch,
    write_table,
)
from reproduction.mnist import DIMS, PROTOCOL_NOTES, PROTOCOLS, SETTINGS_NOTE, values_of
from reproduction.record import Job, Workspace, results_by
from reproduction.training_job import cut_mark, cut_note, training_job
from svmf.training import make_config

EXPERIMENT = "beyond"
BASE = "n"  # what the others are compared with


@dataclass(frozen=True)
class Posterior:
    """A row of the table: its key in file names, its title, and what `svmf train` is told."""

    key: str
    title: str
    model: str = "svae"
    options: dict[str, Any] = field(default_factory=dict)


# The splits of each dimension into spheres; those of 100 are run on demand: --dims 100.
SPLITS = {
    2: ("s1x2",),
    5: ("s3+s2", "s1x5"),
    10: ("s5x2", "s2x5"),
    20: ("s10x2", "s5x4"),
    40: ("s10x4", "s5x8", "s20x2"),
    100: ("s10x10", "s5x20", "s20x5"),
}


def posteriors_of(dim: int) -> list[Posterior]:
    """The rows of a dimension."""
    rows = [
        Posterior(BASE, "N", "nvae"),
        Posterior("vmf", "vMF"),
        Posterior("vmf-sqrt", "vMF, radius sqrt(m)", options={"radius": "sqrt"}),
        Posterior("vmf-learned", "vMF, learned radius", options={"radius": "learnable"}),
        Posterior("ps", "power spherical", "psvae"),
        Posterior("cauchy", "spherical Cauchy", "scvae"),
    ]
    if dim == 2:  # where the exact likelihood says how much of the posterior's gap a flow closes
        rows.append(Posterior("flow", "flow over vMF", options={"latent": "f2"}))
    for words in SPLITS.get(dim, ()):
        split = {"latent": words}
        rows.append(Posterior(words, f"product {words}", options=split))
        wide = f"product {words}, radius sqrt(m)"
        rows.append(Posterior(f"{words}-sqrt", wide, options={**split, "radius": "sqrt"}))
    return rows


def job_of(workspace: Workspace, posterior: Posterior, dim: int, seed: int) -> Job:
    options: dict[str, Any] = {"dim": dim, "seed": seed, **posterior.options}
    options |= {"threads": workspace.threads, "compile": workspace.compile}
    evaluation = {"label_draws": 5}
    if workspace.quick:
        options |= {"data": "digits", "epochs": workspace.at_most(2), "hidden": (16,), "warm_up": 0}
        evaluation = {"samples": 5, "label_draws": 2, "limit": 50}
    else:
        options |= {"data": "mnist", "epochs": workspace.at_most(2000), **PROTOCOLS["released"]}
    key = f"{posterior.key}-d{dim}-seed{seed}"
    return training_job(EXPERIMENT, key, make_config(posterior.model, **options), evaluation)


def jobs(workspace: Workspace, seeds: int, dims: Sequence[int] | None = None) -> list[Job]:
    """Seed by seed, so that a part of the table is whole early."""
    return [
        job_of(workspace, posterior, dim, seed)
        for seed in range(seeds)
        for dim in dims or ((2, 10) if workspace.quick else DIMS)
        for posterior in posteriors_of(dim)
    ]


Runs = dict[tuple[str, int], list[dict[str, Any]]]
Choice = tuple[Posterior, list[dict[str, Any]]]


def runs_of(workspace: Workspace) -> Runs:
    """By posterior and dimension."""
    return results_by(
        workspace,
        EXPERIMENT,
        lambda result: (result["key"].rsplit("-d", 1)[0], result["config"]["dim"]),
    )


def beside(base: list[dict[str, Any]], runs: list[dict[str, Any]]) -> list[float]:
    """LL of the runs of `base` that were allowed as many epochs as these ones: a run that was cut
    is compared with such runs alone."""
    allowed = {run["config"]["epochs"] for run in runs}
    return values_of([run for run in base if run["config"]["epochs"] in allowed], "ll")


def rows_of(found: Runs, dim: int) -> list[Choice]:
    return [(row, found[row.key, dim]) for row in posteriors_of(dim) if (row.key, dim) in found]


def dims_of(found: Runs) -> list[int]:
    return sorted({dim for _, dim in found})


def candidates_of(found: Runs, dim: int) -> list[Choice]:
    """The latents on spheres with the most runs: one lucky run does not choose."""
    spheres = [(row, runs) for row, runs in rows_of(found, dim) if row.key != BASE]
    most = max((len(runs) for _, runs in spheres), default=0)
    return [(row, runs) for row, runs in spheres if len(runs) == most]


def ahead_of(choice: Choice, found: Runs, dim: int) -> list[str]:
    """Titles of the spheres with fewer runs and a better validation ELBO than the choice: they have
    to be run before the choice is final."""
    _, chosen = choice
    return [
        row.title
        for row, runs in rows_of(found, dim)
        if row.key != BASE and len(runs) < len(chosen) and validation(runs) > validation(chosen)
    ]


def validation(runs: list[dict[str, Any]]) -> float:
    return fmean(run["best_validation"] for run in runs)


def chosen_of(found: Runs, dim: int) -> Choice | None:
    """The candidate with the best validation ELBO."""
    candidates = candidates_of(found, dim)
    if not candidates:
        return None
    return max(candidates, key=lambda pair: validation(pair[1]))


COLUMNS = ("d", "posterior", "LL", "LL less N", "p", "ELBO", "KL", "LL by quadrature")
MORE_COLUMNS = ("validation ELBO", "best epoch", "seconds per epoch")


def compare(workspace: Workspace) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """A row for every cell that has runs, its columns by their heads; and these runs."""
    found = runs_of(workspace)
    rows, shown = [], []
    for dim in dims_of(found):
        base = found.get((BASE, dim), [])
        for posterior, runs in rows_of(found, dim):
            shown += runs
            compared = [] if posterior.key == BASE else values_of(runs, "ll")
            against = beside(base, runs)
            p = welch(compared, against)
            seconds = [run["training_seconds"] / run["epochs"] for run in runs]
            texts = [
                str(dim),
                posterior.title,
                mean_spread(values_of(runs, "ll")) + cut_mark(runs),
                difference(compared, against),
                "–" if p is None else f"{p:.2g}",
                *(mean_spread(values_of(runs, name)) for name in ("elbo", "kl", "ll_exact")),
                mean_spread([run["best_validation"] for run in runs]),
                mean_spread([run["best_epoch"] for run in runs], 0),
                mean_spread(seconds, 1),
            ]
            rows.append(dict(zip((*COLUMNS, *MORE_COLUMNS), texts, strict=True)))
    return rows, shown


def difference(values: Sequence[float], base: Sequence[float]) -> str:
    """With its interval where there is one; a bare difference for a single run."""
    if values and base and min(len(values), len(base)) == 1:
        return f"{fmean(values) - fmean(base):+.2f}"
    return difference_interval(values, base)


def table(workspace: Workspace, heads: Sequence[str] = (*COLUMNS, *MORE_COLUMNS)) -> str:
    rows, shown = compare(workspace)
    return markdown_table(heads, [[row[head] for head in heads] for row in rows]) + cut_note(shown)


def choices_table(workspace: Workspace) -> str:
    """For each dimension what validation chose among the spheres, tested against N."""
    found = runs_of(workspace)
    rows, shown = [], []
    for dim in dims_of(found):
        choice = chosen_of(found, dim)
        if choice is None:
            continue
        posterior, runs = choice
        among = f"{len(candidates_of(found, dim))} with {counted(len(runs), 'run')}"
        among += "".join(f"; ahead with fewer: {title}" for title in ahead_of(choice, found, dim))
        base = beside(found.get((BASE, dim), []), runs)
        values = values_of(runs, "ll")
        texts = [mean_spread(values) + cut_mark(runs), mean_spread(base)]
        row = [str(dim), posterior.title, among, *texts]
        rows.append([*row, difference(values, base), verdict(base, values)])
        shown += runs
    head = ["d", "chosen by validation ELBO", "among", "LL", "LL of N", "LL less N"]
    return markdown_table([*head, "better (p < 0.01)"], rows) + cut_note(shown)


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def gap_table(workspace: Workspace) -> str:
    """Where the exact likelihood is known: how far below it each posterior's bound lies. Empty if
    it is known for none."""
    found = runs_of(workspace)
    rows, shown = [], []
    for dim in dims_of(found):
        for posterior, runs in rows_of(found, dim):
            known = [run for run in runs if "ll_exact" in run["figures"]]
            if not known:
                continue
            exact, ll, elbo = (values_of(known, name) for name in ("ll_exact", "ll", "elbo"))
            gaps = [whole - bound for whole, bound in zip(exact, elbo, strict=True)]
            texts = [mean_spread(values) for values in (elbo, ll, exact, gaps)]
            rows.append([str(dim), posterior.title + cut_mark(known), *texts])
            shown += known
    head = ["d", "posterior", "ELBO", "LL, 500 draws", "LL by quadrature", "gap of the ELBO"]
    return markdown_table(head, rows) + cut_note(shown) if rows else ""


_NOTES = f"""
{SETTINGS_NOTE.strip()} {PROTOCOL_NOTES["released"]}

LL is log p(x) by importance sampling with 500 draws, at d = 2 also by quadrature over the whole
latent space. "LL less N" is the difference of the means with Welch's 95 per cent interval, p the
p-value of the test, against N of the same dimension and as many epochs; a single run has a bare
difference. `s10x4` is a product of four spheres S^10, each with a concentration of its own; the
flow is `FlowLatent` with four layers. Validation chooses among the posteriors with the most runs;
one that is ahead with fewer is named. Seconds per epoch are those of the runs, one thread each, on
a machine that did other work as well, which made them up to ten times as long: they are no
comparison. `python -m benchmarks.latent_step --models 10 40` measures by turns.
"""
_GAP_NOTES = """
At d = 2 the integral over the latent space is known, and with it what the bound and the estimate by
importance sampling miss. `python -m reproduction.posterior_gap` takes the gap apart: what a better
encoder would close, and what another posterior.
"""


def render(workspace: Workspace) -> Path:
    parts = ["## Chosen by validation", choices_table(workspace)]
    parts += ["## All posteriors", table(workspace)]
    sections = (
        ("## The posterior's gap", _GAP_NOTES, gap_table(workspace)),
        ("## Latents in R^1024 and R^4096", high_dimension.NOTES, high_dimension.table(workspace)),
    )
    for heading, notes, body in sections:
        if body:
            parts += [heading, notes, body]
    title = "Beyond the paper: posteriors on spheres against the Gaussian"
    return write_table(workspace.results / "beyond.md", title, _NOTES, *parts)
