# SPDX-License-Identifier: MIT
"""Runs the command line inside the test's process, and this Python in processes of their own."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

from svmf.cli import main

# numpy and its like cannot be imported in what follows
TORCH_ALONE = """
import importlib.util, sys
absent = ("numpy", "scipy", "sklearn", "matplotlib", "tqdm")
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])
sys.meta_path.insert(0, Absent())
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in absent else find_spec(name, *rest)
"""
WITH_TORCH_ALONE = f"""{TORCH_ALONE}
from svmf.cli import main
sys.exit(main(sys.argv[1:]))
"""


def run(capsys, *arguments: str, program: Callable = main) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `svmf *arguments`."""
    try:
        code = program(list(arguments))
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def python(
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    check: bool = True,
    **options: Any,
) -> "subprocess.CompletedProcess[str]":
    """`python *arguments` in a process of its own, with `environment` beside this one's; it has to
    succeed unless `check` is False."""
    finished = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
    assert not check or finished.returncode == 0, finished.stdout + finished.stderr
    return finished
