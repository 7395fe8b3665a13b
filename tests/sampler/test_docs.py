# SPDX-License-Identifier: MIT
"""The examples of docs/sampling.md and docs/rng.md give what they show; the table is filled in."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page", ["sampling.md", "rng.md"])
def test_examples(page):
    result = doctest.testfile(str(DOCS / page), module_relative=False)
    assert result.attempted > 3
    assert result.failed == 0


def test_variance_table_is_filled_in():
    text = (DOCS / "sampling.md").read_text()
    table = text.split("<!-- table: tools/variance_table.py -->")[1].split("<!-- end of table -->")[
        0
    ]
    assert table.count("\n|") == 2 + 6 * 3 * 2  # two header lines; m, kappa, f
