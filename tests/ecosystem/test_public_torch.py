# SPDX-License-Identifier: MIT
"""Private names of torch stand in one module, and everything works without them."""

import re
import subprocess

from helpers.commands import python
from helpers.paths import PROJECT, TESTS

PRIVATE = re.compile(r"torch\._(?!_)|\b_functorch\b|forward_ad\._|\._schema\b|from torch\.\w*\._")
CORE = (
    "ops/test_transforms.py",
    "ops/test_bad_input.py",
    "sampler/test_op.py",
    "distributions/test_kl.py",
    "distributions/test_validation.py",
    "reference/test_reference_sampling.py",
    "training/test_adam.py",
)
FORWARD_MODE = """
import torch, svmf.functional as F
kappa = torch.ones(3)
try:
    torch.func.jvp(lambda k: F.vmf_kl_uniform(k, 3), (kappa,), (kappa,))
except NotImplementedError:
    print("raised")
"""


def run_public(*command: str) -> subprocess.CompletedProcess[str]:
    return python(*command, check=False, cwd=PROJECT, environment={"SVMF_PUBLIC_TORCH": "1"})


def test_private_names_stand_in_one_module() -> None:
    for path in (PROJECT / "svmf").rglob("*.py"):
        if path.name != "_torch_private.py":
            assert not PRIVATE.search(path.read_text()), path


def test_core_tests_pass_with_public_names_alone() -> None:
    files = [str(TESTS / name) for name in CORE]
    done = run_public("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *files)
    assert done.returncode == 0, done.stdout[-3000:]


def test_forward_mode_raises_without_the_private_names() -> None:
    assert run_public("-c", FORWARD_MODE).stdout == "raised\n"
