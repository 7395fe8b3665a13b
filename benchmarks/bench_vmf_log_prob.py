# SPDX-License-Identifier: MIT
"""`vmf_log_prob` against svmf.reference."""

from op_benchmarks import function_benchmark

test_vmf_log_prob = function_benchmark("vmf_log_prob")
