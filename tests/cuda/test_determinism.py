# SPDX-License-Identifier: MIT
"""Equal seeds give equal bits on a device, whatever the batch around a row and however often."""

import pytest
import torch
from helpers.op_cases import directions
from torch import Tensor

import svmf.functional as F

ops = torch.ops.svmf


def run(loc: Tensor, kappa: Tensor, samples: list[int]) -> list[Tensor]:
    seed = torch.tensor([987654321], device=loc.device)
    loc, kappa = loc.clone().requires_grad_(), kappa.clone().requires_grad_()
    z, kl, state = ops.vmf_rsample_kl.default(loc, kappa, seed, samples, 0, True)
    weight = torch.linspace(-1, 1, z.shape[-1]).to(z)
    return [z, kl, state, *torch.autograd.grad((z * weight).sum() + kl.sum(), (loc, kappa))]


@pytest.mark.parametrize("samples", [[], [5]], ids=str)
@pytest.mark.parametrize(("rows", "m"), [(999, 3), (999, 10), (333, 70), (50, 1500)])
def test_repeated_calls(rows: int, m: int, samples: list[int], device: torch.device) -> None:
    loc = directions(rows, m, torch.float32, m).to(device)
    kappa = torch.logspace(-1, 4, rows, device=device)
    first, second = run(loc, kappa, samples), run(loc, kappa, samples)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("m", [2, 3, 5, 16, 40, 200])
def test_rows_depend_on_their_number_only(m: int, device: torch.device) -> None:
    """Grids and tiles depend on the batch; results must not."""
    loc = directions(700, m, torch.float32, m).to(device)
    kappa = torch.logspace(-1, 3, 700, device=device)
    seed = torch.tensor([5], device=device)
    whole = ops.vmf_rsample.default(loc, kappa, seed, [], 0, False)[0]
    for rows in (1, 13, 64, 300):
        part = ops.vmf_rsample.default(loc[:rows], kappa[:rows], seed, [], 0, False)[0]
        assert torch.equal(part, whole[:rows])
    stacked = ops.vmf_rsample.default(loc[:100], kappa[:100], seed, [7], 0, False)[0]
    flat = ops.vmf_rsample.default(
        loc[:100].repeat(7, 1), kappa[:100].repeat(7), seed, [], 0, False
    )[0]
    assert torch.equal(stacked.flatten(0, 1), flat)


def test_the_generator_of_the_device_decides(device: torch.device) -> None:
    loc = directions(30, 6, torch.float32, 1).to(device)
    kappa = torch.full((30,), 4.0, device=device)
    draws = []
    for seed in (7, 7, 8):
        generator = torch.Generator(device).manual_seed(seed)
        draws.append(F.vmf_rsample(loc, kappa, generator=generator))
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    torch.manual_seed(3)
    first, second = F.vmf_rsample(loc, kappa), F.vmf_rsample(loc, kappa)
    torch.manual_seed(3)
    assert torch.equal(F.vmf_rsample(loc, kappa), first)
    assert not torch.equal(first, second)
