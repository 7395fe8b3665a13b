# SPDX-License-Identifier: MIT
"""Registers derivative and batching rule of every op, kind by kind (svmf/_inventory.py)."""

from collections.abc import Callable, Iterator

from torch import Tensor

from svmf import _density_derivatives as densities
from svmf import _derivatives as derivatives
from svmf import _inventory as inventory
from svmf import _slopes as slopes
from svmf._dispatch import Derivative, ops
from svmf._sampler_derivative import FamilySampler, FeatureSampler, Sampler
from svmf._vmap import all_at_once, one_by_one

_ONCE = (
    "svmf: samples are differentiable once. For second derivatives through samples use "
    "svmf.reference, or torch.no_grad() around a first derivative that is meant as a constant."
)
_TWICE = "svmf: the fused backward pass is not differentiated; with a graph its formula is."

# In x; those in the order are BESSEL_IN_ORDER.
_BESSEL_SLOPES: dict[str, derivatives.Slope] = {
    "log_iv": slopes.log_iv_slope,
    "log_ive": slopes.log_ive_slope,
    "iv_ratio": ops._iv_ratio_grad,
    "_iv_ratio_grad": slopes.iv_ratio_second_slope,
    "log_kv": slopes.log_kv_slope,
    "log_kve": ops._log_kve_grad,
    "_log_kve_grad": ops._log_kve_grad2,
}
_ROWS: dict[str, Derivative] = {
    "vmf_kl": derivatives.VmfKl(),
    "householder": derivatives.Householder(),
    "_householder_backward": derivatives.NoDerivative(_TWICE),
    "vmf_log_prob": densities.LogProb(),
    "spherical_cauchy_log_prob": densities.CauchyLogProb(),
    "power_spherical_log_prob": densities.PowerLogProb(),
}
_SAMPLERS = (Sampler(), Sampler(has_kl=True), Sampler(has_log_ratio=True))


def _named_slope(name: str) -> Callable[[Tensor, int], Tensor]:
    op = getattr(ops, name.removeprefix("-")).default
    return (lambda kappa, dim: -op(kappa, dim)) if name.startswith("-") else op


def _inverse_slope(kappa: Tensor, dim: int) -> Tensor:
    return 1 / ops._vmf_mean_length_grad.default(kappa, dim)


def _of_kappa(op: inventory.OfKappa) -> Derivative:
    if op.slope == inventory.INVERSE:
        return derivatives.OfKappa(_inverse_slope, at_result=True)
    if not op.is_differentiable:
        return derivatives.NoDerivative(op.slope)
    return derivatives.OfKappa(_named_slope(op.slope))


def _of_family(family: inventory.OfFamily) -> Iterator[tuple[str, Derivative]]:
    sample, sample_kl = family.samplers
    yield sample, FamilySampler(family.name, has_kl=False)
    yield sample_kl, FamilySampler(family.name, has_kl=True)
    yield family.backward, derivatives.NoDerivative(_ONCE)


def _of_bessel(name: str) -> Derivative:
    if name in inventory.BESSEL_WITHOUT_SLOPE:
        return derivatives.NoDerivative(inventory.BESSEL_WITHOUT_SLOPE[name])
    in_order = inventory.BESSEL_IN_ORDER.get(name)
    order_slope = None if in_order is None else getattr(ops, in_order)
    return derivatives.OfBessel(_BESSEL_SLOPES[name], order_slope)


def _register() -> None:
    for name in inventory.BESSEL:
        for overload in (getattr(ops, name).default, getattr(ops, name).tensor):
            overload.register(_of_bessel(name), all_at_once(overload))
    made = {op.name: _of_kappa(op) for op in inventory.OF_KAPPA}
    made[inventory.PATHWISE] = derivatives.Pathwise()
    made.update((op.name, _ROWS[op.name]) for op in inventory.OF_ROWS)
    for name, derivative in made.items():
        overload = getattr(ops, name).default
        overload.register(derivative, all_at_once(overload))
    for name, derivative in (
        *zip(inventory.SAMPLERS, _SAMPLERS, strict=True),
        (inventory.SAMPLER_BACKWARD, derivatives.NoDerivative(_ONCE)),
        (inventory.FEATURE_SAMPLER, FeatureSampler()),
        (inventory.FEATURE_SAMPLER_BACKWARD, derivatives.NoDerivative(_ONCE)),
        *(pair for family in inventory.FAMILIES for pair in _of_family(family)),
    ):
        overload = getattr(ops, name).default
        overload.register(derivative, one_by_one(overload))


_register()
