# SPDX-License-Identifier: MIT
"""The reflection alone: it takes e1 to mu, is orthogonal to rounding everywhere, and has the right
derivatives."""

import mpmath
import pytest
import torch

import svmf.functional as F

M = [2, 3, 5, 8, 17, 300]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("m", M)
def test_takes_e1_to_mu_and_keeps_lengths(directions, m, dtype):
    x, loc = directions(50, m, seed=1, dtype=dtype), directions(50, m, seed=2, dtype=dtype)
    e1 = torch.eye(m, dtype=dtype)[0].expand(50, m)
    eps = torch.finfo(dtype).eps
    # mu is unit to rounding only, and the reflection answers with 1/|e1 - mu| times that.
    error = (F.householder(e1, loc) - loc).abs().amax(-1)
    assert (error <= 8 * eps / (e1 - loc).norm(dim=-1)).all()
    z = F.householder(x, loc)
    assert ((z.double().norm(dim=-1) - x.double().norm(dim=-1)).abs() < 8 * eps).all()
    torch.testing.assert_close(F.householder(z, loc), x, rtol=0, atol=32 * eps)


@pytest.mark.parametrize("m", M)
def test_next_to_e1(m):
    """|e1 - mu| down to 1e-300: against the formula in 400 digits."""
    for tilt in (1e-3, 1e-8, 1e-12, 1e-100):
        loc = torch.zeros(m, dtype=torch.float64)
        loc[1] = tilt
        loc[0] = (1 - tilt * tilt) ** 0.5
        x = torch.linspace(-1, 1, m, dtype=torch.float64)
        with mpmath.workdps(400):
            u = [mpmath.mpf(0) - mpmath.mpf(v) for v in loc.tolist()]
            u[0] += 1
            uu = sum(v * v for v in u)
            c = 2 * sum(v * mpmath.mpf(y) for v, y in zip(u, x.tolist(), strict=True)) / uu
            exact = [float(mpmath.mpf(y) - c * v) for y, v in zip(x.tolist(), u, strict=True)]
        ours = F.householder(x, loc)
        torch.testing.assert_close(
            ours, torch.tensor(exact, dtype=torch.float64), rtol=0, atol=1e-14
        )


def test_at_e1_it_is_the_identity():
    x = torch.randn(4, 6, dtype=torch.float64)
    e1 = torch.eye(6, dtype=torch.float64)[0]
    assert torch.equal(F.householder(x, e1), x)
    minus = F.householder(x, -e1)
    expected = x.clone()
    expected[:, 0] = -expected[:, 0]
    torch.testing.assert_close(minus, expected)


@pytest.mark.parametrize("m", [2, 3, 5, 17])
def test_gradients(directions, m):
    x, loc = directions(6, m, seed=1).requires_grad_(), directions(6, m, seed=2).requires_grad_()
    assert torch.autograd.gradcheck(F.householder, (x, loc))
    assert torch.autograd.gradgradcheck(F.householder, (x, loc))
    torch.library.opcheck(torch.ops.svmf.householder.default, (x, loc))


def test_bad_rows_stay_alone(directions):
    x, loc = directions(9, 5, seed=1), directions(9, 5, seed=2)
    clean = F.householder(x, loc)
    loc[3, 2] = torch.nan
    x[6, 0] = torch.inf
    z = F.householder(x, loc)
    assert z[3].isnan().all()
    assert not z[6].isfinite().any()
    others = [0, 1, 2, 4, 5, 7, 8]
    assert torch.equal(z[others], clean[others])


def test_compile(directions):
    x, loc = directions(6, 5, seed=1), directions(6, 5, seed=2)
    compiled = torch.compile(F.householder, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(x, loc), F.householder(x, loc))
