# SPDX-License-Identifier: MIT
"""nan, negative or infinite kappa and non-finite mu: nan in that row, forward and backward, and no
effect on any other."""

import math

import pytest
import torch
from torch import Tensor

ROWS = 37
# Row number: what is wrong with it.
BAD_KAPPA = {1: math.nan, 4: -1.0, 5: math.inf, 17: -math.inf, 36: -1e-30}
BAD_LOC = {
    8: (0, math.nan),
    11: (-1, math.nan),
    12: (0, math.inf),
    20: (1, -math.inf),
    33: (-1, math.inf),
}
MODES = ["pathwise", "rejection", "kl", "correction"]


def run(mode: str, loc: Tensor, kappa: Tensor, shape: list[int]) -> tuple[Tensor, ...]:
    """z [samples, rows, m], gradients of loc and kappa, and KL where there is one."""
    loc, kappa = loc.clone().requires_grad_(), kappa.clone().requires_grad_()
    seed, ops = torch.tensor([77]), torch.ops.svmf
    weights = torch.randn(*shape, *loc.shape, generator=torch.Generator().manual_seed(1)).to(loc)
    extra: Tensor | None = None
    if mode == "kl":
        z, extra, _ = ops.vmf_rsample_kl.default(loc, kappa, seed, shape, 0, True)
        loss = (z * weights).sum() + extra.sum()
    elif mode == "correction":
        z, log_ratio, _ = ops.vmf_rsample_with_correction.default(loc, kappa, seed, shape, True)
        loss = (z * weights).sum() + log_ratio.sum()
    else:
        z, _ = ops.vmf_rsample.default(loc, kappa, seed, shape, MODES.index(mode), True)
        loss = (z * weights).sum()
    gradients = torch.autograd.grad(loss, (loc, kappa))
    return z.detach(), *gradients, *(() if extra is None else (extra.detach(),))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("m", [2, 3, 5, 20, 600])
def test_bad_rows_are_nan_and_alone(directions, m, mode, dtype):
    loc = directions(ROWS, m, seed=m, dtype=dtype)
    kappa = torch.logspace(-2, 4, ROWS).to(dtype)
    clean = run(mode, loc, kappa, [3])
    for row, value in BAD_KAPPA.items():
        kappa[row] = value
    for row, (column, value) in BAD_LOC.items():
        loc[row, column] = value
    z, grad_loc, grad_kappa, *kl = run(mode, loc, kappa, [3])

    bad = torch.zeros(ROWS, dtype=torch.bool)
    bad[[*BAD_KAPPA, *BAD_LOC]] = True
    assert z[:, bad].isnan().all()
    assert torch.equal(z[:, ~bad], clean[0][:, ~bad])
    assert grad_loc[bad].isnan().all()
    assert torch.equal(grad_loc[~bad], clean[1][~bad])
    assert grad_kappa[bad].isnan().all()
    assert torch.equal(grad_kappa[~bad], clean[2][~bad])
    if kl:  # depends on kappa alone; its limit for kappa -> infinity is infinity
        nan_rows = [row for row in sorted(BAD_KAPPA) if BAD_KAPPA[row] != math.inf]
        assert kl[0].isnan().nonzero().flatten().tolist() == nan_rows


@pytest.mark.parametrize("m", [2, 3, 5, 20, 600])
def test_bad_incoming_gradient_stays_in_its_row(directions, m):
    loc, kappa = directions(20, m, seed=m), torch.logspace(-1, 3, 20, dtype=torch.float64)
    z, state = torch.ops.svmf.vmf_rsample.default(loc, kappa, torch.tensor([1]), [2], 0, True)
    grad = torch.randn(z.shape, dtype=torch.float64)
    backward = torch.ops.svmf._vmf_rsample_backward.default
    clean = backward(grad, None, None, z, state, loc, kappa, 0)
    grad[1, 7, 1] = math.nan
    spoiled = backward(grad, None, None, z, state, loc, kappa, 0)
    others = torch.arange(20) != 7
    for before, after in zip(clean, spoiled, strict=True):
        assert after[7].isnan().any()
        assert torch.equal(after[others], before[others])


@pytest.mark.parametrize("m", [2, 3, 5, 20])
def test_all_rows_bad(m):
    loc = torch.full((100, m), math.nan)
    for kappa in (math.nan, -1.0, math.inf, 3.0):
        z, _ = torch.ops.svmf.vmf_rsample.default(
            loc, torch.full((100,), kappa), torch.tensor([1]), [], 0, True
        )
        assert z.isnan().all()


@pytest.mark.parametrize("m", [2, 3, 5, 20])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_extreme_kappa_is_finite(directions, m, dtype):
    """The domain's ends and beyond: denormal, largest and negative zero."""
    info = torch.finfo(dtype)
    values = [0.0, -0.0, info.tiny, info.tiny / 8, 1e10, info.max / 4, info.max]
    kappa = torch.tensor(values, dtype=torch.float64).to(dtype)
    loc = directions(7, m, seed=m, dtype=dtype)
    z, state = torch.ops.svmf.vmf_rsample.default(loc, kappa, torch.tensor([1]), [50], 0, True)
    assert z.isfinite().all()
    assert state.isfinite().all()
    torch.testing.assert_close(z.norm(dim=-1), torch.ones(50, 7, dtype=dtype))
