# SPDX-License-Identifier: MIT
"""`householder` against svmf.reference."""

from op_benchmarks import function_benchmark

test_householder = function_benchmark("householder")
