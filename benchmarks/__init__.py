# SPDX-License-Identifier: MIT
"""The laboratory: every figure of speed and memory that the project watches. No part of the
installed package, whose `svmf bench` measures the sampler; run from a checkout by
`python -m benchmarks`.
"""
