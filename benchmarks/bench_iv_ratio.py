# SPDX-License-Identifier: MIT
"""`iv_ratio` against svmf.reference and `scipy.special.ive`."""

from op_benchmarks import function_benchmark

test_iv_ratio = function_benchmark("iv_ratio")
