# SPDX-License-Identifier: MIT
"""A thousand random calls, and planted faults that the fuzzer must see. `make fuzz` makes a hundred
thousand in a build with sanitizers."""

import math
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
from fuzz.campaign import Campaign
from fuzz.checks import Finding
from fuzz.distribution_calls import random_distribution_call
from fuzz.op_calls import call_op
from fuzz.ops import OPS
from fuzz.raw_calls import PUBLIC_OPS
from fuzz.values import Chance
from helpers.paths import PROJECT

import svmf.functional as F
from svmf.distributions import VonMisesFisher

CALLS = 1000


pytestmark = pytest.mark.usefixtures("values_are_checked")


@pytest.mark.parametrize("part", range(10))
def test_random_calls(part: int) -> None:
    campaign = Campaign(seed=2024)
    for number in range(part * CALLS // 10, (part + 1) * CALLS // 10):
        try:
            campaign.call(number)
        except Exception as error:
            pytest.fail(
                f"{type(error).__name__}: {error}\n"
                f"repeat: python tests/fuzz --seed {campaign.seed} --call {number}"
            )


def test_every_op_takes_part() -> None:
    assert {op.name for op in OPS} >= set(F.__all__)
    assert set(PUBLIC_OPS) >= set(F.__all__)


def test_a_call_is_reproduced_by_its_number() -> None:
    assert Campaign(5).call(3) == Campaign(5).call(3)
    assert Campaign(5).call(3) != Campaign(6).call(3)


def spoil_neighbour(z: torch.Tensor) -> torch.Tensor:
    """A row that is nan makes the row before it nan."""
    bad = z.isnan().any(-1)
    return torch.where(bad.roll(-1).unsqueeze(-1), math.nan, z) if bad.dim() else z


def stretch(z: torch.Tensor) -> torch.Tensor:
    return z * (1 + 1e-2)


def thread_dependent(z: torch.Tensor) -> torch.Tensor:
    if torch.get_num_threads() == 1:
        return z
    value = z.detach()
    return z + (value.nextafter(torch.zeros_like(value)) - value)


FAULTS = {f.__name__: f for f in (spoil_neighbour, stretch, thread_dependent)}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = F.vmf_rsample

    def wrong(*arguments, **options):
        z = right(*arguments, **options)
        return FAULTS[fault](z) if z.dtype in (torch.float32, torch.float64) else z

    monkeypatch.setattr(F, "vmf_rsample", wrong)
    (op,) = (op for op in OPS if op.name == "vmf_rsample")
    assert count_findings(lambda chance: call_op(chance, op), 60) > 0


def test_wrong_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise KeyError("concentration")

    monkeypatch.setattr(VonMisesFisher, "_check_values", refuse)
    assert count_findings(random_distribution_call, 40) > 0


def count_findings(call: Callable[[Chance], str], calls: int) -> int:
    findings = 0
    for number in range(calls):
        try:
            call(Chance(7, number))
        except Finding:
            findings += 1
    return findings


def test_command_line() -> None:
    command = [sys.executable, str(PROJECT / "tests" / "fuzz"), "--seed", "2024", "--calls", "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 calls in" in done.stdout
