# SPDX-License-Identifier: MIT
"""The generated files are what their scripts make, and the tables of true values agree with
themselves: identities that hold between columns, to (almost) all of their 25 digits."""

import csv
import gzip
from decimal import Decimal, localcontext
from pathlib import Path

import pytest
from helpers.commands import python

PROJECT = Path(__file__).resolve().parents[2]
TOOLS = PROJECT / "tools"
TABLES = PROJECT / "tests" / "reference_tables"


def run_in_tools(code: str) -> str:
    """Runs a few lines with tools/ on the path, in a process of its own: mpmath's precision is
    global."""
    finished = python("-c", code, cwd=TOOLS)
    return finished.stdout


@pytest.mark.parametrize("dim", [2, 17, 64])
def test_coefficients_of_one_dimension_are_reproduced(dim: int) -> None:
    header = (PROJECT / "csrc" / "math" / "coefficients_small.h").read_text()
    made = run_in_tools(
        "import make_coefficients as c\n"
        "for fmt in (c.F64, c.F32):\n"
        f"    table, _ = c.small_table(({dim}, fmt))\n"
        "    for function in table:\n"
        "        for i in range(len(function[0])):\n"
        "            print(c.literals(fmt, [piece[i] for piece in function]))\n"
    )
    lines = made.splitlines()
    assert len(lines) > 20
    assert [line for line in lines if line not in header] == []


@pytest.mark.parametrize(
    "script",
    [
        "make_bessel_order_coefficients.py",
        "make_elementary.py",
        pytest.param("make_coefficients.py", marks=pytest.mark.slow),
        pytest.param("make_reference_tables.py", marks=pytest.mark.slow),
    ],
)
def test_script_makes_the_files_in_the_tree(script: str) -> None:
    python(TOOLS / script, "--check")


def rows(name: str) -> list[dict[str, str]]:
    with gzip.open(TABLES / f"{name}.csv.gz", "rt", newline="") as stream:
        return list(csv.DictReader(stream))


def close(a: Decimal, b: Decimal, scale: Decimal) -> bool:
    return abs(a - b) <= scale * Decimal("1e-23")


def test_vmf_table_satisfies_the_relations_between_its_columns() -> None:
    with localcontext() as context:
        context.prec = 60
        for row in rows("vmf_kappa"):
            # The arguments are binary numbers: their decimal text names them, their value is exact.
            m, k = Decimal(row["m"]), Decimal(float(row["kappa"]))
            v = {name: Decimal(text) for name, text in row.items() if name not in ("dtype",)}
            A = v["A"]
            assert close(A + v["one_minus_A"], Decimal(1), Decimal(1)), row
            assert close(v["KL"] + v["L"], k * A, k * A), row
            assert close(v["dKL"], k * v["dA"], v["dKL"]), row
            scale = v["dA"] + abs(k * v["d2A"])
            assert close(v["d2KL"], v["dA"] + k * v["d2A"], scale), row
            assert close(k * v["dA"], k - k * A * A - (m - 1) * A, k + (m - 1) * A), row
            assert close(
                v["entropy"] + v["KL"], -v["logC"] - v["L"], abs(v["logC"]) + v["L"] + v["KL"]
            ), row


def test_bessel_table_satisfies_the_relations_between_its_columns() -> None:
    with localcontext() as context:
        context.prec = 60
        for row in rows("bessel"):
            order, x = Decimal(float(row["order"])), Decimal(float(row["x"]))
            log_iv, log_ive = Decimal(row["log_iv"]), Decimal(row["log_ive"])
            ratio, slope = Decimal(row["iv_ratio"]), Decimal(row["slope"])
            assert close(log_iv - log_ive, x, abs(log_iv) + abs(log_ive)), row
            # x I_v'/I_v = x I_(v-1)/I_v - v (DLMF 10.29.2).
            assert close(slope + order, x / ratio, abs(slope) + order), row


def test_table_of_the_second_kind_satisfies_the_relations_between_its_columns() -> None:
    with localcontext() as context:
        context.prec = 60
        for row in rows("bessel_k"):
            order, x = Decimal(float(row["order"])), Decimal(float(row["x"]))
            log_kv, log_kve = Decimal(row["log_kv"]), Decimal(row["log_kve"])
            assert close(log_kve - log_kv, x, abs(log_kv) + abs(log_kve)), row
            # Bessel's equation (DLMF 10.25.1) for g = -K_v'/K_v.
            g, bend = 1 - Decimal(row["slope"]), Decimal(row["bend"])
            assert close(bend, 1 + (order / x) ** 2 + g / x - g * g, g * g), row
            assert Decimal(row["kv_order"]) >= 0 >= Decimal(row["iv_order"]), row
