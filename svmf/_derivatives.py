# SPDX-License-Identifier: MIT
"""The derivatives of the deterministic ops; those of densities are in svmf/_density_derivatives.py.

Each is written with ops that are themselves differentiable, so that higher ones follow. Where a
fused backward op exists it is used unless somebody differentiates the backward pass.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from svmf import _slopes as slopes
from svmf._dispatch import Derivative, ops
from svmf._torch_private import backward_is_differentiated, below_autograd

_HALF = (torch.bfloat16, torch.float16)


def widen(*tensors: Tensor) -> list[Tensor]:
    """Half types as float32, as in the kernels: for formulas with differences."""
    return [t.float() if t.dtype in _HALF else t for t in tensors]


# Of this many elements on, torch splits the sum of a single row among its threads.
_SPLIT = 32768


def sum_of_rows(terms: Tensor) -> Tensor:
    """The sum over the last dimension, with bits that depend on the row alone: neither on how the
    rows lie in memory nor on the number of threads, which is why a long row is summed twice."""
    terms = terms.contiguous()
    if terms.numel() != terms.shape[-1] or terms.numel() < _SPLIT:
        return terms.sum(-1)
    return terms.expand(2, *terms.shape).sum(-1)[0]


def dot(a: Tensor, b: Tensor) -> Tensor:
    return sum_of_rows(a * b)


def total_of(*terms: Tensor | None) -> Tensor | None:
    """The sum of the terms that are there."""
    total = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total


class NoDerivative(Derivative):
    """An op that cannot be differentiated, and says why."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def keep(self, inputs: tuple, outputs: Any) -> tuple[tuple, None]:
        return (), None

    def vjp(self, kept: tuple, value: Any, needs: tuple, *grads: Any) -> tuple:
        raise NotImplementedError(self._reason)

    def jvp(self, kept: list, value: Any, *tangents: Any) -> Any:
        raise NotImplementedError(self._reason)


Slope = Callable[[float | Tensor, Tensor], Tensor]


class OfBessel(Derivative):
    """A function of an order and x; the slope in the order is not always there."""

    def __init__(self, slope: Slope, order_slope: Slope | None = None) -> None:
        self._slope, self._order_slope = slope, order_slope

    def keep(self, inputs: tuple, outputs: Tensor) -> tuple[tuple, float | None]:
        order, x = inputs
        return ((x, order), None) if isinstance(order, Tensor) else ((x,), order)

    def _slope_at(self, kept: Any, value: float | None) -> Tensor:
        x, *order = kept
        return self._slope(order[0] if order else value, x)  # type: ignore[arg-type]

    def _order_slope_at(self, kept: Any) -> Tensor:
        if self._order_slope is None:
            raise NotImplementedError("svmf: iv_ratio has no derivative in `order`")
        x, order = kept
        return self._order_slope(order, x)

    def vjp(self, kept: tuple, value: Any, needs: tuple, *grads: Any) -> tuple:
        in_order = grads[0] * self._order_slope_at(kept) if needs[0] else None
        return in_order, grads[0] * self._slope_at(kept, value) if needs[1] else None

    def jvp(self, kept: list, value: Any, *tangents: Any) -> Tensor | None:
        in_order, in_x = tangents
        return total_of(
            None if in_order is None else in_order * self._order_slope_at(kept),
            None if in_x is None else in_x * self._slope_at(kept, value),
        )


class OfKappa(Derivative):
    """A function of kappa and dim with its slope; for the inverse the slope is taken at the
    result."""

    def __init__(self, slope: Callable[[Tensor, int], Tensor], at_result: bool = False) -> None:
        self._slope, self._at_result = slope, at_result

    def keep(self, inputs: tuple, outputs: Tensor) -> tuple[tuple, int]:
        kappa, dim = inputs
        return (outputs if self._at_result else kappa,), dim

    def eager(self, kernels: Callable) -> tuple[Callable, Callable]:
        at_result, slope = self._at_result, self._slope

        def forward(ctx: Any, kappa: Tensor, dim: int) -> Tensor:
            with below_autograd():
                result = kernels(kappa, dim)
            ctx.save_for_backward(result if at_result else kappa)
            ctx.value = dim
            return result

        def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
            if backward_is_differentiated():
                return grad * slope(ctx.saved_tensors[0], ctx.value), None
            with below_autograd():
                return grad * slope(ctx.saved_tensors[0], ctx.value), None

        return forward, backward

    def vjp(self, kept: tuple, dim: int, needs: tuple, *grads: Any) -> tuple:
        return grads[0] * self._slope(kept[0], dim), None

    def jvp(self, kept: list, dim: int, *tangents: Any) -> Tensor:
        return tangents[0] * self._slope(kept[0], dim)


