# SPDX-License-Identifier: MIT
"""`vmf_entropy` against svmf.reference and `scipy.special.ive`."""

from op_benchmarks import function_benchmark

test_vmf_entropy = function_benchmark("vmf_entropy")
