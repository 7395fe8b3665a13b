# SPDX-License-Identifier: MIT
"""Measures the variance of the three gradient estimators in kappa, and the bias of g_rep alone, and
writes the table of docs/sampling.md.

    python tools/variance_table.py            prints the table (1e6 draws per entry: some minutes)
    python tools/variance_table.py --write    puts it into docs/sampling.md between its markers
"""

import argparse
import math
import sys
from pathlib import Path

import torch

import svmf.functional

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tests"))
from helpers.kappa_gradients import exact_slopes, per_sample_gradients  # noqa: E402

DOCUMENT = PROJECT / "docs" / "sampling.md"
BEGIN = "<!-- table: tools/variance_table.py -->"
END = "<!-- end of table -->"
DIMENSIONS = (2, 3, 5, 10, 50, 500)
FUNCTIONS = ("mu.z", "exp(c.z)")
SEED = 20_000


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


def table(draws: int) -> str:
    lines = [
        f"Variance of one sample's gradient, {draws:.0e} draws per entry, float64.",
        "",
        "| m | kappa | f | d/dkappa E[f] | pathwise | g_rep + g_cor | g_rep | bias of g_rep |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for m in DIMENSIONS:
        for kappa in (0.5, float(m), 30.0 * m):
            lines += rows(m, kappa, draws)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--draws", type=int, default=1_000_000)
    parser.add_argument("--write", action="store_true", help="put the table into docs/sampling.md")
    arguments = parser.parse_args()
    text = table(arguments.draws)
    if not arguments.write:
        print(text)
        return
    document = DOCUMENT.read_text()
    before, rest = document.split(BEGIN)
    _, after = rest.split(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


if __name__ == "__main__":
    main()
