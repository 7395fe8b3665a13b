# SPDX-License-Identifier: MIT
"""The sampler from raw features: the direction of vectors of any length, kappa = offset +
softplus(x), and the gradients of both, against their definitions."""

from functools import partial

import mpmath
import pytest
import torch
import torch.nn.functional as nnF
from torch import Tensor

import svmf.functional as F
from svmf._direction import SHORTEST, direction

DTYPES = [torch.float32, torch.float64]
SEED = torch.tensor([11])
ops = torch.ops.svmf


def inputs(m: int, rows: int = 37, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    torch.manual_seed(m)
    features = 3 * torch.randn(rows, m, dtype=torch.float64)
    raw = torch.linspace(-30, 40, rows, dtype=torch.float64)
    return features.to(dtype).requires_grad_(), raw.to(dtype).requires_grad_()


def by_parts(features: Tensor, raw: Tensor, shape=(), offset: float = 1.0, **options):
    kappa = nnF.softplus(raw, threshold=40) + offset
    return F.vmf_rsample_kl(direction(features), kappa, shape, **options)


def of_seed(function, *arguments, **options):
    torch.manual_seed(5)
    return function(*arguments, **options)


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("gradient", ["pathwise", "rejection"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [2, 3, 4, 10, 15, 16, 17, 100, 1030])
def test_equals_its_parts(m, dtype, gradient, shape):
    features, raw = inputs(m, dtype=dtype)
    weights = torch.randn(*shape, *features.shape, dtype=dtype)
    found = []
    for function in (F.vmf_rsample_kl_from_features, by_parts):
        z, kl = of_seed(function, features, raw, shape, offset=0.5, gradient=gradient)
        loss = (z * weights).sum() + kl.sum()
        grads = torch.autograd.grad(loss, (features, raw))
        found.append((z.detach(), kl.detach(), *grads))
    eps = torch.finfo(dtype).eps
    scale = (1, found[1][1].abs() + 1, found[1][2].abs().max() + 1, 1)
    for one, other, size in zip(*found, scale, strict=True):
        assert float(((one - other).abs() / size).max()) < 40 * eps


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [2, 3, 10, 40])
def test_same_bits_as_the_sampler(m, dtype):
    """Where direction and kappa are exact, so is z."""
    axis = torch.arange(50) % m
    loc = nnF.one_hot(axis, m).to(dtype)
    kappa = torch.arange(50, dtype=dtype) + 60  # softplus(x) = x
    lengths = 2.0 ** torch.linspace(-20, 20, 50).round()[:, None].to(dtype)
    z, kl = of_seed(F.vmf_rsample_kl_from_features, loc * lengths, kappa, (2,), offset=0.0)
    expected_z, expected_kl = of_seed(F.vmf_rsample_kl, loc, kappa, (2,))
    assert torch.equal(z, expected_z)
    assert torch.equal(kl, expected_kl)


def rows_of_every_length(m: int, dtype: torch.dtype) -> Tensor:
    torch.manual_seed(m)
    finest, largest = torch.finfo(dtype).tiny, torch.finfo(dtype).max
    unit = nnF.normalize(torch.randn(60, m, dtype=torch.float64), dim=-1)
    lengths = [finest, finest**0.5, 1e-12, 1.0, 1e18, largest / 8]
    return (unit * torch.tensor(lengths, dtype=torch.float64).repeat(10)[:, None]).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [2, 3, 10, 16, 33, 2000])
def test_direction_of_every_length(m, dtype):
    """Within 2 eps of the exact one. At such a kappa a sample is mu."""
    features = rows_of_every_length(m, dtype)
    kappa = torch.full((60,), 1e30 if dtype == torch.float32 else 1e300, dtype=dtype)
    z, _ = F.vmf_rsample_kl_from_features(features, kappa)
    with mpmath.workdps(40):
        for row, found in zip(features.tolist(), z.tolist(), strict=True):
            length = mpmath.sqrt(mpmath.fsum(mpmath.mpf(x) ** 2 for x in row))
            worst = max(abs(f - mpmath.mpf(x) / length) for f, x in zip(found, row, strict=True))
            assert worst < 2 * torch.finfo(dtype).eps


@pytest.mark.parametrize("m", [5, 40])
def test_zero_points_along_the_first_axis_and_short_rows_have_bounded_gradients(m):
    features = torch.zeros(6, m, dtype=torch.float64)
    features[1:] = torch.randn(5, m) * torch.tensor([1e-320, 1e-300, 1e-30, 1e-8, 1e-3])[:, None]
    features.requires_grad_()
    kappa = torch.full((6,), 1e300, dtype=torch.float64)
    z, _ = F.vmf_rsample_kl_from_features(features, kappa)
    assert z[0].tolist() == [1.0] + [0.0] * (m - 1)
    assert z[1].tolist() == z[0].tolist(), "shorter than 1e-315"
    weights = torch.randn(6, m, dtype=torch.float64)
    (slope,) = torch.autograd.grad((z * weights).sum(), features)
    expected = (weights - (weights * z).sum(-1, keepdim=True) * z) / SHORTEST
    torch.testing.assert_close(slope, expected.detach())


