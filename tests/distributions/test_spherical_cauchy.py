# SPDX-License-Identifier: MIT
"""The spherical Cauchy distribution against its reference, quadrature and its own law. Errors of
its functions: tests/math/test_spherical_cauchy.py."""

import math

import numpy
import pytest
import scipy.stats
import torch
from helpers import gof
from torch.distributions import kl_divergence

from svmf import reference
from svmf.distributions import HypersphericalUniform, SphericalCauchy


@pytest.mark.parametrize("dim", [2, 3, 8, 65])
def test_against_the_reference(exact, dim):
    loc, value = exact.directions(6, dim), exact.directions(6, dim, seed=1)
    rho = torch.tensor([0.0, 0.1, 0.4, 0.7, 0.9, 0.99], dtype=torch.float64)
    q = SphericalCauchy(loc, rho)
    expected = reference.spherical_cauchy_log_prob(value, loc, rho)
    torch.testing.assert_close(q.log_prob(value), expected)
    kl = kl_divergence(q, HypersphericalUniform(dim))
    torch.testing.assert_close(kl, reference.spherical_cauchy_kl_uniform(rho, dim))
    torch.testing.assert_close(q.entropy(), exact.log_area(dim) - kl)


@pytest.mark.parametrize("dim", [2, 3, 5, 17])
def test_samples_are_the_moebius_map_of_one_vector(exact, dim):
    """The same seed at rho = 0 gives the uniform vector u; the reference maps it to the samples."""
    loc = exact.directions(6, dim)
    rho = torch.tensor([0.0, 0.1, 0.4, 0.7, 0.9, 0.99], dtype=torch.float64)

    def draw(r):
        return SphericalCauchy(loc, r).rsample(generator=torch.Generator().manual_seed(3))

    mapped = reference.spherical_cauchy_moebius(draw(torch.zeros_like(rho)), loc, rho)
    torch.testing.assert_close(draw(rho), mapped)


def cosine_tail(gap: numpy.ndarray, rho: float, dim: int) -> numpy.ndarray:
    """P(1 - mu.z <= gap): the Moebius map takes the cosine c of a uniform vector to mu.z, in order,
    with 1 - c = (1 + rho)^2 gap / ((1 - rho)^2 + 2 rho gap)."""
    half = (dim - 1) / 2
    uniform = (1 + rho) ** 2 * gap / ((1 - rho) ** 2 + 2 * rho * gap)
    return scipy.stats.beta.cdf(uniform / 2, half, half)


# 40 tests in all: a right sampler fails one of them with a probability of 1e-6 at new seeds.
THRESHOLD = 1e-6 / 40


