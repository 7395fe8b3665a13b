# SPDX-License-Identifier: MIT
"""The direction of a raw vector of any length, safe where there is none.

A zero vector has no direction, and beside it the derivative of x / |x| grows as 1 / |x|: one blank
image in the first batch gave a gradient of 1e9, which Adam's second moment remembers for the rest
of a run. Here zero points along the first axis, and the derivative is that of a vector of length
`SHORTEST` wherever a vector is shorter: along the sphere as it should be, but bounded.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from svmf import _torch_private as private
from svmf._sphere import LONG, short, unit_and_length

SHORTEST = 0.01


def direction(raw: Tensor) -> Tensor:
    """Unit rows in the direction of `raw` [..., m]; the first axis where it is zero."""
    if torch.compiler.is_compiling():  # a compiler fuses the plain formula as well
        return _plain_direction(raw)
    if raw.is_cpu and private.plain_eager():
        return _PlainDirection.apply(private.unwrap_if_dead(raw))  # type: ignore[no-any-return]
    return _Direction.apply(raw)[0]  # type: ignore[no-any-return]


def _plain_direction(raw: Tensor) -> Tensor:
    """The definition: as a function of x near x0, the direction of x0 / |x0| + (x - x0) / L with
    L = |x0|, which is that of x; but L = SHORTEST where x0 is short."""
    here = raw.detach()
    unit, length = unit_and_length(here)
    return F.normalize(unit + (raw - here) / length.clamp_min(SHORTEST), dim=-1)


def _with_length(raw: Tensor) -> tuple[Tensor, Tensor]:
    if raw.is_cpu and raw.numel() and private.readable(raw):
        # One look at the lengths is cheaper than the care that hardly any batch needs.
        length = torch.linalg.vector_norm(raw, dim=-1, keepdim=True)
        low, high = length.aminmax()
        if low.item() > short(raw) and high.item() < LONG:
            return raw / length, length
    return unit_and_length(raw)


def _backward(ctx: Any, grad: Tensor) -> Tensor:
    raw, unit, length = ctx.saved_tensors
    if torch.is_grad_enabled():  # the derivative of this derivative is asked for
        unit = _plain_direction(raw)
        _, length = unit_and_length(raw)
    return along_sphere(grad, unit, length)


class _PlainDirection(private.LevelFunction):  # type: ignore[misc]
    """For plain eager code: at 64 rows, the Python of what follows is longer than the work."""

    @staticmethod
    def forward(ctx: Any, raw: Tensor) -> Tensor:
        unit, length = _with_length(raw)
        ctx.save_for_backward(raw, unit, length)
        return unit

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return _backward(ctx, grad)


class _Direction(torch.autograd.Function):
    """The same in fewer operations: for the paper's networks, a per cent of a training step."""

    generate_vmap_rule = True

    @staticmethod
    def forward(raw: Tensor) -> tuple[Tensor, Tensor]:
        return _with_length(raw)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: tuple[Tensor, Tensor]) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(*inputs, *output)
        ctx.save_for_forward(*output)

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        return along_sphere(tangent, *ctx.saved_tensors), None

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> Tensor:  # type: ignore[override]
        return _backward(ctx, grad)


def along_sphere(vector: Tensor, unit: Tensor, length: Tensor) -> Tensor:
    """The Jacobian, which is symmetric, times a vector."""
    along = (vector * unit).sum(-1, keepdim=True)
    return (vector - along * unit) / length.clamp_min(SHORTEST)
