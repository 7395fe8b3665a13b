# SPDX-License-Identifier: MIT
"""The rules for machine code that `make cuda` checks notice what they are for."""

import sys
from dataclasses import replace

from helpers.paths import PROJECT

sys.path.insert(0, str(PROJECT / "tools"))

import cuda_rules
from cuda_report import Compiled

FLOAT = Compiled("vmf_sample_kernel<float, RunTeam, true>", "sm_80", 40, 0, 0)
DOUBLE = Compiled("vmf_sample_kernel<double, RunTeam, true>", "sm_80", 40, 0, 0)


def test_stack():
    large = replace(DOUBLE, stack=600)
    assert "600 bytes of stack, allowed are 512" in cuda_rules.broken_by_stack([FLOAT, large])[0]
    assert cuda_rules.broken_by_stack([FLOAT, replace(DOUBLE, stack=416)]) == []


def test_stack_of_float32():
    """Without cuobjdump it is the stack alone that shows local memory."""
    indexed = replace(FLOAT, stack=16)
    assert "16 bytes of stack, allowed are 0" in cuda_rules.broken_by_stack([indexed])[0]


def test_local_memory():
    line = "/*0080*/ STL.64 [R1], R4 ;"
    assert "local memory" in cuda_rules.broken_by_code(FLOAT, line)[0]
    assert cuda_rules.broken_by_code(DOUBLE, line) == []


def test_parameters_by_lane():
    by_lane = "/*0080*/ LDC R3, c[0x0][R2+0x160] ;"
    assert "a parameter by lane" in cuda_rules.broken_by_code(DOUBLE, by_lane)[0]
    for fine in ("/*0110*/ ULDC UR4, c[0x0][0x1d4] ;", "/*0110*/ LDC R3, c[0x3][R2] ;"):
        assert cuda_rules.broken_by_code(FLOAT, fine) == []