def goodness_of_fit(z: torch.Tensor, loc: torch.Tensor, rho: float) -> tuple[float, float]:
    return gof.of_directions(z, loc, lambda gap: cosine_tail(gap, rho, z.shape[-1]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("dim", [2, 3, 10, 200])
@pytest.mark.parametrize("rho", [0.0, 0.2, 0.8, 0.999])
def test_goodness_of_fit(exact, dim, rho, dtype):
    loc = exact.directions(dim, dtype=dtype)
    generator = torch.Generator().manual_seed(dim)
    z = SphericalCauchy(loc, rho).sample((20_000,), generator=generator)
    assert (z.norm(dim=-1) - 1).abs().max() < 50 * torch.finfo(dtype).eps
    assert min(goodness_of_fit(z, loc, rho)) > THRESHOLD


@pytest.mark.parametrize("mistake", ["power", "square", "shifted"])
def test_goodness_of_fit_sees_mistakes(exact, mistake):
    """A wrong power of D, a forgotten square of rho, a direction that is a little off."""
    dim, rho, loc = 10, 0.5, exact.directions(10)
    normal = torch.randn(
        20_000, dim, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    u = torch.nn.functional.normalize(normal, dim=-1)
    shifted = u + rho * loc
    d = shifted.square().sum(-1, keepdim=True)
    if mistake == "power":
        z = shifted / d.sqrt()  # the projected normal's way
    elif mistake == "square":
        z = torch.nn.functional.normalize((1 - rho) / d * shifted + rho * loc, dim=-1)
    else:
        off = torch.nn.functional.normalize(loc + 0.2 * exact.directions(dim, seed=5), dim=-1)
        z = SphericalCauchy(off, rho).sample((20_000,), generator=torch.Generator().manual_seed(0))
    assert min(goodness_of_fit(z, loc, rho)) < THRESHOLD


@pytest.mark.parametrize("dim", [2, 3, 6, 80])
@pytest.mark.parametrize("rho", [0.0, 0.4, 0.9])
def test_moments(exact, dim, rho):
    def log_density(w):
        return (dim - 1) * numpy.log((1 - rho**2) / (1 + rho**2 - 2 * rho * w))

    mean, variance = exact.cosine_moments(log_density, dim)
    loc = exact.directions(dim)
    q = SphericalCauchy(loc, rho)
    torch.testing.assert_close(q.mean, mean * loc, rtol=1e-6, atol=1e-8)
    expected = exact.covariance(loc, mean, variance)
    torch.testing.assert_close(q.covariance_matrix, expected, rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(q.variance, expected.diagonal(), rtol=1e-5, atol=1e-7)


def test_density_integrates_to_one():
    """By the trapezoid rule over the circle, and over the cosine on the sphere in R^3."""
    angle = torch.linspace(0, 2 * math.pi, 2001, dtype=torch.float64)[:-1]
    circle = torch.stack((angle.cos(), angle.sin()), -1)
    q = SphericalCauchy(circle[7], 0.6)
    assert q.log_prob(circle).exp().mean().item() * 2 * math.pi == pytest.approx(1, abs=1e-12)
    nodes, weights = numpy.polynomial.legendre.leggauss(60)
    w = torch.as_tensor(nodes)
    rows = torch.stack((w, (1 - w.square()).sqrt(), torch.zeros_like(w)), -1)
    density = SphericalCauchy(torch.eye(3).double()[0], 0.5).log_prob(rows).exp()
    assert (density * torch.as_tensor(weights)).sum() * 2 * math.pi == pytest.approx(1, abs=1e-9)


def test_gradients(exact):
    loc, value = exact.directions(4, 5), exact.directions(4, 5, seed=1)
    vector = (2 * loc).requires_grad_()
    rho = torch.tensor([0.05, 0.3, 0.6, 0.95], dtype=torch.float64, requires_grad=True)

    def unit(v):
        return torch.nn.functional.normalize(v, dim=-1)

    def draw(v, r):
        generator = torch.Generator().manual_seed(0)
        return SphericalCauchy(unit(v), r, validate_args=False).rsample(generator=generator)

    def density(v, r):
        return SphericalCauchy(unit(v), r, validate_args=False).log_prob(value)

    assert torch.autograd.gradcheck(draw, (vector, rho))
    assert torch.autograd.gradcheck(density, (vector, rho))
    assert torch.autograd.gradgradcheck(density, (vector, rho))
    for dim in (3, 4, 70):
        inner = torch.tensor([0.1, 0.49, 0.7], dtype=torch.float64, requires_grad=True)

        def moments(r, dim=dim):
            q = SphericalCauchy(exact.directions(3, dim), r, validate_args=False)
            return q.entropy(), q.mean, q.variance

        assert torch.autograd.gradcheck(moments, inner)
        assert torch.autograd.gradgradcheck(lambda r, f=moments: f(r)[0], inner)


def test_pathwise_gradient_of_the_mean(exact):
    """d E[w] / d rho and d E[f] / d loc, at loc = e1 as everywhere."""
    loc = torch.eye(6, dtype=torch.float64)[0].requires_grad_()
    rho = torch.tensor(0.6, dtype=torch.float64, requires_grad=True)
    target = exact.directions(6)
    generator = torch.Generator().manual_seed(0)
    z = SphericalCauchy(loc, rho).rsample((200_000,), generator=generator)
    each = z @ target
    by_samples = torch.autograd.grad(each.mean(), (loc, rho), retain_graph=True)
    exactly = torch.autograd.grad(SphericalCauchy(loc, rho).mean @ target, (loc, rho))
    assert by_samples[1].item() == pytest.approx(exactly[1].item(), abs=0.01)
    tangent = torch.ones(6, dtype=torch.float64)
    tangent[0] = 0  # along loc the two extensions off the sphere differ
    torch.testing.assert_close(by_samples[0] * tangent, exactly[0] * tangent, atol=0.01, rtol=0)


@pytest.mark.parametrize("dim", [2, 3, 7, 64])
def test_kl_of_two(exact, dim):
    """The closed form by the Moebius group, against a mean over samples; 0 for equal ones."""
    p = SphericalCauchy(exact.directions(dim), 0.5)
    q = SphericalCauchy(exact.directions(dim, seed=1), 0.3)
    z = p.sample((400_000,), generator=torch.Generator().manual_seed(0))
    each = p.log_prob(z) - q.log_prob(z)
    error = each.std().item() / len(each) ** 0.5
    assert kl_divergence(p, q).item() == pytest.approx(each.mean().item(), abs=5 * error)
    torch.testing.assert_close(kl_divergence(q, p), kl_divergence(p, q))  # it is symmetric
    uniform = HypersphericalUniform(dim, dtype=torch.float64)
    torch.testing.assert_close(kl_divergence(uniform, p), kl_divergence(p, uniform))
    rho = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    same = kl_divergence(SphericalCauchy(p.loc, rho), p)
    assert same.item() == 0
    assert torch.autograd.grad(same, rho)[0].item() == 0


@pytest.mark.parametrize(("dim", "rho"), [(2, 0.4), (3, 0.9), (20, 0.6), (300, 0.3)])
def test_fit(exact, dim, rho):
    truth = SphericalCauchy(exact.directions(dim), rho)
    data = truth.sample((5000,), generator=torch.Generator().manual_seed(1))
    fitted = SphericalCauchy.fit(data)
    assert fitted.rho.item() == pytest.approx(rho, abs=0.03)
    assert fitted.loc @ truth.loc > 0.99
    best = fitted.log_prob(data).mean()
    assert best >= truth.log_prob(data).mean()
    for other in (fitted.rho * 0.99, fitted.rho * 1.005):
        assert SphericalCauchy(fitted.loc, other).log_prob(data).mean() < best
    assert SphericalCauchy.fit(data[:, None].expand(-1, 2, -1)[:100]).batch_shape == (2,)
    assert SphericalCauchy.fit(data[:, None].expand(-1, 0, -1)[:100]).batch_shape == (0,)
    with pytest.raises(ValueError, match=r"SphericalCauchy\.fit.*norm 2"):
        SphericalCauchy.fit(2 * data)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_types_compile_and_transforms(exact):
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        q = SphericalCauchy(exact.directions(5, 8).to(dtype), 0.5)
        z = q.rsample()
        assert z.dtype == q.log_prob(z).dtype == q.entropy().dtype == dtype
        assert q.log_prob(z).isfinite().all()
    loc, rho = exact.directions(4, 6).float(), torch.full((4,), 0.4)
    value = exact.directions(4, 6, seed=1).float()

    def loss(loc, rho):
        q = SphericalCauchy(loc, rho)
        kl = kl_divergence(q, HypersphericalUniform(6))
        return q.log_prob(value).sum() + kl.sum(), q.rsample().shape

    compiled, shape = torch.compile(loss, fullgraph=True)(loc, rho)
    torch.testing.assert_close(compiled, loss(loc, rho)[0])
    assert shape == (4, 6)
    one = torch.func.vmap(lambda m, r, v: SphericalCauchy(m, r).log_prob(v))(loc, rho, value)
    torch.testing.assert_close(one, SphericalCauchy(loc, rho).log_prob(value))


def test_as_a_distribution(exact):
    q = SphericalCauchy(exact.directions(4, 3), torch.full((4, 1), 0.5).double())
    assert q.batch_shape == (4,)
    assert q[1:3].rho.shape == (2,)
    assert q.expand((2, 4)).rsample((5,)).shape == (5, 2, 4, 3)
    assert q.to(torch.float32).rho.dtype == torch.float32
    assert repr(q) == "SphericalCauchy(loc: torch.Size([4, 3]), rho: torch.Size([4]))"
    torch.testing.assert_close(
        SphericalCauchy(q.loc, 0.0).log_prob(q.loc), HypersphericalUniform(3).log_prob(q.loc)
    )


@pytest.mark.parametrize(
    ("rho", "message"),
    [
        (1.0, r"`rho` to hold values in \[0, 1\), got value 1"),
        (-0.1, r"got value -0.1"),
        (math.nan, "got value nan"),
        (torch.ones(3), "`rho` to broadcast"),
    ],
)
def test_mistakes(rho, message):
    with pytest.raises(ValueError, match=message):
        SphericalCauchy(torch.eye(2)[:1].expand(5, 2), rho)
    with pytest.raises(ValueError, match="`loc` to hold unit vectors"):
        SphericalCauchy(torch.ones(2), 0.5)
