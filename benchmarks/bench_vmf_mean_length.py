# SPDX-License-Identifier: MIT
"""`vmf_mean_length` against svmf.reference and `scipy.special.ive`."""

from op_benchmarks import function_benchmark

test_vmf_mean_length = function_benchmark("vmf_mean_length")
