# SPDX-License-Identifier: MIT
"""VonMisesFisher: values against SciPy and quadrature, shapes, the torch protocol."""

import copy
import io
import math
import pickle

import pytest
import scipy.stats
import torch
from torch.distributions import Categorical, Independent, MixtureSameFamily

from svmf.distributions import VonMisesFisher


@pytest.mark.parametrize("dim", [2, 3, 10])
@pytest.mark.parametrize("kappa", [0.5, 12.0, 300.0])
def test_log_prob_and_entropy_equal_scipy(exact, dim, kappa):
    loc, value = exact.directions(dim), exact.directions(50, dim, seed=1)
    scipy_vmf = scipy.stats.vonmises_fisher(loc.numpy(), kappa)
    ours = VonMisesFisher(loc, kappa)
    torch.testing.assert_close(
        ours.log_prob(value), torch.as_tensor(scipy_vmf.logpdf(value.numpy())), rtol=1e-11, atol=0
    )
    assert ours.entropy().item() == pytest.approx(float(scipy_vmf.entropy()), rel=1e-11)


@pytest.mark.parametrize("dim", [2, 3, 7])
@pytest.mark.parametrize("kappa", [0.0, 0.3, 40.0])
def test_moments_equal_quadrature(exact, dim, kappa):
    loc = exact.directions(dim, seed=2)
    mean, variance = exact.cosine_moments(lambda w: kappa * w, dim)
    q = VonMisesFisher(loc, kappa)
    covariance = exact.covariance(loc, mean, variance)
    torch.testing.assert_close(q.mean, mean * loc, rtol=1e-7, atol=1e-8)
    torch.testing.assert_close(q.covariance_matrix, covariance, rtol=1e-7, atol=1e-8)
    torch.testing.assert_close(q.variance, covariance.diagonal(), rtol=1e-7, atol=1e-8)
    torch.testing.assert_close(q.stddev, covariance.diagonal().sqrt(), rtol=1e-7, atol=1e-8)
    assert torch.equal(q.mode, loc)


def test_variance_keeps_its_digits_and_its_gradient(exact):
    """Var[w] ~ (m-1) / (2 kappa^2) for large kappa, where 1 - A^2 - (m-1) A / kappa cancels."""
    e1 = torch.tensor([1.0, 0.0, 0.0])
    q = VonMisesFisher(e1, 1e5)
    assert q.variance[0].item() == pytest.approx(1e-10, rel=1e-4)
    kappa = torch.tensor([2.0, 9.0], dtype=torch.float64, requires_grad=True)

    def total_variance(k):
        return VonMisesFisher(exact.directions(2, 5), k).variance.sum(-1)

    assert torch.autograd.gradcheck(total_variance, kappa)
    with torch.no_grad():
        assert not total_variance(kappa).requires_grad


@pytest.mark.parametrize("dim", [2, 3, 4, 30])
@pytest.mark.parametrize("kappa", [0.0, 0.7, 25.0, 2000.0])
def test_marginal_cdf_equals_quadrature(exact, dim, kappa):
    angle = (torch.arange(400_000, dtype=torch.float64) + 0.5) * (math.pi / 400_000)
    density = torch.exp(kappa * (angle.cos() - 1) + (dim - 2) * angle.sin().log())
    density /= density.max()
    upper = density.cumsum(0) / density.sum()  # P(angle <= the end of each cell)
    quantiles = torch.searchsorted(upper, torch.tensor([1e-3, 0.1, 0.5, 0.9, 0.999]).double())
    w = ((quantiles.double() + 1) * (math.pi / 400_000)).cos()
    q = VonMisesFisher(exact.directions(dim), kappa)
    torch.testing.assert_close(q.marginal_cdf(w), 1 - upper[quantiles], rtol=0, atol=1e-7)
    assert q.marginal_cdf(torch.tensor([-1.0, 1.0])).tolist() == [0, 1]


def test_marginal_cdf_in_closed_form_on_s2(exact):
    """F(w) = (exp(kappa w) - exp(-kappa)) / (exp(kappa) - exp(-kappa)), also deep in the tail."""
    w = torch.linspace(-0.99, 0.99, 21, dtype=torch.float64, requires_grad=True)
    kappa = torch.tensor(12.0, dtype=torch.float64, requires_grad=True)
    closed = torch.expm1(kappa * (w + 1)) / torch.expm1(2 * kappa)
    ours = VonMisesFisher(exact.directions(3), kappa).marginal_cdf(w)
    torch.testing.assert_close(ours, closed, rtol=1e-12, atol=0)
    for variable in (w, kappa):
        expected, actual = (
            torch.autograd.grad(y.sum(), variable, retain_graph=True)[0] for y in (closed, ours)
        )
        torch.testing.assert_close(actual, expected, rtol=1e-10, atol=0)


@pytest.mark.parametrize(
    ("loc_shape", "kappa_shape", "batch_shape"),
    [
        ((3,), (), ()),
        ((3,), (1,), ()),
        ((3,), (5,), (5,)),
        ((4, 3), (), (4,)),
        ((4, 3), (4,), (4,)),
        ((4, 3), (4, 1), (4,)),
        ((4, 3), (1, 1), (4,)),
        ((4, 3), (2, 1, 4), (2, 1, 4)),
        ((1, 4, 3), (2, 1), (2, 4)),
        ((2, 4, 3), (2, 4, 1), (2, 4)),
        ((0, 3), (0,), (0,)),
        ((2, 3), (1,), (2,)),
    ],
)
def test_shapes(exact, loc_shape, kappa_shape, batch_shape):
    q = VonMisesFisher(exact.directions(*loc_shape), torch.ones(kappa_shape, dtype=torch.float64))
    assert q.batch_shape == batch_shape
    assert q.event_shape == (3,)
    assert q.loc.shape == (*batch_shape, 3)
    assert q.concentration.shape == batch_shape
    assert q.rsample((6,)).shape == (6, *batch_shape, 3)
    assert q.sample().shape == (*batch_shape, 3)
    assert q.mean.shape == q.variance.shape == (*batch_shape, 3)
    assert q.covariance_matrix.shape == (*batch_shape, 3, 3)
    assert q.entropy().shape == batch_shape
    assert q.log_prob(q.sample((2,))).shape == (2, *batch_shape)


