# SPDX-License-Identifier: MIT
"""The examples of docs/sampling.md and docs/rng.md give what they show."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page", ["sampling.md", "rng.md"])
def test_examples(page):
    result = doctest.testfile(str(DOCS / page), module_relative=False)
    assert result.attempted > 3
    assert result.failed == 0
