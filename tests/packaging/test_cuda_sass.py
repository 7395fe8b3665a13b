# SPDX-License-Identifier: MIT
"""tools/cuda_sass.py tells the loops of machine code apart."""

import sys
from collections.abc import Sequence

from helpers.paths import PROJECT

sys.path.insert(0, str(PROJECT / "tools"))

import cuda_sass

DRAW = ["LOP3"] * 20 + ["IMAD"] * 110
LONG_ROW = ["LDG"] * 2 + ["FFMA"] * 200


def kernel(*loops: Sequence[str]) -> cuda_sass.Code:
    """Loops one after another, in a loop around."""
    lines, at, begin = [], 0, 0
    for name in (name for loop in loops for name in (*loop, "BRA")):
        target = f" 0x{begin:x}" if name == "BRA" else ""
        lines.append(f"        /*{at:04x}*/                   {name}{target} ;")
        at += 16
        begin = at if name == "BRA" else begin
    lines.append(f"        /*{at:04x}*/                   BRA 0x0 ;")
    return cuda_sass._read_function("\n".join(lines))


def test_kinds_of_loops_over_columns():
    code = kernel(DRAW, ["LDG", "FADD"], ["LDG", "STG", "FADD"], LONG_ROW)
    kinds = {kind: loop.length for kind, loop in code.tightest.items()}
    assert kinds == {"draw": 131, "sum": 3, "write": 4}


def test_without_draws():
    """What is long and reads one number per row is no loop over columns."""
    code = kernel(["LDG", "FADD"], LONG_ROW)
    assert list(code.tightest) == ["sum"]
    assert code.per_step == 1  # the branch around
