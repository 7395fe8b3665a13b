# SPDX-License-Identifier: MIT
"""Tables that read well on a terminal and are Markdown at the same time."""

from collections.abc import Sequence

from svmf.benchmarking.timing import Timing


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> str:
    """Columns padded to equal width; the first `text_columns` to the left, the others right."""
    widths = [max(3, *(len(row[i]) for row in (headers, *rows))) for i in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if i < text_columns else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [
        "-" * width if i < text_columns else "-" * (width - 1) + ":"
        for i, width in enumerate(widths)
    ]
    return "\n".join([line(headers), line(rule), *(line(row) for row in rows)])


def ratio_text(ratio: float | None) -> str:
    """Two digits that count."""
    if ratio is None:
        return "-"
    return f"{ratio:.2f}" if ratio >= 0.095 else f"{ratio:.2g}"


def number_text(number: float) -> str:
    """Three digits that count, and no exponent."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def time_text(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def count_text(number: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g} "


def ratio_of(ours: Timing | None, theirs: Timing | None, statistic: str = "median") -> float | None:
    if ours is None or theirs is None:
        return None
    return getattr(ours, statistic) / getattr(theirs, statistic)