@pytest.mark.parametrize("m", [3, 40])
def test_bad_rows_are_nan_and_alone(m):
    features, raw = inputs(m, 12)
    with torch.no_grad():
        features[1, 0], features[2, -1], features[3, m // 2] = torch.inf, -torch.inf, torch.nan
        raw[5], raw[6], raw[7] = torch.nan, torch.inf, -torch.inf
    z, kl = F.vmf_rsample_kl_from_features(features, raw)
    (slope,) = torch.autograd.grad(z.sum(), features)
    bad = torch.tensor([i in (1, 2, 3, 5, 6) for i in range(12)])
    assert bool(z[bad].isnan().all())
    assert bool(z[~bad].isfinite().all() & slope[~bad].isfinite().all())
    assert bool(kl[[5]].isnan().all() & kl[[0, 4, 7, 8]].isfinite().all())
    torch.testing.assert_close(kl[7], F.vmf_kl_uniform(torch.tensor(1.0).double(), m))


@pytest.mark.parametrize("dtype", DTYPES)
def test_concentration_against_mpmath(dtype):
    """Seen through the KL, whose condition number in kappa is below 2.01: 12 eps in all."""
    raw = torch.cat([torch.linspace(-80, 80, 401), torch.linspace(-2, 2, 101)]).to(dtype)
    features = torch.ones(len(raw), 9, dtype=dtype)
    with mpmath.workdps(30):
        exact = [float(mpmath.log1p(mpmath.exp(x))) for x in raw.tolist()]
    expected = F.vmf_kl_uniform(torch.tensor(exact, dtype=torch.float64), 9)
    _, kl = F.vmf_rsample_kl_from_features(features, raw, offset=0.0)
    normal = expected > torch.finfo(dtype).tiny
    error = ((kl.double() - expected) / expected)[normal].abs().max()
    assert float(error) < 12 * torch.finfo(dtype).eps


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize("m", [2, 3, 10, 20])
def test_derivatives_in_both_modes(m):
    torch.manual_seed(1)
    features = torch.randn(4, m, dtype=torch.float64, requires_grad=True)
    raw = torch.randn(4, dtype=torch.float64, requires_grad=True)

    def draw(function):
        return lambda *tensors: of_seed(function, *tensors, (2,))

    fused, parts = draw(F.vmf_rsample_kl_from_features), draw(by_parts)
    for mode in (partial(torch.func.jacfwd, randomness="same"), torch.func.jacrev):
        found = mode(fused, (0, 1))(features, raw)
        expected = mode(parts, (0, 1))(features, raw)
        torch.testing.assert_close(found, expected)
    # The KL twice; samples once.
    second = torch.autograd.functional.hessian(lambda r: fused(features, r)[1].sum(), raw)
    assert isinstance(second, Tensor)
    torch.testing.assert_close(
        second, torch.autograd.functional.hessian(lambda r: parts(features, r)[1].sum(), raw)
    )
    z, kl = fused(features, raw)
    (slope,) = torch.autograd.grad((z.sum() + kl.sum()), raw, create_graph=True)
    with pytest.raises(NotImplementedError, match="differentiable once"):
        torch.autograd.grad(slope.sum(), raw)


@pytest.mark.parametrize("m", [3, 20])
def test_blocks_of_a_wider_row_are_read_where_they_stand(m):
    wide = torch.randn(2, 33, m + 4)
    features, raw, _ = wide.split([m, 1, 3], dim=-1)
    plain = features.contiguous(), raw.squeeze(-1).contiguous()
    expected = of_seed(F.vmf_rsample_kl_from_features, *plain)
    others = (
        (features, raw.squeeze(-1)),
        (plain[0].transpose(0, 1).contiguous().transpose(0, 1), plain[1].t().contiguous().t()),
        (plain[0].mT.contiguous().mT, plain[1]),
    )
    for given in others:
        found = of_seed(F.vmf_rsample_kl_from_features, *given)
        assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))
    one = features[:, :1].expand(2, 33, m)
    repeated = of_seed(F.vmf_rsample_kl_from_features, one, plain[1])
    expected = of_seed(F.vmf_rsample_kl_from_features, one.contiguous(), plain[1])
    assert torch.equal(repeated[0], expected[0])
    assert F.vmf_rsample_kl_from_features(features[0, 0], raw[0, 0, 0])[0].shape == (m,)
    assert F.vmf_rsample_kl_from_features(features, raw[0, 0, 0], (4,))[1].shape == (2, 33)
    empty = F.vmf_rsample_kl_from_features(features[:0].requires_grad_(), raw[:0, :, 0], (4,))
    assert empty[0].shape == (4, 0, 33, m)
    empty[0].sum().backward()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types_are_computed_wide_and_rounded_once(dtype):
    features, raw = (t.detach().to(dtype).requires_grad_() for t in inputs(12))
    wide = [t.detach().float().requires_grad_() for t in (features, raw)]
    found = of_seed(F.vmf_rsample_kl_from_features, features, raw)
    expected = of_seed(F.vmf_rsample_kl_from_features, *wide)
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, other.to(dtype))


