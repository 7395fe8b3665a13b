# SPDX-License-Identifier: MIT
"""Functions of the von Mises-Fisher, the spherical Cauchy and the power spherical distribution,
each over one torch op (torch.ops.svmf.*).

m is the ambient dimension everywhere: the sphere is S^(m-1) in R^m, and `dim` is m.

Rows are independent: a nan or a value outside the domain gives nan in that row alone. float32 and
float64 are computed in their own arithmetic, bfloat16 and float16 in float32. All functions are
differentiable in every floating argument, in reverse and in forward mode, and, samplers apart,
twice; in `order` only the logarithms of Bessel functions are, and once. A derivative that is not
offered raises. Accuracy is stated and tested: docs/math.md.
"""

from collections.abc import Sequence
from functools import reduce

import torch
from torch import Tensor

from svmf import _library  # noqa: F401  (registers the ops)
from svmf._dispatch import Packet
from svmf._dispatch import ops as _ops
from svmf._gradients import PATHWISE, check_gradient_of_sample

__all__ = [
    "householder",
    "iv_ratio",
    "log_iv",
    "log_iv_order_derivative",
    "log_ive",
    "log_kv",
    "log_kv_order_derivative",
    "log_kve",
    "power_spherical_kl_uniform",
    "power_spherical_log_partition",
    "power_spherical_log_prob",
    "power_spherical_rsample",
    "power_spherical_rsample_kl",
    "spherical_cauchy_kl_uniform",
    "spherical_cauchy_log_prob",
    "spherical_cauchy_mean_length",
    "spherical_cauchy_rsample",
    "spherical_cauchy_rsample_kl",
    "vmf_concentration",
    "vmf_entropy",
    "vmf_kl",
    "vmf_kl_uniform",
    "vmf_log_norm",
    "vmf_log_partition",
    "vmf_log_prob",
    "vmf_mean_length",
    "vmf_mean_length_complement",
    "vmf_pathwise_derivative",
    "vmf_rsample",
    "vmf_rsample_kl",
    "vmf_rsample_kl_from_features",
    "vmf_rsample_with_correction",
]


def _cannot_broadcast(op: str, **arguments: object) -> Exception:
    """The error for arguments that are no tensors, or whose shapes do not fit."""
    for name, given in arguments.items():
        if not isinstance(given, Tensor):
            return TypeError(f"{op}: expected `{name}` to be a tensor, got {type(given).__name__}")
    shapes = (f"`{n}` {list(t.shape)}" for n, t in arguments.items() if isinstance(t, Tensor))
    return RuntimeError(f"{op}: expected shapes that broadcast, got {', '.join(shapes)}")


