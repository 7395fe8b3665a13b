# SPDX-License-Identifier: MIT
"""Shapes, strides, types and sizes of the sampler's arguments; errors that name the argument."""

import pytest
import torch
from torch import Tensor

import svmf.functional as F

SEED = torch.tensor([123])


def draw(loc: Tensor, kappa: Tensor, shape: tuple[int, ...] = ()) -> Tensor:
    return torch.ops.svmf.vmf_rsample.default(loc, kappa, SEED, list(shape), 0, False)[0]


@pytest.mark.parametrize("m", [2, 3, 5, 16, 40])
def test_result_shapes(directions, m):
    for batch in ((), (4,), (2, 3)):
        for shape in ((), (5,), (2, 1)):
            loc = directions(*batch, m, seed=1).requires_grad_()
            kappa = torch.full(batch, 3.0, dtype=torch.float64, requires_grad=True)
            z, kl = F.vmf_rsample_kl(loc, kappa, shape)
            assert z.shape == (*shape, *batch, m)
            assert kl.shape == batch
            z2, log_ratio = F.vmf_rsample_with_correction(loc, kappa, torch.Size(shape))
            assert z2.shape == z.shape
            assert log_ratio.shape == (*shape, *batch)
            gradients = torch.autograd.grad(z.sum() + kl.sum() + log_ratio.sum(), (loc, kappa))
            assert [g.shape for g in gradients] == [loc.shape, kappa.shape]


@pytest.mark.parametrize("m", [2, 3, 5, 40])
def test_empty_batches(m):
    for batch, shape in (((0,), ()), ((3, 0), (2,)), ((4,), (0,)), ((0,), (0,)), ((), (0,))):
        loc = torch.zeros(*batch, m, requires_grad=True)
        kappa = torch.ones(batch, requires_grad=True)
        z, kl = F.vmf_rsample_kl(loc, kappa, shape)
        assert z.shape == (*shape, *batch, m)
        loc_gradient, kappa_gradient = torch.autograd.grad(z.sum() + 0 * kl.sum(), (loc, kappa))
        assert not loc_gradient.any()
        assert not kappa_gradient.any()


@pytest.mark.parametrize("m", [2, 3, 5, 9, 40])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_expanded_and_strided_inputs(directions, m, dtype):
    plain, kappa = directions(6, m, seed=1, dtype=dtype), torch.linspace(0, 9, 6, dtype=dtype)
    expected = draw(plain, kappa, (3,))
    turned = plain.t().contiguous().t()
    padded = torch.full((6, m + 3), torch.nan, dtype=dtype)
    padded[:, 2 : m + 2] = plain
    every_second = torch.stack([kappa, torch.full_like(kappa, torch.nan)], dim=-1)[:, 0]
    reversed_twice = plain.flip(0)[torch.arange(5, -1, -1)]
    for loc in (turned, padded[:, 2 : m + 2], reversed_twice):
        assert torch.equal(draw(loc, every_second, (3,)), expected)
    one = plain[0].expand(6, m)
    assert torch.equal(draw(one, kappa, (3,)), draw(one.contiguous(), kappa, (3,)))


def test_broadcasting_of_loc_and_kappa(directions):
    loc, kappa = directions(3, 1, 5, seed=1), torch.tensor([1.0, 20.0], dtype=torch.float64)
    torch.manual_seed(1)
    z = F.vmf_rsample(loc.requires_grad_(), kappa.requires_grad_())
    torch.manual_seed(1)
    full = F.vmf_rsample(loc.expand(3, 2, 5).clone(), kappa.expand(3, 2).clone())
    assert torch.equal(z, full)
    gradients = torch.autograd.grad(z.sum(), (loc, kappa))
    assert [g.shape for g in gradients] == [loc.shape, kappa.shape]


@pytest.mark.parametrize("m", [2, 3, 5, 40])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bfloat16", "float16"])
def test_half_types_are_float32_rounded_once(directions, m, dtype):
    loc = directions(50, m, seed=1).to(dtype).requires_grad_()
    kappa = torch.logspace(-1, 3, 50).to(dtype).requires_grad_()
    z = draw(loc, kappa, (2,))
    loc32, kappa32 = (t.detach().float().requires_grad_() for t in (loc, kappa))
    z32 = draw(loc32, kappa32, (2,))
    assert z.dtype == dtype
    assert torch.equal(z, z32.to(dtype))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bfloat16", "float16"])
