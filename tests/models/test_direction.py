# SPDX-License-Identifier: MIT
"""A raw output without a direction: unit codes, bounded gradients, and a run that still learns."""

import pytest
import torch
import torch.nn.functional as F

from svmf._direction import SHORTEST, _plain_direction, direction
from svmf.models import VAE, Bernoulli, PowerSphericalLatent, SphericalCauchyLatent, SphericalLatent

DTYPES = [torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", DTYPES)
def test_equals_normalisation_where_there_is_a_direction(dtype):
    raw = torch.randn(100, 7, dtype=dtype, requires_grad=True)
    weight = torch.randn(100, 7, dtype=dtype)
    assert torch.equal(direction(raw), F.normalize(raw, dim=-1))
    (ours,) = torch.autograd.grad((direction(raw) * weight).sum(), raw)
    (theirs,) = torch.autograd.grad((F.normalize(raw, dim=-1) * weight).sum(), raw)
    torch.testing.assert_close(ours, theirs)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_derivatives_of_both_orders():
    raw = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(direction, raw)
    assert torch.autograd.gradgradcheck(direction, raw)
    assert torch.autograd.gradcheck(direction, raw, check_forward_ad=True)
    forward, reverse = torch.func.jacfwd(direction)(raw), torch.func.jacrev(direction)(raw)
    torch.testing.assert_close(forward, reverse)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", [0.0, 1e-30, 1e-15, 1e-8, 1e-4])
def test_short_and_zero_vectors(dtype, length):
    raw = (F.normalize(torch.randn(50, 5, dtype=dtype), dim=-1) * length).requires_grad_()
    unit = direction(raw)
    torch.testing.assert_close(unit.norm(dim=-1), torch.ones(50, dtype=dtype))
    (slope,) = torch.autograd.grad((unit * torch.randn(50, 5, dtype=dtype)).sum(), raw)
    assert bool(torch.isfinite(slope).all())
    assert float(slope.norm(dim=-1).max()) < 6 / SHORTEST
    assert float(slope.norm(dim=-1).min()) > 0, "the gradient still shows a way out"


def test_transforms_and_half_types():
    raw = torch.randn(6, 5)
    raw[2] = 0
    torch.testing.assert_close(torch.func.vmap(direction)(raw), direction(raw))
    compiled = torch.compile(direction, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(raw), direction(raw))
    for dtype in (torch.bfloat16, torch.float16):
        assert direction(raw.to(dtype)).dtype == dtype
        assert bool((direction(raw.to(dtype)).float().norm(dim=-1) - 1).abs().max() < 0.01)


def _extreme_rows(dtype):
    """Rows of every length that the type has a place for, ordinary ones among them; and the
    directions, in float64."""
    torch.manual_seed(3)
    finest, largest = torch.finfo(dtype).tiny, torch.finfo(dtype).max
    lengths = [finest, finest**0.5, 1.0, largest**0.5, largest / 4]
    usual = torch.randn(len(lengths) * 20, 5, dtype=dtype)
    raw = (usual / usual.abs().amax(-1, keepdim=True)).double()
    raw = (raw * torch.tensor(lengths, dtype=torch.float64).repeat(20)[:, None]).to(dtype)
    rows = torch.cat((raw, usual))
    scaled = rows.double() / rows.double().abs().amax(-1, keepdim=True)
    return rows, F.normalize(scaled, dim=-1)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("dtype", [*DTYPES, torch.float16, torch.bfloat16])
def test_vectors_of_every_length(dtype, compiled):
    function = direction
    if compiled:
        function = torch.compile(direction, fullgraph=True, backend="aot_eager")
    raw, expected = _extreme_rows(dtype)
    raw.requires_grad_()
    unit = function(raw)
    error = (unit.detach().double() - expected).abs().max()
    assert float(error) < 3 * torch.finfo(dtype).eps
    (slope,) = torch.autograd.grad((unit * torch.randn_like(unit)).sum(), raw)
    assert bool(slope.isfinite().all())
    assert float(slope.norm(dim=-1).max()) < 10 / SHORTEST


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_long_row_leaves_the_others_their_bits(dtype):
    raw = torch.randn(20, 5, dtype=dtype)
    alone = direction(raw)
    raw[7] = torch.finfo(dtype).max
    assert torch.equal(direction(raw)[:7], alone[:7])
    assert torch.equal(direction(raw)[8:], alone[8:])


@pytest.mark.parametrize("length", [1e-40, 1e-30, 1e-20, 1e20, 1e30, 1e38])
@pytest.mark.parametrize("family", [SphericalLatent, PowerSphericalLatent, SphericalCauchyLatent])
def test_long_and_short_features_give_unit_codes(family, length):
    latent = family(4)
    raw = torch.randn(64, sum(latent.head_sizes))
    raw[:, :5] *= length / raw[:, :5].abs().amax(-1, keepdim=True)
    raw.requires_grad_()
    posterior = latent.posterior(raw)
    torch.testing.assert_close(posterior.loc.norm(dim=-1), torch.ones(64))
    draw = latent.draw(posterior)
    torch.testing.assert_close(draw.z.norm(dim=-1), torch.ones(64))
    (slope,) = torch.autograd.grad((draw.z * torch.randn(64, 5)).sum() + draw.kl.sum(), raw)
    assert bool(slope.isfinite().all())
    assert float(slope.abs().max()) < 10 / SHORTEST


@pytest.mark.parametrize("family", [SphericalLatent, PowerSphericalLatent, SphericalCauchyLatent])
def test_a_zero_row_gives_a_unit_code(family):
    latent = family(9)
    raw = torch.zeros(64, sum(latent.head_sizes), requires_grad=True)
    draw = latent.draw(latent.posterior(raw))
    torch.testing.assert_close(draw.z.norm(dim=-1), torch.ones(64))
    (slope,) = torch.autograd.grad((draw.z * torch.randn(64, 10)).sum() + draw.kl.sum(), raw)
    assert float(slope.abs().max()) < 10 / SHORTEST


def _first_moments(blank: bool) -> float:
    """The largest of Adam's second moments after a first batch with a blank image, whose raw output
    is exactly zero, or without one."""
    torch.manual_seed(0)
    x = (torch.rand(64, 64) < 0.3).float()
    if blank:
        x[0] = 0
    model = VAE(64, SphericalLatent(4), Bernoulli(), hidden=(64,))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss, _ = model(x, torch.tensor(1.0))
    loss.backward()
    optimizer.step()
    return max(float(state["exp_avg_sq"].max()) for state in optimizer.state.values())


def test_a_blank_image_in_the_first_batch_freezes_nothing():
    """A second moment remembers a huge gradient for thousands of steps, and a weight stands still
    for as long: it must not exceed by much what other images give."""
    assert _first_moments(True) < 100 * _first_moments(False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_short_way_equals_the_definition(dtype):
    lengths = torch.tensor([0.0, 1e-30, 1e-11, 1e-5, 0.005, 0.02, 1.0, 1e5], dtype=dtype)
    raw = (F.normalize(torch.randn(8, 5, dtype=dtype), dim=-1) * lengths[:, None]).requires_grad_()
    weight = torch.randn(8, 5, dtype=dtype)
    slopes = []
    for function in (direction, _plain_direction):
        unit = function(raw)
        slopes.append((unit.detach(), *torch.autograd.grad((unit * weight).sum(), raw)))
    torch.testing.assert_close(slopes[0], slopes[1])
