# SPDX-License-Identifier: MIT
"""`log_iv` against svmf.reference and `scipy.special.ive`."""

from op_benchmarks import function_benchmark

test_log_iv = function_benchmark("log_iv")
