# SPDX-License-Identifier: MIT
"""`vmf_kl_uniform` with its derivative against svmf.reference and `scipy.special.ive`."""

from op_benchmarks import function_benchmark

test_vmf_kl_uniform = function_benchmark("vmf_kl_uniform")