class Pathwise(Derivative):
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
        total = total_of(
            None if in_w is None else in_w * slopes.pathwise_slope_in_w(w, kappa, dim),
            None if in_kappa is None else in_kappa * slopes.pathwise_slope_in_kappa(w, kappa, dim),
        )
        return None if total is None else total.to(kept[0].dtype)


class VmfKl(Derivative):
    """KL = L2 - L1 - A1 (k2 - k1) + k2 A1 |mu1 - mu2|^2/2."""

    def keep(self, inputs: tuple, outputs: Tensor) -> tuple[tuple, None]:
        return inputs, None

    def _partials(self, kept: Any, with_kappa2: bool) -> tuple[Tensor, Tensor, Tensor, Any]:
        """mu1 - mu2, and the partial derivatives: the factor of that in mu1, kappa1, and, if
        wanted (a prior is often fixed), kappa2."""
        loc1, kappa1, loc2, kappa2 = widen(*kept)
        dim, difference = loc1.shape[-1], loc1 - loc2
        half_square = sum_of_rows(difference.square()) / 2
        mean1, slope1 = ops.vmf_mean_length(kappa1, dim), ops._vmf_mean_length_grad(kappa1, dim)
        in_kappa1 = slope1 * (kappa1 - kappa2 + kappa2 * half_square)
        in_kappa2 = None
        if with_kappa2:
            in_kappa2 = slopes.mean_length_difference(kappa1, kappa2, dim) + mean1 * half_square
        return difference, kappa2 * mean1, in_kappa1, in_kappa2

    def vjp(self, kept: tuple, value: None, needs: tuple, *grads: Any) -> tuple:
        (grad,), dtype = grads, grads[0].dtype
        difference, in_loc, in_kappa1, in_kappa2 = self._partials(kept, needs[3])
        grad_loc = ((grad * in_loc).unsqueeze(-1) * difference).to(dtype)
        grad_kappa2 = (grad * in_kappa2).to(dtype) if needs[3] else None
        return grad_loc, (grad * in_kappa1).to(dtype), -grad_loc, grad_kappa2

    def jvp(self, kept: list, value: None, *tangents: Any) -> Tensor | None:
        loc1, kappa1, loc2, kappa2 = tangents
        difference, in_loc, in_kappa1, in_kappa2 = self._partials(kept, kappa2 is not None)
        total = total_of(
            None if loc1 is None else in_loc * dot(difference, loc1),
            None if loc2 is None else -in_loc * dot(difference, loc2),
            None if kappa1 is None else in_kappa1 * kappa1,
            None if kappa2 is None else in_kappa2 * kappa2,
        )
        return None if total is None else total.to(kept[0].dtype)


class Householder(Derivative):
    """y = x - c u with u = e1 - mu and c = 2 (u.x)/(u.u), which is zero for mu = e1."""

    def keep(self, inputs: tuple, outputs: Tensor) -> tuple[tuple, None]:
        return inputs, None

    def _parts(self, x: Tensor, loc: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """u, 2/(u.u) and c."""
        u = torch.cat((1 - loc[..., :1], -loc[..., 1:]), dim=-1)  # not in place, for linearize
        uu = sum_of_rows(u.square()).unsqueeze(-1)
        factor = torch.where(uu == 0, torch.zeros_like(uu), 2 / torch.where(uu == 0, 1, uu))
        return u, factor, factor * dot(u, x).unsqueeze(-1)

    def vjp(self, kept: tuple, value: None, needs: tuple, *grads: Any) -> tuple:
        (grad,), (x, loc) = grads, kept
        if not backward_is_differentiated():
            return ops._householder_backward(grad, x, loc)
        u, factor, c = self._parts(x, loc)
        t = factor * dot(u, grad).unsqueeze(-1)
        return grad - t * u, c * grad + t * (x - c * u)

    def jvp(self, kept: list, value: None, *tangents: Any) -> Tensor | None:
        (x, loc), (along_x, along_loc) = kept, tangents
        u, factor, c = self._parts(x, loc)
        in_x = in_loc = None
        if along_x is not None:
            in_x = along_x - factor * dot(u, along_x).unsqueeze(-1) * u
        if along_loc is not None:
            in_loc = c * along_loc + factor * dot(x - c * u, along_loc).unsqueeze(-1) * u
        return total_of(in_x, in_loc)
