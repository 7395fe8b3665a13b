# SPDX-License-Identifier: MIT
"""`log_ive` against svmf.reference and `scipy.special.ive`."""

from op_benchmarks import function_benchmark

test_log_ive = function_benchmark("log_ive")
