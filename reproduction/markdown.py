# SPDX-License-Identifier: MIT
"""Markdown tables: mean and spread of runs, the paper's figure beside ours, Welch's t-test."""

import math
import statistics
import textwrap
from collections.abc import Sequence
from pathlib import Path

from svmf.training.files import atomic_write

SIGNIFICANT = 0.01  # as in the paper
WIDTH = 100  # of the prose


def mean_spread(values: Sequence[float], digits: int = 2) -> str:
    """`mean ± standard deviation (number)`."""
    if not values:
        return "–"
    mean = f"{statistics.fmean(values):.{digits}f}"
    if len(values) == 1:
        return f"{mean} (1)"
    return f"{mean} ± {statistics.stdev(values):.{digits}f} ({len(values)})"


def paper_cell(cell: tuple[float, float], digits: int = 2) -> str:
    """A published mean and its spread."""
    return f"{cell[0]:.{digits}f} ± {cell[1]:.{digits}f}"


def standard_error(values: Sequence[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def welch(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The p-value of Welch's t-test, or None with fewer than two runs on a side."""
    if len(first) < 2 or len(second) < 2:
        return None
    means = statistics.fmean(first), statistics.fmean(second)
    spreads = statistics.stdev(first), statistics.stdev(second)
    if not any(spreads):
        return float(means[0] == means[1])
    from scipy.stats import ttest_ind_from_stats  # type: ignore[import-untyped]

    return float(
        ttest_ind_from_stats(
            means[0], spreads[0], len(first), means[1], spreads[1], len(second), equal_var=False
        ).pvalue
    )


def difference_interval(values: Sequence[float], base: Sequence[float]) -> str:
    """Difference of the means with Welch's 95 per cent interval: `+0.12 (-0.43 to 0.66)`."""
    if len(values) < 2 or len(base) < 2:
        return "–"
    difference = statistics.fmean(values) - statistics.fmean(base)
    squares = [standard_error(values) ** 2, standard_error(base) ** 2]
    half = 0.0
    if any(squares):
        from scipy.stats import t as student  # type: ignore[import-untyped]

        # Degrees of freedom after Welch and Satterthwaite.
        parts = zip(squares, (values, base), strict=True)
        freedom = sum(squares) ** 2 / sum(s**2 / (len(runs) - 1) for s, runs in parts)
        half = float(student.ppf(0.975, freedom)) * math.sqrt(sum(squares))
    return f"{difference:+.2f} ({difference - half:.2f} to {difference + half:.2f})"


def verdict(gaussian: Sequence[float], spherical: Sequence[float]) -> str:
    """Which of N and S is larger, if the difference is significant."""
    p = welch(gaussian, spherical)
    if p is None:
        return "–"
    if p >= SIGNIFICANT:
        return f"p = {p:.2g}"
    winner = "S" if statistics.fmean(spherical) > statistics.fmean(gaussian) else "N"
    return f"**{winner}**, p = {p:.1g}"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def paragraphs(text: str) -> str:
    """Prose at the width of a page; tables and headings as they are."""
    parts = filter(None, (part.strip() for part in text.split("\n\n")))
    return "\n\n".join(
        part if part.startswith(("|", "#")) else textwrap.fill(" ".join(part.split()), WIDTH)
        for part in parts
    )


def write_table(path: Path, title: str, notes: str, *parts: str) -> Path:
    """A page: its title, notes, then tables, headings and further notes as they come."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n\n".join(map(paragraphs, (f"# {title}", notes, *parts)))
    atomic_write(path, f"{text}\n".encode())
    return path
