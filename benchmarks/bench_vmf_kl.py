# SPDX-License-Identifier: MIT
"""`vmf_kl` against svmf.reference."""

from op_benchmarks import function_benchmark

test_vmf_kl = function_benchmark("vmf_kl")
