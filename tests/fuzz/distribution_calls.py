# SPDX-License-Identifier: MIT
"""Random calls of every method of every distribution.

With `validate_args` bad values are a ValueError that begins with the class's name; without, they
are nan where they stand. Shapes are those of the batch, samples are unit vectors, moments are
finite, log densities of right arguments are finite.
"""

import math

import torch
from fuzz import values
from fuzz.checks import Finding, eps, require, require_documented
from fuzz.values import Chance
from torch import Tensor
from torch.distributions import kl_divergence

from svmf import distributions as D
from svmf.compat.hyperspherical_vae.distributions import VonMisesFisher as CompatibleVonMisesFisher
from svmf.constraints import UNIT_TOLERANCES

Distribution = torch.distributions.Distribution
LOG_PROBS = ("vmf_log_prob", "power_spherical_log_prob", "spherical_cauchy_log_prob")
DIRECTIONAL = (D.VonMisesFisher, D.VonMisesFisher, D.PowerSpherical, D.SphericalCauchy)


def _are_right(cls: type, loc: Tensor, kappa: Tensor, tolerance: float) -> bool:
    """Unit vectors within a share of the tolerance, and values of the second parameter."""
    norm = torch.linalg.vector_norm(loc.double(), dim=-1)
    unit = (norm - 1).abs() <= UNIT_TOLERANCES[loc.dtype] * tolerance
    bound = 1.0 if cls is D.SphericalCauchy else math.inf
    return bool(unit.all()) and bool(((kappa >= 0) & (kappa < bound)).all())


def _valid(cls: type, loc: Tensor, kappa: Tensor) -> bool:
    """Whether the constructor must accept the values; the edge of the tolerance is left open."""
    return _are_right(cls, loc, kappa, 0.5)


def _invalid(cls: type, loc: Tensor, kappa: Tensor) -> bool:
    """Whether the constructor must reject the values."""
    return not _are_right(cls, loc, kappa, 2)


def _in_domain(q: Distribution) -> bool:
    if isinstance(q, D.SphericalCauchy):
        return bool((q.rho <= 1 - eps(q.loc.dtype)).all())
    return bool((q.concentration <= values.LARGEST_KAPPA[q.loc.dtype]).all())


def _parameters(chance: Chance, cls: type, dim: int = 0) -> tuple[Tensor, Tensor]:
    dtype, dim = chance.pick(values.DTYPES), dim or chance.pick(values.SMALL_DIMS)
    batch = values.batch_shape(chance, dim)
    loc = values.directions(chance, (*batch, dim), dtype)
    shape = chance.pick((batch, batch, (), (*batch, 1), tuple(1 for _ in batch)))
    draw = values.fractions if cls is D.SphericalCauchy else values.concentrations
    kappa = draw(chance, shape, dtype)
    loc, kappa = values.laid_out(chance, loc), values.laid_out(chance, kappa)
    return (
        loc.detach().requires_grad_(chance.one_in(3)),
        kappa.detach().requires_grad_(chance.one_in(2)),
    )


def _make(chance: Chance, dim: int = 0) -> Distribution | None:
    """A distribution, or None where the constructor rightly refused."""
    if chance.one_in(6):
        options = {"dtype": chance.pick(values.DTYPES), "validate_args": chance.one_in(2)}
        dim, batch = dim or chance.pick(values.SMALL_DIMS), values.batch_shape(chance, 100)
        return D.HypersphericalUniform(dim, batch, **options)
    cls = chance.pick(DIRECTIONAL)
    loc, kappa = _parameters(chance, cls, dim)
    checked = chance.pick((True, False, None))
    try:
        q = cls(loc, kappa, validate_args=checked)
    except Exception as error:
        require_documented(error, cls.__name__)
        require(not _valid(cls, loc, kappa), f"right parameters were refused: {error}")
        return None
    refused = checked is not False and loc.numel() and kappa.numel() and _invalid(cls, loc, kappa)
    require(not refused, "wrong parameters were accepted")
    return q


def _is_valid(q: Distribution) -> bool:
    if isinstance(q, D.HypersphericalUniform):
        return True
    return _valid(type(q), q.loc, q.concentration) and _in_domain(q)


def _finite(q: Distribution, result: Tensor, what: str) -> None:
    require(bool(result.isfinite().all()), f"{what} is not finite")


def _shape(result: Tensor, shape: tuple[int, ...], what: str) -> None:
    require(tuple(result.shape) == tuple(shape), f"{what} of shape {list(result.shape)}")


def _dtype(q: Distribution) -> torch.dtype:
    return q._dtype if isinstance(q, D.HypersphericalUniform) else q.loc.dtype


