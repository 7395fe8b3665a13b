# SPDX-License-Identifier: MIT
"""Every op gives on the device what it gives on the CPU: values, gradients, layouts, half types,
errors. The sampler consumes the same random words there."""

import pytest
import torch
from helpers.device_calls import gradients, place
from helpers.op_cases import CASES, Case, directions
from torch import Tensor

from svmf.distributions import HypersphericalUniform, VonMisesFisher

ops = torch.ops.svmf
TYPES = [torch.float32, torch.float64]
# (rows, m): one team size after the other, from a thread to a block per row.
SHAPES = [(2000, 2), (2000, 3), (2000, 5), (1500, 10), (1000, 40), (300, 600), (40, 4099)]
# As between instruction sets: a row flips if its acceptance lies within rounding of its bound.
FLIPPED_SHARE = 1e-5


def close(ours: Tensor, theirs: Tensor, units: float = 64, scale: float = 1.0) -> None:
    """Sums are added in another order: some units of rounding."""
    tolerance = units * torch.finfo(theirs.dtype).eps
    torch.testing.assert_close(ours.cpu(), theirs, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_gradients(case: Case, dtype: torch.dtype, device: torch.device) -> None:
    results = []
    for where in (device, torch.device("cpu")):
        tensors = place(case.tensors(dtype, grad=True), where)
        value = case.call(*tensors)
        assert value.device.type == where.type
        results.append([value.detach(), *gradients(value.sum(), tensors)])
    for ours, theirs in zip(*results, strict=True):
        close(ours, theirs, scale=theirs.abs().max().item())


@pytest.mark.parametrize("layout", ["transposed", "expanded", "empty", "every second"])
def test_layouts(layout: str, device: torch.device) -> None:
    x, loc = (directions(12, 7, torch.float64, seed).to(device) for seed in (1, 2))
    kappa = torch.linspace(0.1, 50, 12, dtype=torch.float64, device=device)
    lay = {
        "transposed": lambda t: t.T.contiguous().T if t.dim() == 2 else t,
        "expanded": lambda t: t[:1].expand(t.shape),
        "empty": lambda t: t[:0],
        "every second": lambda t: t[::2],
    }[layout]
    x, loc, kappa = lay(x), lay(loc), lay(kappa)
    seed = torch.tensor([3])
    for op, given in (
        (ops.householder, (x, loc)),
        (ops.vmf_log_prob, (x, loc, kappa)),
        (ops.vmf_kl, (x, kappa, loc, kappa)),
        (ops.vmf_kl_uniform, (kappa, 7)),
        (ops.log_iv, (2.5, kappa)),
        (ops.log_iv.tensor, (kappa, kappa)),
        (ops.vmf_rsample, (loc, kappa, seed, [2], 0, True)),
        (ops.spherical_cauchy_rsample_kl, (loc, kappa / 51, seed, [2], True)),
        (ops.power_spherical_rsample_kl, (loc, kappa, seed, [2], True)),
    ):
        ours = op(*place(given, device))
        theirs = op(*place(given, torch.device("cpu")))
        ours, theirs = ((t,) if isinstance(t, Tensor) else t for t in (ours, theirs))
        for one, other in zip(ours, theirs, strict=True):
            assert one.shape == other.shape
            close(one, other)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_types_are_rounded_once(dtype: torch.dtype, device: torch.device) -> None:
    kappa = torch.linspace(0.1, 90, 50, dtype=dtype, device=device)
    for name in ("vmf_kl_uniform", "vmf_mean_length", "vmf_log_norm"):
        op = getattr(ops, name)
        assert torch.equal(op(kappa, 6), op(kappa.float(), 6).to(dtype)), name
    loc, seed = directions(50, 6, dtype, 4).to(device), torch.tensor([9], device=device)
    z, _ = ops.vmf_rsample(loc, kappa, seed, [3], 0, True)
    wide, _ = ops.vmf_rsample(loc.float(), kappa.float(), seed, [3], 0, True)
    assert torch.equal(z, wide.to(dtype))


def draw_with_gradients(loc: Tensor, kappa: Tensor, gradient: int, device: torch.device):
    loc, kappa, seed = place((loc, kappa, torch.tensor([2**40 + 7])), device)
    loc.requires_grad_()
    kappa.requires_grad_()
    z, kl, state = ops.vmf_rsample_kl.default(loc, kappa, seed, [3], gradient, True)
    weight = torch.linspace(-1, 1, z.shape[-1]).to(z)
    slopes = torch.autograd.grad((z * weight).sum() + kl.sum(), (loc, kappa))
    return [t.detach().cpu() for t in (z, kl, state, *slopes)]


@pytest.mark.parametrize("gradient", [0, 1], ids=["pathwise", "rejection"])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_samples_and_their_gradients(
    dtype: torch.dtype, gradient: int, device: torch.device
) -> None:
    seen = flipped = 0
    for rows, m in SHAPES:
        loc = directions(rows, m, dtype, m)
        kappa = torch.logspace(-1, 4, rows).to(dtype)
        ours = draw_with_gradients(loc, kappa, gradient, device)
        theirs = draw_with_gradients(loc, kappa, gradient, torch.device("cpu"))
        eps = torch.finfo(dtype).eps
        off = (ours[0] - theirs[0]).abs().amax(-1) > 64 * eps * m**0.5
        seen += off.numel()
        flipped += int(off.sum())
        same = ~off.any(0)
        close(ours[1], theirs[1])
        for one, other in zip(ours[3:], theirs[3:], strict=True):
            close(one[same], other[same], units=256 * m**0.5, scale=other.abs().max().item())
    assert flipped <= FLIPPED_SHARE * seen, f"{flipped} of {seen} rows differ"


def test_bad_rows_are_nan_and_nothing_else(device: torch.device) -> None:
    loc = directions(40, 9, torch.float32, 1).to(device)
    kappa = torch.full((40,), 5.0, device=device)
    kappa[3], kappa[10], kappa[20] = float("nan"), -1.0, float("inf")
    loc[30, 2], loc[31, 0] = float("nan"), float("inf")
    z, _ = ops.vmf_rsample(loc, kappa, torch.tensor([1], device=device), [], 0, True)
    bad = torch.zeros(40, dtype=torch.bool, device=device)
    bad[[3, 10, 20, 30, 31]] = True
    assert z[bad].isnan().all()
    assert z[~bad].isfinite().all()


def test_distributions(device: torch.device) -> None:
    loc = directions(6, 5, torch.float64, 3)
    kappa = torch.linspace(0.5, 40, 6, dtype=torch.float64)
    results = []
    for where in (device, torch.device("cpu")):
        q = VonMisesFisher(*place((loc, kappa), where), validate_args=True)
        p = HypersphericalUniform(5).expand((6,))
        value = loc.roll(1, 0).to(where)
        divergence = torch.distributions.kl_divergence
        results.append(
            [
                q.mean,
                q.entropy(),
                q.log_prob(value),
                divergence(q, p),
                divergence(q, q.expand((6,))),
            ]
        )
        assert q.rsample((2,)).device.type == where.type
    for ours, theirs in zip(*results, strict=True):
        close(ours, theirs)


def test_bad_parameters_raise_on_the_device(device: torch.device) -> None:
    loc = directions(4, 5, torch.float32, 3).to(device)
    with pytest.raises(ValueError, match="concentration"):
        VonMisesFisher(loc, torch.tensor([1.0, -1.0, 1.0, 1.0], device=device), validate_args=True)
    with pytest.raises(RuntimeError, match="expected `kappa`"):
        ops.vmf_log_prob(loc, loc, torch.ones(3, device=device))
