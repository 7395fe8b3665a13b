# SPDX-License-Identifier: MIT
"""`vmf_log_norm` against svmf.reference and `scipy.special.ive`."""

from op_benchmarks import function_benchmark

test_vmf_log_norm = function_benchmark("vmf_log_norm")
