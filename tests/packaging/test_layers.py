# SPDX-License-Identifier: MIT
"""A layer knows the layers below it and none above (docs/architecture.md)."""

import re
from pathlib import Path

import pytest
from helpers.paths import PROJECT

CSRC, PACKAGE = PROJECT / "csrc", PROJECT / "svmf"
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)
IMPORT = re.compile(r"^\s*(?:from|import) (svmf(?:\.\w+)*)", re.MULTILINE)
TORCH, PYTHON, CUDA = ("torch/", "c10/", "ATen/"), ("Python.h", "pybind11/"), ("cuda", "nv")
# What a folder of csrc does not include, directly or through others.
UNKNOWN_TO = {
    "math": (*TORCH, *PYTHON, *CUDA, "cpu/", "simd/"),
    "simd": (*TORCH, *PYTHON, *CUDA, "cpu/"),
    "cpu/kernels": (*TORCH, *PYTHON, *CUDA),
    "cuda/kernels": (*TORCH, *PYTHON, "cpu/", "simd/"),
    "cpu": (*PYTHON, *CUDA),
    "cuda": (*PYTHON, "cpu/", "simd/"),
}
COMMANDS = ("benchmarking", "cli", "demo", "selftest")
MODELS = ("models", "training", *COMMANDS)
# What these parts of the package do not import.
ABOVE = {
    "functional.py": ("data", "distributions", "mixture", *MODELS),
    "reference": ("_dispatch", "data", "distributions", "functional", "mixture", *MODELS),
    "distributions": ("_dispatch", "data", "mixture", *MODELS),
    "mixture": ("_dispatch", "data", *MODELS),
    "data": ("_dispatch", "distributions", "functional", "mixture", *MODELS),
    "models": ("_dispatch", "mixture", "training", *COMMANDS),
    "training": ("_dispatch", "mixture", *COMMANDS),
    "benchmarking": ("data", "mixture", "models", "training", "cli", "demo", "selftest"),
}


def included(path: Path, seen: dict[str, Path]) -> dict[str, Path]:
    """Every header that a file includes, with the file that names it."""
    for name in INCLUDE.findall(path.read_text()):
        if name not in seen:
            seen[name] = path
            if (CSRC / name).is_file():
                included(CSRC / name, seen)
    return seen


@pytest.mark.parametrize("folder", UNKNOWN_TO)
def test_a_layer_of_csrc_includes_no_layer_above(folder: str) -> None:
    sources = [path for path in (CSRC / folder).iterdir() if path.is_file()]
    assert sources
    for path in sources:
        for name, by in included(path, {}).items():
            assert not name.startswith(UNKNOWN_TO[folder]), f"{path}: {name}, through {by}"


@pytest.mark.parametrize("part", ABOVE)
def test_a_part_of_the_package_imports_none_above(part: str) -> None:
    place = PACKAGE / part
    for path in [place] if place.is_file() else place.rglob("*.py"):
        text = path.read_text()
        for name in IMPORT.findall(text):
            assert not name.startswith(tuple(f"svmf.{above}" for above in ABOVE[part])), path
        assert part == "functional.py" or "torch.ops.svmf" not in text, path
