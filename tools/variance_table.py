# SPDX-License-Identifier: MIT
"""The variance of the three gradient estimators in kappa, and the bias of g_rep alone, measured:
the table of docs/sampling.md. tools/update_tables.py puts it there."""

import math
import sys
from pathlib import Path

import torch

import svmf.functional

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tests"))
from helpers.kappa_gradients import exact_slopes, per_sample_gradients  # noqa: E402

DIMENSIONS = (2, 3, 5, 10, 50, 500)
FUNCTIONS = ("mu.z", "exp(c.z)")
SEED = 20_000
HEAD = "| m | kappa | f | d/dkappa E[f] | pathwise | g_rep + g_cor | g_rep | bias of g_rep |"


def entry(value: float) -> str:
    return f"{value:.3g}"


def bias_text(gradients: torch.Tensor, exact: float) -> str:
    """Relative bias with two standard errors, or that none is seen."""
    error = 2 * gradients.std().item() / math.sqrt(gradients.numel()) / abs(exact)
    bias = (gradients.mean().item() - exact) / exact
    if abs(bias) < error:
        return f"below {100 * error:.2g} %"
    digits = max(0, 1 - math.floor(math.log10(100 * error)))
    return f"{100 * bias:+.{digits}f} ± {100 * error:.{digits}f} %"


def rows(m: int, kappa: float, draws: int) -> list[str]:
    samples = {
        name: per_sample_gradients(svmf.functional, name, m, kappa, draws, SEED)
        for name in ("pathwise", "corrected", "rejection")
    }
    exact = exact_slopes(m, kappa)
    lines = []
    for f in FUNCTIONS:
        variances = [samples[name][f].var().item() for name in samples]
        cells = [str(m), f"{kappa:g}", f, entry(exact[f]), *map(entry, variances)]
        cells.append(bias_text(samples["rejection"][f], exact[f]))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def cases() -> list[tuple[int, float]]:
    return [(m, kappa) for m in DIMENSIONS for kappa in (0.5, float(m), 30.0 * m)]


def table(draws: int) -> str:
    lines = [
        f"Variance of one sample's gradient, {draws:.0e} draws per entry, float64.",
        "",
        HEAD,
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for m, kappa in cases():
        lines += rows(m, kappa, draws)
    return "\n".join(lines)


def check(text: str) -> str | None:
    """What is wrong with a table, without measuring."""
    _, _, head, _, *lines = text.splitlines()
    found = [tuple(cell.strip() for cell in line.split("|")[1:4]) for line in lines]
    expected = [(str(m), f"{kappa:g}", f) for m, kappa in cases() for f in FUNCTIONS]
    return (
        None if head == HEAD and found == expected else "other cases than tools/variance_table.py"
    )
