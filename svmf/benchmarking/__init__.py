# SPDX-License-Identifier: MIT
"""What `svmf bench` and the folder benchmarks/ share: shapes, candidates, timing, goals, report.

Candidates are timed by turns in one run, so every figure that matters is a ratio of two of them.
"""
