# SPDX-License-Identifier: MIT
"""Where the tests and the project lie."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PROJECT = TESTS.parent
