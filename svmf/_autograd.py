# SPDX-License-Identifier: MIT
"""Derivatives and batching rules of every op, registered kind by kind (svmf/_inventory.py).

A derivative is written with ops that are themselves differentiable, so that higher ones follow.
Where a fused backward op exists it is used unless somebody differentiates the backward pass.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from svmf import _inventory as inventory
from svmf import _slopes as slopes
from svmf._dispatch import Derivative, ops
from svmf._gradients import OF_ONE_SAMPLE, REJECTION
from svmf._torch_private import backward_is_differentiated
from svmf._vmap import all_at_once, one_by_one

_HALF = (torch.bfloat16, torch.float16)


def _widen(*tensors: Tensor) -> list[Tensor]:
    """Half types as float32, as in the kernels: for formulas with differences."""
    return [t.float() if t.dtype in _HALF else t for t in tensors]


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


def _total(*terms: Tensor | None) -> Tensor | None:
    """The sum of the terms that are there."""
    total = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total


class _None(Derivative):
    """An op that cannot be differentiated, and says why."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def keep(self, inputs: tuple, outputs: Any) -> tuple[tuple, None]:
        return (), None

    def vjp(self, kept: tuple, value: Any, needs: tuple, *grads: Any) -> tuple:
        raise NotImplementedError(self._reason)

    def jvp(self, kept: list, value: Any, *tangents: Any) -> Any:
        raise NotImplementedError(self._reason)


class _Bessel(Derivative):
    def __init__(self, slope: Callable[[float | Tensor, Tensor], Tensor]) -> None:
        self._slope = slope

    def keep(self, inputs: tuple, outputs: Tensor) -> tuple[tuple, float | None]:
        order, x = inputs
        return ((x, order), None) if isinstance(order, Tensor) else ((x,), order)

    def _slope_at(self, kept: Any, value: float | None) -> Tensor:
        x, *order = kept
        return self._slope(order[0] if order else value, x)  # type: ignore[arg-type]

    def vjp(self, kept: tuple, value: Any, needs: tuple, *grads: Any) -> tuple:
        if needs[0]:
            raise NotImplementedError("svmf: the Bessel functions have no derivative in `order`")
        return None, grads[0] * self._slope_at(kept, value)

    def jvp(self, kept: list, value: Any, *tangents: Any) -> Tensor | None:
        if tangents[0] is not None:
            raise NotImplementedError("svmf: the Bessel functions have no derivative in `order`")
        return None if tangents[1] is None else tangents[1] * self._slope_at(kept, value)


class _OfKappa(Derivative):
    """A function of kappa and dim with its slope; for the inverse the slope is taken at the
    result."""

    def __init__(self, slope: Callable[[Tensor, int], Tensor], at_result: bool = False) -> None:
        self._slope, self._at_result = slope, at_result

    def keep(self, inputs: tuple, outputs: Tensor) -> tuple[tuple, int]:
        kappa, dim = inputs
        return (outputs if self._at_result else kappa,), dim

    def vjp(self, kept: tuple, dim: int, needs: tuple, *grads: Any) -> tuple:
        return grads[0] * self._slope(kept[0], dim), None

    def jvp(self, kept: list, dim: int, *tangents: Any) -> Tensor:
        return tangents[0] * self._slope(kept[0], dim)


def _named_slope(name: str) -> Callable[[Tensor, int], Tensor]:
    op = getattr(ops, name.removeprefix("-")).default
    return (lambda kappa, dim: -op(kappa, dim)) if name.startswith("-") else op


def _inverse_slope(kappa: Tensor, dim: int) -> Tensor:
    return 1 / ops._vmf_mean_length_grad.default(kappa, dim)


