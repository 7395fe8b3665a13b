# SPDX-License-Identifier: MIT
"""docs/rng.md: a sample is a pure function of (seed, row, inputs of the row). Equal bits for any
number of threads; instruction sets agree up to rounding, but for the few rows whose acceptance lies
within rounding of its bound."""

from pathlib import Path

import pytest
import torch
from helpers.commands import python
from torch import Tensor

import svmf

SHAPES = [(2000, 2), (2000, 3), (2000, 5), (1500, 10), (1500, 16), (1000, 40), (300, 600)]
# A row flips if its acceptance changes by rounding: a few eps(float32) per proposal. One in 1e5 is
# generous.
FLIPPED_SHARE = 1e-5
SEED = torch.tensor([987654321])


def run(loc: Tensor, kappa: Tensor, shape: list[int]) -> tuple[Tensor, ...]:
    loc, kappa = loc.requires_grad_(), kappa.requires_grad_()
    z, kl, state = torch.ops.svmf.vmf_rsample_kl.default(loc, kappa, SEED, shape, 0, True)
    weight = torch.linspace(-1, 1, z.shape[-1]).to(z)
    return z, kl, state, *torch.autograd.grad((z * weight).sum() + kl.sum(), (loc, kappa))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("samples", [[], [3]])
@pytest.mark.parametrize(("rows", "m"), SHAPES)
def test_equal_bits_for_any_number_of_threads(directions, rows, m, samples, dtype):
    loc = directions(rows, m, seed=m, dtype=dtype)
    kappa = torch.logspace(-1, 4, rows).to(dtype)
    results = []
    for threads in (1, 2, 8):
        torch.set_num_threads(threads)
        results.append(run(loc.clone(), kappa.clone(), samples))
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


@pytest.mark.parametrize("m", [2, 3, 5, 16, 40])
def test_rows_depend_on_their_number_only(directions, m):
    """The first rows of a batch, and samples [S] of a batch, are what rows 0 ... S*B - 1 are."""
    loc, kappa = directions(70, m, seed=m), torch.logspace(-1, 3, 70, dtype=torch.float64)
    draw = torch.ops.svmf.vmf_rsample.default
    z = draw(loc, kappa, SEED, [3], 0, False)[0]
    flat = draw(loc.repeat(3, 1), kappa.repeat(3), SEED, [], 0, False)[0]
    assert torch.equal(z.view(-1, m), flat)
    for rows in (1, 13, 64):
        assert torch.equal(draw(loc[:rows], kappa[:rows], SEED, [], 0, False)[0], z[0, :rows])
    other = draw(loc, kappa, SEED + 1, [3], 0, False)[0]
    assert (other != z).any(-1).all()


def test_all_samplers_draw_the_same(directions):
    loc, kappa = directions(9, 7), torch.logspace(-1, 3, 9, dtype=torch.float64)
    ops = torch.ops.svmf
    z = ops.vmf_rsample.default(loc, kappa, SEED, [2], 0, False)[0]
    assert torch.equal(ops.vmf_rsample.default(loc, kappa, SEED, [2], 1, True)[0], z)
    assert torch.equal(ops.vmf_rsample_kl.default(loc, kappa, SEED, [2], 0, True)[0], z)
    assert torch.equal(ops.vmf_rsample_with_correction.default(loc, kappa, SEED, [2], True)[0], z)


def test_seed_uses_all_64_bits(directions):
    loc, kappa = directions(5, 4), torch.full((5,), 2.0, dtype=torch.float64)
    draws = [
        torch.ops.svmf.vmf_rsample.default(loc, kappa, torch.tensor([seed]), [], 0, False)[0]
        for seed in (0, 1, 2**31, 2**32, 2**62, -1)
    ]
    for i, one in enumerate(draws):
        assert all((one != other).all() for other in draws[i + 1 :])


_CHILD = """
import sys, torch, svmf.functional
torch.set_num_threads(1)
torch.save({name: getattr(torch.ops.svmf, "vmf_rsample").default(*arguments)
            for name, arguments in torch.load(sys.argv[1], weights_only=True).items()}, sys.argv[2])
"""


def in_subprocess(isa: str, arguments: dict, folder: Path) -> dict:
    """The samples as another instruction set draws them."""
    given, result = folder / "arguments.pt", folder / f"{isa}.pt"
    torch.save(arguments, given)
    python("-c", _CHILD, given, result, environment={"SVMF_CPU_ISA": isa})
    return torch.load(result, weights_only=True)


def test_instruction_sets_agree(directions, tmp_path):
    here = svmf.build_info()["cpu_isa"]
    if here == "baseline":
        pytest.skip("this CPU has the baseline instruction set only")
    arguments = {}
    for dtype in (torch.float32, torch.float64):
        for rows, m in SHAPES:
            loc = directions(rows, m, seed=m, dtype=dtype)
            kappa = torch.logspace(-1, 4, rows).to(dtype)
            arguments[f"{dtype} {m}"] = (
                loc,
                kappa,
                SEED,
                [max(1, 3_000_000 // (rows * m))],
                0,
                True,
            )
    baseline = in_subprocess("baseline", arguments, tmp_path)
    rows_seen = flipped = 0
    for name, given in arguments.items():
        z, _ = torch.ops.svmf.vmf_rsample.default(*given)
        eps, m = torch.finfo(z.dtype).eps, z.shape[-1]
        difference = (z - baseline[name][0]).abs().amax(-1)
        # Near w = +-1 the angle's error is that of the square root; m terms are summed.
        tolerance = 64 * eps * m**0.5
        flipped += int((difference > tolerance).sum())
        rows_seen += difference.numel()
    assert flipped <= FLIPPED_SHARE * rows_seen, f"{flipped} of {rows_seen} rows differ"