def test_samples_carry_gradients_and_follow_the_generator(exact):
    loc = exact.directions(4, 5).requires_grad_()
    kappa = torch.full((4,), 7.0, dtype=torch.float64, requires_grad=True)
    q = VonMisesFisher(loc, kappa)
    draws = [q.rsample((3,), generator=torch.Generator().manual_seed(2)) for _ in range(2)]
    assert torch.equal(*draws)
    grads = torch.autograd.grad(draws[0].square()[..., 0].sum(), (loc, kappa))
    assert all(grad.isfinite().all() and grad.any() for grad in grads)
    rejection = q.rsample((3,), gradient="rejection", generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(rejection, draws[0])
    assert not q.sample().requires_grad
    z, kl = q.rsample_kl((3,), generator=torch.Generator().manual_seed(2))
    assert z.shape == (3, 4, 5)
    assert kl.shape == (4,)
    assert q.has_rsample


def test_sample_mean(exact):
    q = VonMisesFisher(exact.directions(6, seed=3), 15.0)
    torch.manual_seed(0)
    error = q.sample((20_000,)).mean(0) - q.mean
    assert (error.abs() < 5 * (q.variance / 20_000).sqrt()).all()


def test_expand(exact):
    q = VonMisesFisher(exact.directions(4, 3), torch.arange(4, dtype=torch.float64))
    wide = q.expand((2, 4))
    assert wide.batch_shape == (2, 4)
    assert wide.loc.data_ptr() == q.loc.data_ptr()
    value = exact.directions(2, 4, 3, seed=5)
    torch.testing.assert_close(wide.log_prob(value), q.log_prob(value))
    assert wide._validate_args == q._validate_args


def test_indexing(exact):
    q = VonMisesFisher(exact.directions(4, 5, 3), torch.rand(4, 5, dtype=torch.float64))
    assert q[1].batch_shape == (5,)
    assert torch.equal(q[1].loc, q.loc[1])
    assert q[1, 2].batch_shape == ()
    assert q[..., 2].batch_shape == (4,)
    assert torch.equal(q[..., 2].loc, q.loc[:, 2])
    assert q[1:3, None].batch_shape == (2, 1, 5)
    mask = q.concentration > 0.5
    assert torch.equal(q[mask].loc, q.loc[mask])
    assert q[torch.tensor([3, 0])].batch_shape == (2, 5)
    assert len(list(q[0])) == 5
    with pytest.raises(IndexError):
        q[0, 0, 0]


def test_independent(exact):
    q = VonMisesFisher(exact.directions(4, 5, 3), 2.0)
    joint = Independent(q, 1)
    assert joint.batch_shape == (4,)
    assert joint.event_shape == (5, 3)
    value = joint.sample()
    torch.testing.assert_close(joint.log_prob(value), q.log_prob(value).sum(-1))
    torch.testing.assert_close(joint.entropy(), q.entropy().sum(-1))


def test_mixture_same_family(exact):
    components = VonMisesFisher(exact.directions(3, 4), torch.tensor([1.0, 9.0, 80.0]).double())
    weights = torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64)
    mixture = MixtureSameFamily(Categorical(weights), components)
    value = mixture.sample((30_000,))
    by_hand = (components.log_prob(value[:, None]).exp() * weights).sum(-1).log()
    torch.testing.assert_close(mixture.log_prob(value), by_hand)
    error = value.mean(0) - mixture.mean
    assert (error.abs() < 5 * (mixture.variance / 30_000).sqrt()).all()


def test_copies(exact):
    q = VonMisesFisher(exact.directions(2, 3), torch.tensor([1.0, 2.0]).double())
    file = io.BytesIO()
    torch.save(q, file)
    file.seek(0)
    for other in (copy.deepcopy(q), pickle.loads(pickle.dumps(q)), torch.load(file)):
        assert type(other) is VonMisesFisher
        assert torch.equal(other.loc, q.loc)
        assert torch.equal(other.concentration, q.concentration)
        assert other.batch_shape == q.batch_shape
        assert other.event_shape == q.event_shape


def test_to_and_repr(exact):
    q = VonMisesFisher(exact.directions(2, 3), 4.0)
    single = q.to(torch.float32)
    assert single.loc.dtype == single.concentration.dtype == torch.float32
    assert single.sample().dtype == torch.float32
    assert repr(q) == "VonMisesFisher(loc: torch.Size([2, 3]), concentration: torch.Size([2]))"
    assert q.to("cpu").loc is q.loc


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_narrow_types(exact, dtype):
    loc = torch.nn.functional.normalize(exact.directions(5, 20, dtype=torch.float32).to(dtype))
    q = VonMisesFisher(loc, torch.full((5,), 30.0, dtype=dtype))
    z = q.rsample()
    assert z.dtype == q.log_prob(z).dtype == q.entropy().dtype == q.mean.dtype == dtype
