# SPDX-License-Identifier: MIT
"""The derivative of the samplers, in reverse and in forward mode, once."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from svmf._derivatives import dot, total_of, widen
from svmf._direction import along_sphere
from svmf._dispatch import Derivative, ops
from svmf._gradients import OF_ONE_SAMPLE, PATHWISE, REJECTION
from svmf._sphere import unit_and_length
from svmf._torch_private import backward_is_differentiated, below_autograd, kernels_of


def _backward() -> Callable:
    return kernels_of(torch.ops.svmf._vmf_rsample_backward.default)


class Sampler(Derivative):
    """z of (loc, kappa), with the KL or the log ratio beside it, and the state [2, ...] of 1-w and
    1+w that the backward op needs.

    A sample moves with loc by the reflection that made it (csrc/math/reflection.h), and with kappa
    along the meridian through mu:

        dz/dkappa = dw/dkappa (mu - w (z - w mu) / (1 - w^2)).
    """

    def __init__(self, has_kl: bool = False, has_log_ratio: bool = False) -> None:
        self._has_kl, self._has_log_ratio = has_kl, has_log_ratio
        self._kl_slope: Any = ops._vmf_kl_uniform_grad.default

    def _gradient(self, options: list) -> int:
        """The number of the estimator, from what follows (loc, kappa, seed)."""
        return OF_ONE_SAMPLE[REJECTION] if self._has_log_ratio else options[1]

    def _fused(
        self, grad_z: Tensor, grad_kl: Any, grad_log_ratio: Any, kept: tuple, gradient: int
    ) -> tuple[Tensor, Tensor]:
        """The gradients in loc and kappa by the backward op."""
        return ops._vmf_rsample_backward.default(grad_z, grad_kl, grad_log_ratio, *kept, gradient)

    def eager(self, kernels: Callable) -> tuple[Callable, Callable]:
        """With as little Python as there can be: at 64 rows it is most of a call. The state is kept
        and not handed out."""
        has_log_ratio, kernels_backward = self._has_log_ratio, _backward()

        def forward(
            ctx: Any, loc: Tensor, kappa: Tensor, seed: Tensor, sample_shape: Any, *rest: Any
        ) -> tuple:
            with below_autograd():
                outputs = kernels(loc, kappa, seed, sample_shape, *rest)
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(outputs[0], outputs[-1], loc, kappa)
            ctx.value = OF_ONE_SAMPLE[REJECTION] if has_log_ratio else rest[0], 4 + len(rest)
            return outputs[:-1]

        def backward(ctx: Any, grad_z: Tensor | None, grad: Tensor | None = None) -> tuple:
            if grad_z is None or backward_is_differentiated():
                return self.backward(ctx, grad_z, grad)
            gradient, inputs = ctx.value
            grad_kl, grad_log_ratio = (None, grad) if has_log_ratio else (grad, None)
            with below_autograd():
                made = kernels_backward(
                    grad_z, grad_kl, grad_log_ratio, *ctx.saved_tensors, gradient
                )
            return made + (None,) * (inputs - 2)

        return forward, backward

    def setup(self, ctx: Any, inputs: tuple, output: tuple) -> None:
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(output[-1])
        super().setup(ctx, inputs, output)

    def keep(self, inputs: tuple, outputs: tuple) -> tuple[tuple, tuple[int, int]]:
        loc, kappa, _, *options = inputs
        return (outputs[0], outputs[-1], loc, kappa), (self._gradient(options), len(inputs))

    def vjp(self, kept: tuple, value: tuple[int, int], needs: tuple, *grads: Any) -> tuple:
        (gradient, inputs), grad_z = value, grads[0]
        grad_kl = grads[1] if self._has_kl else None
        grad_log_ratio = grads[1] if self._has_log_ratio else None
        made = self._backward(kept, gradient, grad_z, grad_kl, grad_log_ratio)
        return *made, *(None,) * (inputs - 2)

    def _backward(
        self, kept: tuple, gradient: int, grad_z: Any, grad_kl: Any, grad_log_ratio: Any
    ) -> tuple[Tensor | None, Tensor | None]:
        z, _, loc, kappa = kept
        if grad_z is None and grad_kl is None and grad_log_ratio is None:
            return None, None
        if grad_kl is not None and (grad_z is None or backward_is_differentiated()):
            # The KL by its own op: alone it needs no sample, and it is differentiable twice.
            in_kappa = grad_kl * self._kl_slope(kappa, loc.shape[-1])
            grad_loc, of_sample = self._backward(kept, gradient, grad_z, None, grad_log_ratio)
            return grad_loc, total_of(in_kappa, of_sample)
        if grad_z is None:
            grad_z = torch.zeros_like(z)
        return self._fused(grad_z, grad_kl, grad_log_ratio, kept, gradient)

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
            in_loc = beta * along + dot(zs - beta * mu, along).unsqueeze(-1) / d * turned
        if along_kappa is not None:
            along = along_kappa.expand(kappas.shape)
            ones = torch.ones_like(kappas) if self._has_log_ratio else None
            each = z, state, locs, kappas
            _, in_w = self._fused(locs.contiguous(), None, None, each, gradient)
            across = torch.where(below * above > 0, below * above, torch.inf).unsqueeze(-1)
            meridian = mu - w * (zs - w * mu) / across
            in_kappa = (along * in_w).unsqueeze(-1).to(wide) * meridian
            if self._has_log_ratio:
                _, in_ratio = self._fused(torch.zeros_like(z), None, ones, each, gradient)
                other = along * in_ratio
        if self._has_kl and along_kappa is not None:
            other = along_kappa * self._kl_slope(kappa, loc.shape[-1])
        total = total_of(in_loc, in_kappa)
        along_z = None if total is None else total.to(z.dtype)
        return (along_z, other, None) if self._has_kl or self._has_log_ratio else (along_z, None)


class FeatureSampler(Sampler):
    """z and the KL of (features, raw_concentration): the direction of the one, and kappa = offset +
    softplus of the other."""

    def __init__(self) -> None:
        super().__init__(has_kl=True)

    def eager(self, kernels: Callable) -> tuple[Callable, Callable]:
        kernels_backward = kernels_of(torch.ops.svmf._vmf_rsample_kl_from_features_backward.default)

        def forward(ctx: Any, features: Tensor, raw: Tensor, *rest: Any) -> tuple:
            with below_autograd():
                z, kl, state = kernels(features, raw, *rest)
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(z, state, features, raw)
            ctx.value = rest[2:4]
            return z, kl

        def backward(ctx: Any, grad_z: Tensor | None, grad_kl: Tensor | None) -> tuple:
            if grad_z is None or backward_is_differentiated():
                return self.backward(ctx, grad_z, grad_kl)
            with below_autograd():
                made = kernels_backward(grad_z, grad_kl, *ctx.saved_tensors, *ctx.value)
            return *made, None, None, None, None, None

        return forward, backward

    def keep(self, inputs: tuple, outputs: tuple) -> tuple[tuple, Any]:
        features, raw, _, _, gradient, offset, _ = inputs
        return (outputs[0], outputs[-1], features, raw), (gradient, offset)

    def vjp(self, kept: tuple, value: tuple[int, float], needs: tuple, *grads: Any) -> tuple:
        grad_z, grad_kl = grads[:2]
        in_features = in_raw = of_kl = None
        if grad_kl is not None and (grad_z is None or backward_is_differentiated()):
            # As in Sampler: the KL by its own op.
            _, _, features, raw = kept
            slope = self._kl_slope(_kappa_of(raw, value[1]), features.shape[-1])
            (wide,) = widen(raw)
            of_kl = (grad_kl * slope * wide.sigmoid()).to(raw.dtype)
            grad_kl = None
        if grad_z is not None:
            op = ops._vmf_rsample_kl_from_features_backward.default
            in_features, in_raw = op(grad_z, grad_kl, *kept, *value)
        return in_features, total_of(in_raw, of_kl), None, None, None, None, None

    def jvp(self, kept: list, value: tuple[int, float], *tangents: Any) -> tuple:
        (z, state, features, raw), (gradient, offset) = kept, value
        features, raw = (t.to(state.dtype) for t in (features, raw))
        unit, length = unit_and_length(features)
        along_features, along_raw = tangents[:2]
        along_loc = None if along_features is None else along_sphere(along_features, unit, length)
        along_kappa = None if along_raw is None else along_raw * raw.sigmoid()
        parameters = z.to(state.dtype), state, unit, _kappa_of(raw, offset)
        along_z, along_kl, _ = super().jvp(list(parameters), (gradient, 0), along_loc, along_kappa)
        return *(None if t is None else t.to(z.dtype) for t in (along_z, along_kl)), None


def _kappa_of(raw: Tensor, offset: float) -> Tensor:
    (wide,) = widen(raw)
    return torch.nn.functional.softplus(wide, threshold=40) + offset


class FamilySampler(Sampler):
    """The same of another family, whose samplers offer one estimator: the pathwise one."""

    def __init__(self, family: str, has_kl: bool) -> None:
        super().__init__(has_kl)
        self._kl_slope = getattr(ops, f"_{family}_kl_uniform_grad").default
        self._backward_op: Any = getattr(ops, f"_{family}_rsample_backward").default

    def eager(self, kernels: Callable) -> tuple[Callable, Callable]:
        return Derivative.eager(self, kernels)

    def _gradient(self, options: list) -> int:
        return OF_ONE_SAMPLE[PATHWISE]

    def _fused(
        self, grad_z: Tensor, grad_kl: Any, grad_log_ratio: Any, kept: tuple, gradient: int
    ) -> tuple[Tensor, Tensor]:
        return self._backward_op(grad_z, grad_kl, *kept)
