# SPDX-License-Identifier: MIT
"""`vmf_pathwise_derivative` against svmf.reference."""

from op_benchmarks import function_benchmark

test_vmf_pathwise_derivative = function_benchmark("vmf_pathwise_derivative")
