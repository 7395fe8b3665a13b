# SPDX-License-Identifier: MIT
"""`vmf_rsample` against torch's Normal and randn, a plain copy and the reference."""

from op_benchmarks import sampling_benchmark

test_vmf_rsample = sampling_benchmark(
    "sample", ("svmf", "class", "Normal", "Normal'", "randn", "copy", "reference")
)