def _samples(chance: Chance, q: Distribution) -> None:
    room = values.ELEMENTS // max(1, q.batch_shape.numel() * q.event_shape[0])
    shape = chance.pick([s for s in ((), (1,), (3,), (2, 2), (0,)) if math.prod(s) <= room] or [()])
    state = torch.get_rng_state()
    options = {}
    if not isinstance(q, D.HypersphericalUniform):
        options["generator"] = chance.pick((None, torch.Generator().manual_seed(chance.seed())))
    method = chance.pick(("rsample", "sample"))
    z = getattr(q, method)(shape, **options)
    _shape(z, (*shape, *q.batch_shape, *q.event_shape), method)
    if options.get("generator") is not None:
        require(torch.equal(state, torch.get_rng_state()), "the global generator was used")
        options["generator"].manual_seed(options["generator"].initial_seed())
        require(torch.equal(q.sample(shape, **options), z) or not _is_valid(q), "not reproducible")
    if _is_valid(q) and z.numel():
        length = torch.linalg.vector_norm(z.detach().double(), dim=-1)
        slack = 64 * eps(_dtype(q)) + UNIT_TOLERANCES[_dtype(q)]
        require(bool(((length - 1).abs() <= slack).all()), "a sample is no unit vector")
    if z.requires_grad:
        wanted = [p for p in (q.loc, q.concentration) if p.requires_grad]
        gradients = torch.autograd.grad(z.sum(), wanted, allow_unused=True)
        for gradient in gradients:
            if gradient is not None and _is_valid(q):
                _finite(q, gradient, "a gradient of a sample")


def _sample_kl(chance: Chance, q: Distribution) -> None:
    if not isinstance(q, D.VonMisesFisher):
        return
    z, kl = q.rsample_kl()
    _shape(z, (*q.batch_shape, *q.event_shape), "rsample_kl")
    _shape(kl, q.batch_shape, "rsample_kl")
    if q.concentration.requires_grad:  # one after the other: both hang on one op
        torch.autograd.grad(kl.sum(), q.concentration, retain_graph=True)
        torch.autograd.grad(z.sum(), q.concentration)


def _log_prob(chance: Chance, q: Distribution) -> None:
    dtype = _dtype(q) if not chance.one_in(10) else chance.pick(values.DTYPES)
    dim = q.event_shape[0] if not chance.one_in(10) else chance.pick(values.SMALL_DIMS)
    batch = q.batch_shape if not chance.one_in(10) else chance.pick(((), (2,), (3, 4), (0,)))
    value = values.laid_out(chance, values.directions(chance, (*batch, dim), dtype))
    name = type(q).__name__
    fits = dtype == _dtype(q) and dim == q.event_shape[0] and batch == q.batch_shape
    unit = torch.linalg.vector_norm(value.double(), dim=-1) - 1
    right = fits and bool((unit.abs() <= UNIT_TOLERANCES[dtype] / 2).all())
    try:
        result = q.log_prob(value)
    except Exception as error:
        require_documented(error, f"{name}.log_prob", *LOG_PROBS)
        require(not right, f"a right value was refused: {error}")
        return
    if right:
        _shape(result, q.batch_shape, "log_prob")
        # The power spherical density is zero opposite to its mean direction.
        if _is_valid(q) and dtype != torch.float16 and not isinstance(q, D.PowerSpherical):
            _finite(q, result, "log_prob")
        require(not _is_valid(q) or not bool(result.isnan().any()), "log_prob is nan")


def _moments(chance: Chance, q: Distribution) -> None:
    names = ["entropy", "mean", "variance", "stddev", "covariance_matrix", "mode"]
    name = chance.pick(names)
    if name == "mode" and isinstance(q, D.HypersphericalUniform):
        return
    if name == "covariance_matrix" and q.batch_shape.numel() * q.event_shape[0] ** 2 > 10**6:
        return
    result = q.entropy() if name == "entropy" else getattr(q, name)
    event = {"entropy": (), "covariance_matrix": (*q.event_shape, *q.event_shape)}
    _shape(result, (*q.batch_shape, *event.get(name, q.event_shape)), name)
    if _is_valid(q):
        _finite(q, result, name)
    if name == "variance" and _is_valid(q):
        require(bool((result >= 0).all()), "a negative variance")


def _kl(chance: Chance, q: Distribution) -> None:
    other: Distribution | None = D.HypersphericalUniform(
        q.event_shape[0] if not chance.one_in(8) else 11
    )
    if chance.one_in(2):
        other = _make(chance, chance.pick((0, q.event_shape[0])))
    if other is None:
        return
    try:
        result = kl_divergence(q, other)
    except NotImplementedError:
        return  # torch's own text for a pair that has no formula
    except Exception as error:
        require_documented(error, "kl_divergence", "vmf_kl")
        return
    both = _is_valid(q) and _is_valid(other)
    if both and torch.float16 not in (_dtype(q), _dtype(other)):
        _finite(q, result, "a KL")


