# SPDX-License-Identifier: MIT
"""Runs the command line inside the test's process, or in one that finds nothing but torch."""

from collections.abc import Callable

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
