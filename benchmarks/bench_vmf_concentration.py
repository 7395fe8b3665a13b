# SPDX-License-Identifier: MIT
"""`vmf_concentration` against svmf.reference."""

from op_benchmarks import function_benchmark

test_vmf_concentration = function_benchmark("vmf_concentration")