def test_half_type_gradients(directions, dtype):
    loc = directions(50, 10, seed=1).to(dtype).requires_grad_()
    kappa = torch.logspace(-1, 2, 50).to(dtype).requires_grad_()
    torch.manual_seed(2)
    z, kl = F.vmf_rsample_kl(loc, kappa)
    ours = torch.autograd.grad(z[:, 0].sum() + kl.sum(), (loc, kappa))
    loc32, kappa32 = (t.detach().float().requires_grad_() for t in (loc, kappa))
    torch.manual_seed(2)
    z32, kl32 = F.vmf_rsample_kl(loc32, kappa32)
    full = torch.autograd.grad(z32[:, 0].sum() + kl32.sum(), (loc32, kappa32))
    assert kl.dtype == dtype
    for half, single in zip(ours, full, strict=True):
        assert half.dtype == dtype
        # z itself was rounded before the backward pass used it.
        torch.testing.assert_close(half.float(), single, rtol=0.1, atol=8 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_a_million_dimensions(directions, dtype):
    m = 1_000_000
    loc = directions(2, m, seed=1, dtype=dtype).requires_grad_()
    kappa = torch.tensor([0.0, 1e6], dtype=dtype, requires_grad=True)
    z, kl = F.vmf_rsample_kl(loc, kappa)
    length, loc_length = (t.detach().double().square().sum(-1) for t in (z, loc))
    assert ((length - 1).abs() < 8 * torch.finfo(dtype).eps + (loc_length - 1).abs()).all()
    # w of kappa = 1e6 has mean 0.618... and a standard deviation below 1e-3.
    w = (z.double() * loc.double()).sum(-1)
    assert w[0].abs() < 6e-3
    assert (w[1] - 0.6180).abs() < 5e-3
    for part in torch.autograd.grad(z[:, 0].sum() + kl.sum(), (loc, kappa)):
        assert part.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("m", [2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 1000])
def test_unit_norm_to_a_few_eps(directions, m, dtype):
    """Every kappa, every kind of column count around the widths of registers."""
    loc = directions(40, m, seed=m, dtype=dtype)
    kappa = torch.logspace(-3, 10 if dtype == torch.float64 else 6, 40).to(dtype)
    z = draw(loc, kappa, (25,)).double()
    error = (z.square().sum(-1) - 1).abs().max() / torch.finfo(dtype).eps
    assert error <= 8


def test_odd_numbers_of_rows_and_columns(directions):
    """Every number of rows and columns around the lane widths gives whole rows."""
    for m in (2, 3, 5, 7, 8, 9, 15, 16, 17, 24):
        for rows in (1, 2, 3, 7, 8, 9, 63, 64, 65):
            loc = directions(rows, m, seed=m, dtype=torch.float32)
            kappa = torch.full((rows,), 5.0)
            z = draw(loc, kappa)
            assert torch.equal(z, draw(loc.expand(1, rows, m), kappa.expand(1, rows)).squeeze(0))
            assert ((z.norm(dim=-1) - 1).abs() < 1e-6).all()


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_errors_name_the_argument(device):
    """Real and fake tensors meet the same checks."""
    loc, kappa = torch.ones(4, 3, device=device), torch.ones(4, device=device)
    seed = torch.zeros(1, dtype=torch.int64, device=device)
    cases = [
        ((loc.long(), kappa, seed), "loc"),
        ((loc, kappa.double(), seed), "kappa"),
        ((loc, kappa[:3], seed), "kappa"),
        ((loc[:, :1], kappa, seed), "loc"),
        ((loc, kappa, seed.int()), "seed"),
        ((loc, kappa, torch.zeros(2, dtype=torch.int64, device=device)), "seed"),
    ]
    for arguments, name in cases:
        with pytest.raises((RuntimeError, ValueError, TypeError), match=f"vmf_rsample.*`{name}`"):
            torch.ops.svmf.vmf_rsample.default(*arguments, [], 0, True)


def test_empty_samples_of_absurd_shape(directions):
    """Nothing is drawn, but the strides must still be numbers; torch.empty refuses the second."""
    loc, kappa = directions(9, seed=1), torch.tensor(3.0, dtype=torch.float64)
    assert F.vmf_rsample(loc, kappa, (2**62, 0)).shape == (2**62, 0, 9)
    with pytest.raises(RuntimeError, match=r"no memory for a tensor of shape \[0, 46116860"):
        F.vmf_rsample(loc, kappa, (0, 2**62))
