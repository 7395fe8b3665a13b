# SPDX-License-Identifier: MIT
"""Derivatives of every op, in the order of csrc/common/ops.inc.

A backward pass is written with ops that are themselves differentiable, so that second
derivatives follow. Where a fused
backward op exists it is used unless a graph of the backward pass is asked for (create_graph=True).
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from svmf._gradients import OF_ONE_SAMPLE, REJECTION
from svmf._pathwise_slope import slope_in_kappa, slope_in_w
from svmf._transforms import ops


def _order_over_x(order: float | Tensor, x: Tensor) -> Tensor | float:
    """v/x, which is no term at all for v = 0."""
    if isinstance(order, Tensor):
        return torch.where(order == 0, torch.zeros_like(x), order / x)
    return order / x if order != 0 else 0.0


def _log_iv_slope(order: float | Tensor, x: Tensor) -> Tensor:
    return ops.iv_ratio(order + 1, x) + _order_over_x(order, x)


def _log_ive_slope(order: float | Tensor, x: Tensor) -> Tensor:
    return _log_iv_slope(order, x) - 1


def _iv_ratio_slope(order: float | Tensor, x: Tensor) -> Tensor:
    return ops._iv_ratio_grad(order, x)


def _iv_ratio_second_slope(order: float | Tensor, x: Tensor) -> Tensor:
    # R' = 1 - R^2 - (2v-1) R/x (DLMF 10.29.2), differentiated once more.
    ratio, slope, c = ops.iv_ratio(order, x), ops._iv_ratio_grad(order, x), 2 * order - 1
    away = torch.where(x == 0, 1, x)
    bend = -2 * ratio * slope - c * (slope - ratio / away) / away
    # The ratio is odd in x, or 2/x + ... for v = 0.
    return torch.where((x == 0) & (ratio == 0), torch.zeros_like(x), bend)


def _register_bessel(packet: Any, slope: Callable) -> None:
    def setup_context(ctx: Any, inputs: tuple, output: Tensor) -> None:
        order, x = inputs
        ctx.order = None if isinstance(order, Tensor) else order
        ctx.save_for_backward(x, *([order] if isinstance(order, Tensor) else []))

    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
        x, *order = ctx.saved_tensors
        return None, grad * slope(order[0] if order else ctx.order, x)

    for overload in (packet.default, packet.tensor):
        overload.register_autograd(backward, setup_context=setup_context)


def _register_kappa(op: Any, slope: Callable[[Tensor, int], Tensor]) -> None:
    def setup_context(ctx: Any, inputs: tuple, output: Tensor) -> None:
        kappa, ctx.dim = inputs
        ctx.save_for_backward(kappa)

    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (kappa,) = ctx.saved_tensors
        return grad * slope(kappa, ctx.dim), None

    op.register_autograd(backward, setup_context=setup_context)


_register_bessel(ops.log_iv, _log_iv_slope)
_register_bessel(ops.log_ive, _log_ive_slope)
_register_bessel(ops.iv_ratio, _iv_ratio_slope)
_register_bessel(ops._iv_ratio_grad, _iv_ratio_second_slope)

_register_kappa(ops.vmf_log_norm.default, lambda k, m: -ops.vmf_mean_length(k, m))
_register_kappa(ops.vmf_log_partition.default, lambda k, m: ops.vmf_mean_length(k, m))
_register_kappa(ops.vmf_mean_length.default, lambda k, m: ops._vmf_mean_length_grad(k, m))
_register_kappa(
    ops.vmf_mean_length_complement.default, lambda k, m: -ops._vmf_mean_length_grad(k, m)
)
_register_kappa(ops._vmf_mean_length_grad.default, lambda k, m: ops._vmf_mean_length_grad2(k, m))
_register_kappa(ops.vmf_kl_uniform.default, lambda k, m: ops._vmf_kl_uniform_grad(k, m))
_register_kappa(ops._vmf_kl_uniform_grad.default, lambda k, m: ops._vmf_kl_uniform_grad2(k, m))
_register_kappa(ops.vmf_entropy.default, lambda k, m: -ops._vmf_kl_uniform_grad(k, m))


def _concentration_setup(ctx: Any, inputs: tuple, output: Tensor) -> None:
    ctx.dim = inputs[1]
    ctx.save_for_backward(output)


def _concentration_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
    (kappa,) = ctx.saved_tensors
    return grad / ops._vmf_mean_length_grad(kappa, ctx.dim), None


ops.vmf_concentration.default.register_autograd(
    _concentration_backward, setup_context=_concentration_setup
)


def _pathwise_setup(ctx: Any, inputs: tuple, output: Tensor) -> None:
    w, kappa, ctx.dim = inputs
    ctx.save_for_backward(w, kappa)


def _pathwise_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
    # The slopes are differences: half types are taken through float32, as in the kernels.
    dtype = grad.dtype
    wide = torch.float32 if dtype in (torch.bfloat16, torch.float16) else dtype
    w, kappa = (t.to(wide) for t in ctx.saved_tensors)
    need_w, need_kappa, _ = ctx.needs_input_grad
    return (
        (grad * slope_in_w(w, kappa, ctx.dim)).to(dtype) if need_w else None,
        (grad * slope_in_kappa(w, kappa, ctx.dim)).to(dtype) if need_kappa else None,
        None,
    )


ops.vmf_pathwise_derivative.default.register_autograd(
    _pathwise_backward, setup_context=_pathwise_setup
)


def _vmf_kl_setup(ctx: Any, inputs: tuple, output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _vmf_kl_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    # KL = L2 - L1 - A1 (k2 - k1) + k2 A1 |mu1 - mu2|^2/2
    loc1, kappa1, loc2, kappa2 = ctx.saved_tensors
    dim = loc1.shape[-1]
    difference = loc1 - loc2
    half_square = difference.square().sum(-1) / 2
    mean1, mean2 = ops.vmf_mean_length(kappa1, dim), ops.vmf_mean_length(kappa2, dim)
    slope1 = ops._vmf_mean_length_grad(kappa1, dim)
    grad_kappa1 = grad * slope1 * (kappa1 - kappa2 + kappa2 * half_square)
    grad_kappa2 = grad * (mean2 - mean1 + mean1 * half_square)
    grad_loc1 = (grad * kappa2 * mean1).unsqueeze(-1) * difference
    return grad_loc1, grad_kappa1, -grad_loc1, grad_kappa2


ops.vmf_kl.default.register_autograd(_vmf_kl_backward, setup_context=_vmf_kl_setup)


def _householder_setup(ctx: Any, inputs: tuple, output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _householder_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    x, loc = ctx.saved_tensors
    if not torch.is_grad_enabled():
        return ops._householder_backward(grad, x, loc)
    # The same in differentiable pieces; the formulas stand in
    # csrc/cpu/kernels/householder_rows.cpp.
    first = torch.zeros_like(loc)
    first[..., 0] = 1
    u = first - loc
    uu = u.square().sum(-1, keepdim=True)
    factor = torch.where(uu == 0, torch.zeros_like(uu), 2 / torch.where(uu == 0, 1, uu))
    c = factor * (u * x).sum(-1, keepdim=True)
    t = factor * (u * grad).sum(-1, keepdim=True)
    return grad - t * u, c * grad + t * (x - c * u)


ops.householder.default.register_autograd(_householder_backward, setup_context=_householder_setup)


def _log_prob_setup(ctx: Any, inputs: tuple, output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _log_prob_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    # log p = -kappa |x - mu|^2/2 + (kappa - L) - log S
    value, loc, kappa = ctx.saved_tensors
    difference = value - loc
    grad_loc = (grad * kappa).unsqueeze(-1) * difference
    complement = ops.vmf_mean_length_complement(kappa, loc.shape[-1])
    grad_kappa = grad * (complement - difference.square().sum(-1) / 2)
    return -grad_loc, grad_loc, grad_kappa


ops.vmf_log_prob.default.register_autograd(_log_prob_backward, setup_context=_log_prob_setup)


def _sampler_backward(
    ctx: Any, grad_z: Tensor | None, grad_kl: Tensor | None, grad_log_ratio: Tensor | None
) -> tuple[Tensor | None, Tensor | None]:
    z, state, loc, kappa = ctx.held.tensors() if hasattr(ctx, "held") else ctx.saved_tensors
    if grad_kl is not None and (grad_z is None or torch.is_grad_enabled()):
        # The KL by its own op: alone it needs no sample, and it is differentiable twice.
        grad_kappa = grad_kl * ops._vmf_kl_uniform_grad.default(kappa, loc.shape[-1])
        if grad_z is None:
            return None, grad_kappa
        grad_loc, of_sample = _sampler_backward(ctx, grad_z, None, None)
        return grad_loc, grad_kappa + of_sample
    if grad_z is None:
        grad_z = torch.zeros_like(z)
    return ops._vmf_rsample_backward.default(
        grad_z, grad_kl, grad_log_ratio, z, state, loc, kappa, ctx.gradient
    )


def _sampler_setup(ctx: Any, inputs: tuple, output: tuple) -> None:
    loc, kappa, _, _, ctx.gradient, _ = inputs
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(output[-1])
    ctx.save_for_backward(output[0], output[-1], loc, kappa)


class _Held:
    """What save_for_backward keeps, with its check for changes in place, but not freed by the first
    backward pass: z and its KL may be differentiated one after the other."""

    def __init__(self, *tensors: Tensor) -> None:
        self._tensors = tensors
        self._versions = [t._version for t in tensors]

    def tensors(self) -> tuple[Tensor, ...]:
        if [t._version for t in self._tensors] != self._versions:
            raise RuntimeError(
                "vmf_rsample_kl: the samples or the parameters were changed in place before the "
                "backward pass, which needs their values"
            )
        return self._tensors


def _rsample_kl_eager_setup(ctx: Any, inputs: tuple, output: tuple) -> None:
    loc, kappa, _, _, ctx.gradient, _ = inputs
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(output[-1])
    ctx.held = _Held(output[0].detach(), output[-1], loc, kappa)


def _rsample_backward(ctx: Any, grad_z: Tensor | None, _: None) -> tuple:
    return *_sampler_backward(ctx, grad_z, None, None), None, None, None, None


def _rsample_kl_backward(ctx: Any, grad_z: Tensor | None, grad_kl: Tensor | None, _: None) -> tuple:
    return *_sampler_backward(ctx, grad_z, grad_kl, None), None, None, None, None


def _correction_setup(ctx: Any, inputs: tuple, output: tuple) -> None:
    loc, kappa, seed, sample_shape, keep_state = inputs
    _sampler_setup(
        ctx, (loc, kappa, seed, sample_shape, OF_ONE_SAMPLE[REJECTION], keep_state), output
    )


def _correction_backward(
    ctx: Any, grad_z: Tensor | None, grad_log_ratio: Tensor | None, _: None
) -> tuple:
    return *_sampler_backward(ctx, grad_z, None, grad_log_ratio), None, None, None


def _not_twice(ctx: Any, *grads: Tensor) -> tuple:
    raise NotImplementedError(
        "svmf: vMF samples are differentiable once. For second derivatives through samples use "
        "svmf.reference, or torch.no_grad() around a first derivative that is meant as a constant."
    )


ops.vmf_rsample.default.register_autograd(_rsample_backward, setup_context=_sampler_setup)
ops.vmf_rsample_kl.default.register_autograd(
    _rsample_kl_backward, setup_context=_sampler_setup, eager_setup=_rsample_kl_eager_setup
)
ops.vmf_rsample_with_correction.default.register_autograd(
    _correction_backward, setup_context=_correction_setup
)
ops._vmf_rsample_backward.default.register_autograd(_not_twice)
