# SPDX-License-Identifier: MIT
"""How fast is the sampler here? What `svmf bench` measures, and what the laboratory in the folder
benchmarks/ of the project builds on.

Candidates are timed by turns in one run, so every figure that matters is a ratio of two of them.
"""
