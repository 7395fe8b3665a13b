# SPDX-License-Identifier: MIT
"""Lets the benchmarks import each other's modules under pytest as they do when run as scripts."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
