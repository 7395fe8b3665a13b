# SPDX-License-Identifier: MIT
"""`vmf_rsample_kl` with its backward pass, the latent part of a training step, against the same
with torch's Normal, with the reference and with published formulas."""

from op_benchmarks import sampling_benchmark

test_vmf_rsample_kl = sampling_benchmark(
    "step", ("svmf", "class", "Normal", "Normal'", "copy", "reference", "published")
)