def test_threads_do_not_change_bits():
    features, raw = inputs(10, 5000, torch.float32)
    results, before = [], torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            z, kl = of_seed(F.vmf_rsample_kl_from_features, features, raw)
            grads = torch.autograd.grad(z.cos().sum() + kl.sum(), (features, raw))
            results.append((z, kl, *grads))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


@pytest.mark.parametrize("m", [3, 20])
@pytest.mark.parametrize("shape", [[], [3]])
def test_opcheck(m, shape):
    features, raw = inputs(m, 7)
    op, backward = (
        ops.vmf_rsample_kl_from_features.default,
        ops._vmf_rsample_kl_from_features_backward.default,
    )
    torch.library.opcheck(op, (features, raw, SEED, shape, 0, 1.0, True))
    features, raw = features.detach(), raw.detach()
    torch.library.opcheck(op, (features, raw, SEED, shape, 1, 0.0, False))
    z, kl, state = op(features, raw, SEED, shape, 0, 1.0, True)
    grads = torch.randn_like(z), torch.randn_like(kl)
    torch.library.opcheck(backward, (*grads, z, state, features, raw, 0, 1.0))
    torch.library.opcheck(backward, (grads[0], None, z, state, features, raw, 1, 1.0))


def test_compiled_and_mapped():
    def step(features: Tensor, raw: Tensor) -> Tensor:
        z, kl = F.vmf_rsample_kl_from_features(features, raw)
        return z.cos().sum() + kl.sum()

    results = []
    for function in (step, torch.compile(step, fullgraph=True, backend="aot_eager")):
        features, raw = inputs(6)
        loss = of_seed(function, features, raw)
        results.append((loss, *torch.autograd.grad(loss, (features, raw))))
    for eager, compiled in zip(*results, strict=True):
        torch.testing.assert_close(compiled, eager)

    features, raw = (t.detach().view(4, 3, *t.shape[1:]) for t in inputs(6, 12))
    mapped = torch.func.vmap(F.vmf_rsample_kl_from_features, randomness="different")
    z, kl = of_seed(mapped, features, raw)
    torch.manual_seed(5)
    loop = [F.vmf_rsample_kl_from_features(*pair) for pair in zip(features, raw, strict=True)]
    assert torch.equal(z, torch.stack([pair[0] for pair in loop]))
    assert torch.equal(kl, torch.stack([pair[1] for pair in loop]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": torch.ones(3)[:1]}, r"`features` of shape \[\.\.\., m\] with m at least 2"),
        ({"features": torch.ones(4, 5, dtype=torch.int64)}, "`features` of dtype"),
        ({"raw_concentration": torch.ones(4).double()}, "`raw_concentration` of the dtype"),
        ({"raw_concentration": torch.ones(3)}, "`raw_concentration` with one value per row"),
        ({"offset": -1.0}, "`offset` to be at least 0, got -1"),
        ({"sample_shape": [-2]}, "`sample_shape` without negative sizes"),
        ({"seed": torch.ones(2)}, "`seed` with one element"),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_mistakes(change, message, device):
    given = {
        "features": torch.ones(4, 5),
        "raw_concentration": torch.ones(4),
        "seed": SEED,
        "sample_shape": [],
        "gradient": 0,
        "offset": 1.0,
        "keep_state": True,
        **change,
    }
    given = {n: t.to(device) if isinstance(t, Tensor) else t for n, t in given.items()}
    with pytest.raises(RuntimeError, match="vmf_rsample_kl_from_features: expected " + message):
        ops.vmf_rsample_kl_from_features.default(**given)


def test_mistakes_of_the_function():
    features = torch.ones(4, 5)
    with pytest.raises(ValueError, match="expected `gradient`"):
        F.vmf_rsample_kl_from_features(features, torch.ones(4), gradient="score")
    with pytest.raises(RuntimeError, match=r"`features` \[4, 5\], `raw_concentration` \[3\]"):
        F.vmf_rsample_kl_from_features(features, torch.ones(3))
    with pytest.raises(TypeError, match="expected `raw_concentration` to be a tensor, got float"):
        F.vmf_rsample_kl_from_features(features, 1.0)