def _one_type(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors, under autocast in the widest of their types: it mixes types by itself."""
    first = tensors[0]
    if all(t.dtype == first.dtype for t in tensors) or not torch.is_autocast_enabled(
        first.device.type
    ):
        return tensors
    widest = reduce(torch.promote_types, (t.dtype for t in tensors))
    return tuple(t.to(widest) for t in tensors)


def _bessel(op: Packet, order: float | Tensor, x: Tensor) -> Tensor:
    name = op.name
    if isinstance(order, Tensor):
        try:
            order, x = torch.broadcast_tensors(*_one_type(order, x))
        except (AttributeError, RuntimeError, TypeError):
            raise _cannot_broadcast(name, order=order, x=x) from None
        return op.tensor(order, x)
    try:
        number = float(order)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name}: expected `order` to be a number or a tensor, got {type(order).__name__}"
        ) from None
    return op.default(number, x)


def log_iv(order: float | Tensor, x: Tensor) -> Tensor:
    """log I_v(x), the logarithm of the modified Bessel function of the first kind.

    order: real, >= 0; a number (fast) or a tensor broadcast with x, which may ask for a gradient.
    x: >= 0.
    """
    return _bessel(_ops.log_iv, order, x)


def log_ive(order: float | Tensor, x: Tensor) -> Tensor:
    """log(e^-x I_v(x)), which neither overflows nor loses digits for large x."""
    return _bessel(_ops.log_ive, order, x)


def iv_ratio(order: float | Tensor, x: Tensor) -> Tensor:
    """I_v(x) / I_(v-1)(x), order v >= 0 (for v = 0 the denominator is I_(-1) = I_1)."""
    return _bessel(_ops.iv_ratio, order, x)


def log_kv(order: float | Tensor, x: Tensor) -> Tensor:
    """log K_v(x), the logarithm of the modified Bessel function of the second kind.

    order: real, >= 0 (K_-v = K_v); a number or a tensor broadcast with x, which may ask for a
    gradient. x: >= 0; inf at x = 0.
    """
    return _bessel(_ops.log_kv, order, x)


def log_kve(order: float | Tensor, x: Tensor) -> Tensor:
    """log(e^x K_v(x)), which keeps its digits for large x."""
    return _bessel(_ops.log_kve, order, x)


def log_iv_order_derivative(order: float | Tensor, x: Tensor) -> Tensor:
    """d/dv log I_v(x), which is at most 0; the same for log_ive. It has no derivative itself."""
    return _bessel(_ops.log_iv_order_derivative, order, x)


def log_kv_order_derivative(order: float | Tensor, x: Tensor) -> Tensor:
    """d/dv log K_v(x), which is at least 0; the same for log_kve. It has no derivative itself."""
    return _bessel(_ops.log_kv_order_derivative, order, x)


def vmf_log_norm(kappa: Tensor, dim: int) -> Tensor:
    """log C_m(kappa), so that the density is C_m(kappa) exp(kappa mu.z)."""
    return _ops.vmf_log_norm.default(kappa, dim)


def vmf_log_partition(kappa: Tensor, dim: int) -> Tensor:
    """The logarithm of the partition function relative to the uniform distribution,

    L(kappa) = log E[exp(kappa mu.z)] for uniform z,    log C_m = -L - log(surface area).
    """
    return _ops.vmf_log_partition.default(kappa, dim)


def vmf_mean_length(kappa: Tensor, dim: int) -> Tensor:
    """A_m(kappa) = I_(m/2)(kappa)/I_(m/2-1)(kappa) = E[mu.z]."""
    return _ops.vmf_mean_length.default(kappa, dim)


def vmf_mean_length_complement(kappa: Tensor, dim: int) -> Tensor:
    """1 - A_m(kappa), to full relative precision also where A rounds to 1."""
    return _ops.vmf_mean_length_complement.default(kappa, dim)


def vmf_kl_uniform(kappa: Tensor, dim: int) -> Tensor:
    """KL(vMF(mu, kappa) || uniform on the sphere)."""
    return _ops.vmf_kl_uniform.default(kappa, dim)


def vmf_entropy(kappa: Tensor, dim: int) -> Tensor:
    """Differential entropy with respect to the surface measure of the sphere."""
    return _ops.vmf_entropy.default(kappa, dim)


def vmf_concentration(mean_length: Tensor, dim: int) -> Tensor:
    """The kappa with A_m(kappa) = mean_length, the maximum-likelihood estimate."""
    return _ops.vmf_concentration.default(mean_length, dim)


def vmf_pathwise_derivative(w: Tensor, kappa: Tensor, dim: int) -> Tensor:
    """How w = mu.z moves with kappa at a fixed quantile, the implicit reparameterisation

        dw/dkappa = -(dF/dkappa) / g,

    with F the distribution function and g the density of w. Right where samples fall: where g is
    above e^-40 of its largest value.
    """
    try:
        w, kappa = torch.broadcast_tensors(*_one_type(w, kappa))
    except (AttributeError, RuntimeError, TypeError):
        raise _cannot_broadcast("vmf_pathwise_derivative", w=w, kappa=kappa) from None
    return _ops.vmf_pathwise_derivative.default(w, kappa, dim)


def vmf_kl(loc1: Tensor, kappa1: Tensor, loc2: Tensor, kappa2: Tensor) -> Tensor:
    """KL(vMF(loc1, kappa1) || vMF(loc2, kappa2)); batch shapes broadcast."""
    try:
        loc1, kappa1, loc2, kappa2 = _one_type(loc1, kappa1, loc2, kappa2)
        batch = torch.broadcast_shapes(loc1.shape[:-1], kappa1.shape, loc2.shape[:-1], kappa2.shape)
    except (AttributeError, RuntimeError):
        raise _cannot_broadcast(
            "vmf_kl", loc1=loc1, kappa1=kappa1, loc2=loc2, kappa2=kappa2
        ) from None
    return _ops.vmf_kl.default(
        loc1.expand((*batch, *loc1.shape[-1:])),
        kappa1.expand(batch),
        loc2.expand((*batch, *loc2.shape[-1:])),
        kappa2.expand(batch),
    )


def householder(x: Tensor, loc: Tensor) -> Tensor:
    """The reflection that takes e1 to `loc`, applied to x in O(m).

    Both are [..., m], `loc` of unit length. At loc = e1, where the reflection is not defined, it is
    the identity.
    """
    try:
        x, loc = torch.broadcast_tensors(*_one_type(x, loc))
    except (AttributeError, RuntimeError, TypeError):
        raise _cannot_broadcast("householder", x=x, loc=loc) from None
    return _ops.householder.default(x, loc)


def _rows(
    op: str, loc: Tensor, kappa: Tensor, name: str = "kappa", loc_name: str = "loc"
) -> tuple[Tensor, Tensor]:
    """loc [*batch, m] and kappa [*batch], by whatever names, with one batch shape."""
    try:
        if kappa.dtype != loc.dtype:
            loc, kappa = _one_type(loc, kappa)
        if kappa.shape == loc.shape[:-1]:
            return loc, kappa
        batch = torch.broadcast_shapes(loc.shape[:-1], kappa.shape)
    except (AttributeError, RuntimeError):
        raise _cannot_broadcast(op, **{loc_name: loc, name: kappa}) from None
    return loc.expand((*batch, *loc.shape[-1:])), kappa.expand(batch)


def _log_prob(op: Packet, value: Tensor, loc: Tensor, kappa: Tensor, name: str = "kappa") -> Tensor:
    try:
        value, loc, kappa = _one_type(value, loc, kappa)
        batch = torch.broadcast_shapes(value.shape[:-1], loc.shape[:-1], kappa.shape)
    except (AttributeError, RuntimeError):
        raise _cannot_broadcast(op.name, **{"value": value, "loc": loc, name: kappa}) from None
    return op.default(
        value.expand((*batch, *value.shape[-1:])),
        loc.expand((*batch, *loc.shape[-1:])),
        kappa.expand(batch),
    )


def vmf_log_prob(value: Tensor, loc: Tensor, kappa: Tensor) -> Tensor:
    """Log density at the unit vectors `value` [..., m]; batch shapes broadcast."""
    return _log_prob(_ops.vmf_log_prob, value, loc, kappa)


def vmf_rsample(
    loc: Tensor,
    kappa: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    gradient: str = PATHWISE,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Samples [*sample_shape, *batch, m] of vMF(loc, kappa), differentiable in loc and kappa.

    Args:
        loc: unit vectors [*batch, m].
        kappa: >= 0, broadcast with the batch; 0 is the uniform distribution.
        gradient: "pathwise" (implicit reparameterisation, unbiased) or "rejection" (through the
            accepted proposal alone, as published code does it: biased in kappa).
        generator: where the seed is drawn from; the global generator of the device by default.
    """
    loc, kappa = _rows("vmf_rsample", loc, kappa)
    number = check_gradient_of_sample("vmf_rsample", gradient)
    draw = _ops.vmf_rsample.default.with_new_seed
    return draw(loc, kappa, generator, sample_shape, number)[0]


def vmf_rsample_kl(
    loc: Tensor,
    kappa: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    gradient: str = PATHWISE,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Samples, and KL to the uniform distribution [*batch], in one op with one graph: the latent
    part of a training step."""
    loc, kappa = _rows("vmf_rsample_kl", loc, kappa)
    number = check_gradient_of_sample("vmf_rsample_kl", gradient)
    draw = _ops.vmf_rsample_kl.default.with_new_seed
    return draw(loc, kappa, generator, sample_shape, number)[:2]


def vmf_rsample_kl_from_features(
    features: Tensor,
    raw_concentration: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    gradient: str = PATHWISE,
    offset: float = 1.0,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """`vmf_rsample_kl` from what an encoder gives, in one op with one graph: all between a network
    and its loss.

    Args:
        features: vectors [*batch, m] of any length, whose directions are loc. Zero points along the
            first axis, and vectors shorter than 0.01 have the gradient of that length.
        raw_concentration: real numbers, broadcast with the batch;
            kappa = offset + softplus(raw_concentration).
        offset: the smallest kappa, >= 0.
        gradient, generator: as in `vmf_rsample`.

    The blocks of one wide layer, as `torch.split` gives them, are read where they stand.
    """
    name = "vmf_rsample_kl_from_features"
    features, raw = _rows(name, features, raw_concentration, "raw_concentration", "features")
    number = check_gradient_of_sample(name, gradient)
    draw = _ops.vmf_rsample_kl_from_features.default.with_new_seed
    return draw(features, raw, generator, sample_shape, number, offset)[:2]


def vmf_rsample_with_correction(
    loc: Tensor,
    kappa: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """The estimator of Davidson et al. (2018): samples that carry g_rep, and a log_ratio of shape
    [*sample_shape, *batch].

    log_ratio has the value 0 and the gradient d/dkappa log(g/r) of the accepted proposal, so that

        f(z) + f(z).detach() * log_ratio

    has the unbiased gradient g_rep + g_cor.
    """
    loc, kappa = _rows("vmf_rsample_with_correction", loc, kappa)
    draw = _ops.vmf_rsample_with_correction.default.with_new_seed
    return draw(loc, kappa, generator, sample_shape)[:2]


def spherical_cauchy_kl_uniform(rho: Tensor, dim: int) -> Tensor:
    """KL(spherical Cauchy(mu, rho) || uniform on the sphere), the same either way round."""
    return _ops.spherical_cauchy_kl_uniform.default(rho, dim)


def spherical_cauchy_mean_length(rho: Tensor, dim: int) -> Tensor:
    """E[mu.z] of a spherical Cauchy vector."""
    return _ops.spherical_cauchy_mean_length.default(rho, dim)


def spherical_cauchy_log_prob(value: Tensor, loc: Tensor, rho: Tensor) -> Tensor:
    """Log density at the unit vectors `value` [..., m]; batch shapes broadcast."""
    return _log_prob(_ops.spherical_cauchy_log_prob, value, loc, rho, "rho")


def spherical_cauchy_rsample(
    loc: Tensor,
    rho: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Samples [*sample_shape, *batch, m] of the spherical Cauchy distribution, differentiable in
    loc and rho: the Moebius map

        z = (1 - rho^2) / |u + rho mu|^2 (u + rho mu) + rho mu

    of a uniform vector u. loc: unit vectors [*batch, m]; rho: in [0, 1), broadcast with the batch.
    """
    loc, rho = _rows("spherical_cauchy_rsample", loc, rho, "rho")
    return _ops.spherical_cauchy_rsample.default.with_new_seed(loc, rho, generator, sample_shape)[0]


def spherical_cauchy_rsample_kl(
    loc: Tensor,
    rho: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Samples, and KL to the uniform distribution [*batch], in one op with one graph."""
    loc, rho = _rows("spherical_cauchy_rsample_kl", loc, rho, "rho")
    draw = _ops.spherical_cauchy_rsample_kl.default.with_new_seed
    z, kl = draw(loc, rho, generator, sample_shape)[:2]
    return z, kl


def power_spherical_kl_uniform(kappa: Tensor, dim: int) -> Tensor:
    """KL(power spherical(mu, kappa) || uniform on the sphere)."""
    return _ops.power_spherical_kl_uniform.default(kappa, dim)


def power_spherical_log_partition(kappa: Tensor, dim: int) -> Tensor:
    """log E[((1 + mu.z) / 2)^kappa] for uniform z: minus it, log((1 + mu.z) / 2) times kappa, and
    minus the log surface area make the log density."""
    return _ops.power_spherical_log_partition.default(kappa, dim)


def power_spherical_log_prob(value: Tensor, loc: Tensor, kappa: Tensor) -> Tensor:
    """Log density at the unit vectors `value` [..., m]; batch shapes broadcast."""
    return _log_prob(_ops.power_spherical_log_prob, value, loc, kappa)


def power_spherical_rsample(
    loc: Tensor,
    kappa: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Samples [*sample_shape, *batch, m] of the power spherical distribution, differentiable in loc
    and kappa by implicit reparameterisation. loc: unit vectors [*batch, m]; kappa: >= 0, broadcast
    with the batch; 0 is the uniform distribution."""
    loc, kappa = _rows("power_spherical_rsample", loc, kappa)
    draw = _ops.power_spherical_rsample.default.with_new_seed
    return draw(loc, kappa, generator, sample_shape)[0]


def power_spherical_rsample_kl(
    loc: Tensor,
    kappa: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Samples, and KL to the uniform distribution [*batch], in one op with one graph."""
    loc, kappa = _rows("power_spherical_rsample_kl", loc, kappa)
    draw = _ops.power_spherical_rsample_kl.default.with_new_seed
    z, kl = draw(loc, kappa, generator, sample_shape)[:2]
    return z, kl


def mean_length_slope(kappa: Tensor, dim: int) -> Tensor:
    """A_m'(kappa), the variance of mu.z. For the moments of `svmf.distributions`."""
    return _ops._vmf_mean_length_grad.default(kappa, dim)


def spherical_cauchy_mean_length_slope(rho: Tensor, dim: int) -> Tensor:
    """The derivative of `spherical_cauchy_mean_length`: 2 E[1 - w^2] / (1 - rho^2)."""
    return _ops._spherical_cauchy_mean_length_grad.default(rho, dim)


def power_spherical_mean_log_half(kappa: Tensor, dim: int) -> Tensor:
    """E[log((1 + mu.z) / 2)] of a power spherical vector: the derivative of its log partition. For
    `PowerSpherical.fit`."""
    return _ops._power_spherical_log_partition_grad.default(kappa, dim)


def parameter_range(loc: Tensor, kappa: Tensor) -> tuple[float, float, float, float]:
    """The least and largest norm of a row of `loc`, the least and largest `kappa`; nan if any is.

    For the checks of `svmf.distributions`. loc [*batch, m] and kappa [*batch], not empty.
    """
    if loc.is_cpu:
        return _ops._parameter_range.default(loc, kappa)
    norm = torch.linalg.vector_norm(loc.detach(), dim=-1)
    bounds = torch.stack((*norm.aminmax(), *kappa.detach().aminmax())).tolist()  # one copy
    return bounds[0], bounds[1], bounds[2], bounds[3]
