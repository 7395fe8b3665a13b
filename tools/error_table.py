# SPDX-License-Identifier: MIT
"""Measures the errors of the special functions against tests/reference_tables and writes the
table of docs/math.md.

    python tools/error_table.py            print the table
    python tools/error_table.py --write    put it into docs/math.md
    python tools/error_table.py --json     the numbers, for the instruction set in use

Set SVMF_CPU_ISA to measure another instruction set. tests/helpers/measured_errors.py says what an
error is.
"""

import argparse
import json
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "tests"))

from helpers.measured_errors import QUANTITIES  # noqa: E402

import svmf  # noqa: E402

PAGE = PROJECT / "docs" / "math.md"
BEGIN, END = "<!-- error table: begin -->", "<!-- error table: end -->"


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
    lines = [
        "| function | quantity | bound (eps) | float64 | float32 | points |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for double, single in zip(rows[::2], rows[1::2], strict=True):
        lines.append(
            f"| {double['function']} | {double['formula']} | {double['bound']} "
            f"| {double['error']:.1f} | {single['error']:.1f} "
            f"| {double['points']} + {single['points']} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.add_argument("--write", action="store_true", help="update docs/math.md")
    arguments = parser.parse_args()
    isa = svmf.build_info()["cpu_isa"]
    rows = measure()
    if arguments.json:
        print(json.dumps({"cpu_isa": isa, "rows": rows}))
    elif arguments.write:
        text = PAGE.read_text()
        head, rest = text.split(BEGIN)
        tail = rest.split(END)[1]
        PAGE.write_text(f"{head}{BEGIN}\n{table(rows)}\n{END}{tail}")
    else:
        print(table(rows))


if __name__ == "__main__":
    main()