def _kl_by_samples(chance: Chance, q: Distribution) -> None:
    """kl_monte_carlo of any two: an estimate of the right shape, and not below zero by chance."""
    dim = q.event_shape[0]
    other = chance.pick((q, D.HypersphericalUniform(dim), _make(chance, dim), _make(chance)))
    samples = chance.pick((2, 2, 10, 1, 0, -1))
    if other is None or q.batch_shape.numel() * dim > 2000:
        return
    try:
        value, error = D.kl_monte_carlo(q, other, samples)
    except Exception as error:
        checks = [f"{type(one).__name__}.log_prob" for one in (q, other)]
        require_documented(error, "kl_monte_carlo", *checks, *LOG_PROBS)
        return
    require(samples >= 2, f"{samples} samples were enough")
    shape = torch.broadcast_shapes(q.batch_shape, other.batch_shape)
    _shape(value, shape, "kl_monte_carlo")
    _shape(error, shape, "the error of kl_monte_carlo")
    if other is q and _is_valid(q):
        require(bool((value.nan_to_num(0) == 0).all()), "a distribution is not itself")


def _views(chance: Chance, q: Distribution) -> None:
    """expand, indexing, to, repr: they change no value."""
    wide = q.expand((2, *q.batch_shape))
    require(tuple(wide.batch_shape) == (2, *q.batch_shape), "expand")
    require(type(q).__name__ in repr(q), "repr")
    if isinstance(q, D.HypersphericalUniform):
        return
    require(q.to(torch.float64).loc.dtype == torch.float64, "to")
    if q.batch_shape and q.batch_shape[0]:
        index = chance.pick((0, -1, slice(None), ..., slice(0, 0), (..., None)))
        require(q[index].batch_shape == q.concentration[index].shape, "indexing")


def _marginal(chance: Chance, q: Distribution) -> None:
    if not isinstance(q, D.VonMisesFisher) or q.batch_shape.numel() > 2000:
        return
    w = values.cosines(chance, tuple(q.batch_shape), _dtype(q))
    result = q.marginal_cdf(w)
    _shape(result, q.batch_shape, "marginal_cdf")
    if _is_valid(q):
        inside = result[w.abs() <= 1]
        require(bool(((inside >= 0) & (inside <= 1)).all()), "marginal_cdf outside [0, 1]")


def _fit(chance: Chance, q: Distribution) -> None:
    count, dim = chance.pick((0, 1, 2, 7, 50)), q.event_shape[0]
    batch = chance.pick(((), (2,), (3, 0)))
    data = values.laid_out(chance, values.directions(chance, (count, *batch, dim), _dtype(q)))
    weights, cls = None, chance.pick(DIRECTIONAL)
    if cls is D.VonMisesFisher and chance.one_in(2):
        weights = chance.uniform((count,)) * chance.pick((1.0, 0.0, -1.0, math.nan))
    try:
        fitted = cls.fit(data) if weights is None else cls.fit(data, weights)
    except Exception as error:
        require_documented(error, cls.__name__)
        return
    require(_valid(cls, fitted.loc, fitted.concentration), f"{cls.__name__}.fit: {fitted}")
    _shape(fitted.concentration, batch, "fit")


def _undefined(chance: Chance, q: Distribution) -> None:
    """Methods that have no meaning on a sphere refuse in the manner of torch.distributions."""
    value = torch.ones(q.event_shape, dtype=_dtype(q))
    for method in (q.cdf, q.icdf):
        try:
            method(value)
        except NotImplementedError:
            continue
        raise Finding(f"{method.__name__} returned")


def _compatible(chance: Chance, q: Distribution) -> None:
    """The classes with the signatures of the well-known package."""
    loc, kappa = _parameters(chance, D.VonMisesFisher)
    if kappa.dim() != loc.dim() or not _valid(D.VonMisesFisher, loc, kappa.squeeze(-1)):
        return
    old = CompatibleVonMisesFisher(loc, kappa)
    z = old.rsample(chance.pick((1, 2)))
    require(z.shape[1:] == loc.shape, f"samples of shape {list(z.shape)}")
    old.entropy()


METHODS = (
    _samples, _samples, _sample_kl, _log_prob, _log_prob, _moments, _moments, _kl, _kl_by_samples,
    _views, _marginal, _fit, _undefined, _compatible,
)  # fmt: skip


def random_distribution_call(chance: Chance) -> str:
    torch.set_num_threads(chance.pick((1, 1, 2)))
    q = _make(chance)
    if q is None:
        return "constructor refused"
    method = chance.pick(METHODS)
    method(chance, q)
    return f"{type(q).__name__}.{method.__name__.strip('_')} {q}"
