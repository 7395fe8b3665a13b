# SPDX-License-Identifier: MIT
"""Every public name of the modules in the API reference says what it is (`make docs`)."""

import importlib
import inspect

import pytest
from helpers.paths import PROJECT

MODULES = sorted(page.stem for page in (PROJECT / "docs" / "api").glob("*.md"))


@pytest.mark.parametrize("name", MODULES)
def test_page_shows_its_module(name):
    page = (PROJECT / "docs" / "api" / f"{name}.md").read_text()
    assert page.splitlines()[-1] == f"::: svmf.{name}"


@pytest.mark.parametrize("name", MODULES)
def test_public_names_have_docstrings(name):
    module = importlib.import_module(f"svmf.{name}")
    members = {public: getattr(module, public) for public in module.__all__}
    silent = [
        public
        for public, member in members.items()
        if inspect.isroutine(member) or inspect.isclass(member)
        # a dataclass without a docstring gets its signature as one
        if not member.__doc__ or member.__doc__.startswith(f"{public}(")
    ]
    assert silent == []
