# SPDX-License-Identifier: MIT
"""Measures the errors of the special functions against tests/reference_tables.

    python tools/error_table.py            print the table
    python tools/error_table.py --json     the numbers, for the instruction set in use

tools/update_tables.py puts the table into docs/math.md. Set SVMF_CPU_ISA to measure another
instruction set. tests/helpers/measured_errors.py says what an error is.
"""

import argparse
import json
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "tests"))

from helpers.measured_errors import QUANTITIES  # noqa: E402

import svmf  # noqa: E402

HEAD = "| function | quantity | bound (eps) | float64 | float32 | points |"


def measure() -> list[dict]:
    return [
        {
            "function": quantity.name,
            "formula": quantity.formula,
            "dtype": dtype,
            "points": int(next(iter(quantity.rows(dtype).values())).size),
            "error": quantity.largest(dtype)[0],
            "at": quantity.largest(dtype)[1],
            "bound": quantity.bound,
        }
        for quantity in QUANTITIES
        for dtype in ("float64", "float32")
    ]


def table(rows: list[dict]) -> str:
    lines = [HEAD, "| --- | --- | ---: | ---: | ---: | ---: |"]
    for double, single in zip(rows[::2], rows[1::2], strict=True):
        lines.append(
            f"| {double['function']} | {double['formula']} | {double['bound']} "
            f"| {double['error']:.1f} | {single['error']:.1f} "
            f"| {double['points']} + {single['points']} |"
        )
    return "\n".join(lines)


def check(text: str) -> str | None:
    """What is wrong with a table, without measuring: its functions, bounds, or an error beyond."""
    head, _, *lines = text.splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    expected = [[quantity.name, quantity.formula, str(quantity.bound)] for quantity in QUANTITIES]
    if head != HEAD or [row[:3] for row in cells] != expected:
        return "other functions or bounds than tests/helpers/measured_errors.py has"
    beyond = [row[0] for row in cells if max(map(float, row[3:5])) > float(row[2])]
    return f"beyond the bound: {', '.join(beyond)}" if beyond else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    arguments = parser.parse_args()
    isa = svmf.build_info()["cpu_isa"]
    rows = measure()
    if arguments.json:
        print(json.dumps({"cpu_isa": isa, "rows": rows}))
    else:
        print(table(rows))


if __name__ == "__main__":
    main()