class _Pathwise(Derivative):
    """The slopes are differences of differences: they are taken in float64 for every type."""

    def keep(self, inputs: tuple, outputs: Tensor) -> tuple[tuple, int]:
        w, kappa, dim = inputs
        return (w, kappa), dim

    def vjp(self, kept: tuple, dim: int, needs: tuple, *grads: Any) -> tuple:
        (grad,), dtype = grads, grads[0].dtype
        w, kappa = (t.double() for t in kept)
        return (
            (grad * slopes.pathwise_slope_in_w(w, kappa, dim)).to(dtype) if needs[0] else None,
            (grad * slopes.pathwise_slope_in_kappa(w, kappa, dim)).to(dtype) if needs[1] else None,
            None,
        )

    def jvp(self, kept: list, dim: int, *tangents: Any) -> Tensor | None:
        w, kappa = (t.double() for t in kept)
        in_w, in_kappa, _ = tangents
        total = _total(
            None if in_w is None else in_w * slopes.pathwise_slope_in_w(w, kappa, dim),
            None if in_kappa is None else in_kappa * slopes.pathwise_slope_in_kappa(w, kappa, dim),
        )
        return None if total is None else total.to(kept[0].dtype)


class _VmfKl(Derivative):
    """KL = L2 - L1 - A1 (k2 - k1) + k2 A1 |mu1 - mu2|^2/2."""

    def keep(self, inputs: tuple, outputs: Tensor) -> tuple[tuple, None]:
        return inputs, None

    def _partials(self, kept: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """mu1 - mu2, and the partial derivatives: the factor of that in mu1, kappa1, kappa2."""
        loc1, kappa1, loc2, kappa2 = _widen(*kept)
        dim, difference = loc1.shape[-1], loc1 - loc2
        half_square = difference.square().sum(-1) / 2
        mean1, slope1 = ops.vmf_mean_length(kappa1, dim), ops._vmf_mean_length_grad(kappa1, dim)
        return (
            difference,
            kappa2 * mean1,
            slope1 * (kappa1 - kappa2 + kappa2 * half_square),
            slopes.mean_length_difference(kappa1, kappa2, dim) + mean1 * half_square,
        )

    def vjp(self, kept: tuple, value: None, needs: tuple, *grads: Any) -> tuple:
        (grad,), dtype = grads, grads[0].dtype
        difference, in_loc, in_kappa1, in_kappa2 = self._partials(kept)
        grad_loc = ((grad * in_loc).unsqueeze(-1) * difference).to(dtype)
        return grad_loc, (grad * in_kappa1).to(dtype), -grad_loc, (grad * in_kappa2).to(dtype)

    def jvp(self, kept: list, value: None, *tangents: Any) -> Tensor | None:
        loc1, kappa1, loc2, kappa2 = tangents
        difference, in_loc, in_kappa1, in_kappa2 = self._partials(kept)
        total = _total(
            None if loc1 is None else in_loc * _dot(difference, loc1),
            None if loc2 is None else -in_loc * _dot(difference, loc2),
            None if kappa1 is None else in_kappa1 * kappa1,
            None if kappa2 is None else in_kappa2 * kappa2,
        )
        return None if total is None else total.to(kept[0].dtype)


class _LogProb(Derivative):
    """log p = -kappa |x - mu|^2/2 + (kappa - L) - log S."""

    def keep(self, inputs: tuple, outputs: Tensor) -> tuple[tuple, None]:
        return inputs, None

    def _partials(self, kept: Any) -> tuple[Tensor, Tensor, Tensor]:
        """x - mu, kappa, and the partial derivative in kappa."""
        value, loc, kappa = _widen(*kept)
        difference = value - loc
        complement = ops.vmf_mean_length_complement(kappa, loc.shape[-1])
        return difference, kappa, complement - difference.square().sum(-1) / 2

    def vjp(self, kept: tuple, value: None, needs: tuple, *grads: Any) -> tuple:
        (grad,), dtype = grads, grads[0].dtype
        difference, kappa, in_kappa = self._partials(kept)
        grad_loc = ((grad * kappa).unsqueeze(-1) * difference).to(dtype)
        return -grad_loc, grad_loc, (grad * in_kappa).to(dtype)

    def jvp(self, kept: list, value: None, *tangents: Any) -> Tensor | None:
        along_value, along_loc, along_kappa = tangents
        difference, kappa, in_kappa = self._partials(kept)
        total = _total(
            None if along_value is None else -kappa * _dot(difference, along_value),
            None if along_loc is None else kappa * _dot(difference, along_loc),
            None if along_kappa is None else in_kappa * along_kappa,
        )
        return None if total is None else total.to(kept[0].dtype)


class _Householder(Derivative):
    """y = x - c u with u = e1 - mu and c = 2 (u.x)/(u.u), which is zero for mu = e1."""

    def keep(self, inputs: tuple, outputs: Tensor) -> tuple[tuple, None]:
        return inputs, None

    def _parts(self, x: Tensor, loc: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """u, 2/(u.u) and c."""
        u = torch.cat((1 - loc[..., :1], -loc[..., 1:]), dim=-1)  # not in place, for linearize
        uu = u.square().sum(-1, keepdim=True)
        factor = torch.where(uu == 0, torch.zeros_like(uu), 2 / torch.where(uu == 0, 1, uu))
        return u, factor, factor * _dot(u, x).unsqueeze(-1)

    def vjp(self, kept: tuple, value: None, needs: tuple, *grads: Any) -> tuple:
        (grad,), (x, loc) = grads, kept
        if not backward_is_differentiated():
            return ops._householder_backward(grad, x, loc)
        u, factor, c = self._parts(x, loc)
        t = factor * _dot(u, grad).unsqueeze(-1)
        return grad - t * u, c * grad + t * (x - c * u)

    def jvp(self, kept: list, value: None, *tangents: Any) -> Tensor | None:
        (x, loc), (along_x, along_loc) = kept, tangents
        u, factor, c = self._parts(x, loc)
        in_x = in_loc = None
        if along_x is not None:
            in_x = along_x - factor * _dot(u, along_x).unsqueeze(-1) * u
        if along_loc is not None:
            in_loc = c * along_loc + factor * _dot(x - c * u, along_loc).unsqueeze(-1) * u
        return _total(in_x, in_loc)


class _Sampler(Derivative):
    """z of (loc, kappa), with the KL or the log ratio beside it, and the state [2, ...] of 1-w and
    1+w that the backward op needs.

    A sample moves with loc by the reflection that made it (csrc/math/reflection.h), and with kappa
    along the meridian through mu:

        dz/dkappa = dw/dkappa (mu - w (z - w mu) / (1 - w^2)).
    """

    def __init__(self, has_kl: bool = False, has_log_ratio: bool = False) -> None:
        self._has_kl, self._has_log_ratio = has_kl, has_log_ratio

    def setup(self, ctx: Any, inputs: tuple, outputs: tuple) -> None:
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(outputs[-1])
        super().setup(ctx, inputs, outputs)

    def keep(self, inputs: tuple, outputs: tuple) -> tuple[tuple, tuple[int, int]]:
        loc, kappa, *rest = inputs
        gradient = OF_ONE_SAMPLE[REJECTION] if self._has_log_ratio else rest[2]
        return (outputs[0], outputs[-1], loc, kappa), (gradient, len(inputs))

    def vjp(self, kept: tuple, value: tuple[int, int], needs: tuple, *grads: Any) -> tuple:
        (gradient, inputs), grad_z = value, grads[0]
        grad_kl = grads[1] if self._has_kl else None
        grad_log_ratio = grads[1] if self._has_log_ratio else None
        made = self._backward(kept, gradient, grad_z, grad_kl, grad_log_ratio)
        return *made, *(None,) * (inputs - 2)

    def _backward(
        self, kept: tuple, gradient: int, grad_z: Any, grad_kl: Any, grad_log_ratio: Any
    ) -> tuple[Tensor | None, Tensor | None]:
        z, state, loc, kappa = kept
        if grad_z is None and grad_kl is None and grad_log_ratio is None:
            return None, None
        if grad_kl is not None and (grad_z is None or backward_is_differentiated()):
            # The KL by its own op: alone it needs no sample, and it is differentiable twice.
            in_kappa = grad_kl * ops._vmf_kl_uniform_grad.default(kappa, loc.shape[-1])
            grad_loc, of_sample = self._backward(kept, gradient, grad_z, None, grad_log_ratio)
            return grad_loc, _total(in_kappa, of_sample)
        if grad_z is None:
            grad_z = torch.zeros_like(z)
        return ops._vmf_rsample_backward.default(
            grad_z, grad_kl, grad_log_ratio, z, state, loc, kappa, gradient
        )

    def jvp(self, kept: list, value: tuple[int, int], *tangents: Any) -> tuple:
        (z, state, loc, kappa), (gradient, _) = kept, value
        along_loc, along_kappa = tangents[:2]
        if state.shape[0] == 0:
            raise RuntimeError(
                "svmf: a sample that was drawn under torch.no_grad in compiled code keeps nothing "
                "for forward-mode derivatives"
            )
        # One row per sample, so that the backward op gives the derivatives of each.
        locs, kappas = loc.expand(z.shape), kappa.expand(z.shape[:-1])
        wide = state.dtype
        below, above = state
        w = ((above - below) / 2).unsqueeze(-1)
        zs, mu = z.to(wide), locs.to(wide)
        in_loc = in_kappa = other = None
        if along_loc is not None:
            along = along_loc.expand(z.shape).to(wide)
            sign = torch.where(mu[..., :1] < 0, 1.0, -1.0).to(wide)
            d = 1 + mu[..., :1].abs()
            beta = (w - sign * zs[..., :1]) / d
            turned = torch.nn.functional.pad(sign, (0, z.shape[-1] - 1)) - mu
            in_loc = beta * along + _dot(zs - beta * mu, along).unsqueeze(-1) / d * turned
        if along_kappa is not None:
            along = along_kappa.expand(kappas.shape)
            ones = torch.ones_like(kappas) if self._has_log_ratio else None
            arguments = z, state, locs, kappas, gradient
            backward = ops._vmf_rsample_backward.default
            _, in_w = backward(locs.contiguous(), None, None, *arguments)
            across = torch.where(below * above > 0, below * above, torch.inf).unsqueeze(-1)
            meridian = mu - w * (zs - w * mu) / across
            in_kappa = (along * in_w).unsqueeze(-1).to(wide) * meridian
            if self._has_log_ratio:
                _, in_ratio = backward(torch.zeros_like(z), None, ones, *arguments)
                other = along * in_ratio
        if self._has_kl and along_kappa is not None:
            other = along_kappa * ops._vmf_kl_uniform_grad.default(kappa, loc.shape[-1])
        total = _total(in_loc, in_kappa)
        along_z = None if total is None else total.to(z.dtype)
        return (along_z, other, None) if self._has_kl or self._has_log_ratio else (along_z, None)


_ONCE = (
    "svmf: vMF samples are differentiable once. For second derivatives through samples use "
    "svmf.reference, or torch.no_grad() around a first derivative that is meant as a constant."
)
_TWICE = "svmf: the fused backward pass is not differentiated; with a graph its formula is."

_BESSEL_SLOPES = (
    slopes.log_iv_slope,
    slopes.log_ive_slope,
    slopes.iv_ratio_slope,
    slopes.iv_ratio_second_slope,
)
_ROWS: dict[str, Derivative] = {
    "vmf_kl": _VmfKl(),
    "householder": _Householder(),
    "_householder_backward": _None(_TWICE),
    "vmf_log_prob": _LogProb(),
}
_SAMPLERS = (_Sampler(), _Sampler(has_kl=True), _Sampler(has_log_ratio=True))


def _of_kappa(op: inventory.OfKappa) -> Derivative:
    if op.slope == inventory.INVERSE:
        return _OfKappa(_inverse_slope, at_result=True)
    return _OfKappa(_named_slope(op.slope)) if op.is_differentiable else _None(op.slope)


def _register() -> None:
    for name, slope in zip(inventory.BESSEL, _BESSEL_SLOPES, strict=True):
        for overload in (getattr(ops, name).default, getattr(ops, name).tensor):
            overload.register(_Bessel(slope), all_at_once(overload))
    derivatives = {op.name: _of_kappa(op) for op in inventory.OF_KAPPA}
    derivatives[inventory.PATHWISE] = _Pathwise()
    derivatives.update((op.name, _ROWS[op.name]) for op in inventory.OF_ROWS)
    for name, derivative in derivatives.items():
        overload = getattr(ops, name).default
        overload.register(derivative, all_at_once(overload))
    for name, derivative in (
        *zip(inventory.SAMPLERS, _SAMPLERS, strict=True),
        (inventory.SAMPLER_BACKWARD, _None(_ONCE)),
    ):
        overload = getattr(ops, name).default
        overload.register(derivative, one_by_one(overload))


_register()
