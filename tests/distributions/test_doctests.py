# SPDX-License-Identifier: MIT
"""The examples in the docs pages and docstrings of the distributions give what they show."""

import doctest
import importlib
import re
from pathlib import Path

import pytest
import torch

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted([*(DOCS / "distributions").glob("*.md"), DOCS / "comparison.md"])
MODULES = [
    "svmf.distributions",
    "svmf.distributions.hyperspherical_uniform",
    "svmf.distributions.power_spherical",
    "svmf.distributions.spherical_cauchy",
    "svmf.distributions.von_mises_fisher",
    "svmf.losses",
    "svmf.mixture.spherical_kmeans",
    "svmf.mixture.von_mises_fisher",
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test)
    assert runner.failures == 0


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, extraglobs={"torch": torch}, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0


def test_pages_link_to_pages_that_exist():
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
