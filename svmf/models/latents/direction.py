# SPDX-License-Identifier: MIT
"""The direction of a raw vector, safe where there is none.

A zero vector has no direction, and beside it the derivative of x / |x| grows as 1 / |x|: one blank
image in the first batch gave a gradient of 1e9, which Adam's second moment remembers for the rest
of a run. Here zero points along the first axis, and the derivative is that of a vector of length
`SHORTEST` wherever a vector is shorter: along the sphere as it should be, but bounded.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

SHORTEST = 0.01


def direction(raw: Tensor) -> Tensor:
    """Unit rows in the direction of `raw` [..., m]; the first axis where it is zero."""
    if torch.compiler.is_compiling():  # a compiler fuses the plain formula as well
        return _plain_direction(raw)
    return _Direction.apply(raw)[0]  # type: ignore[no-any-return]


def _plain_direction(raw: Tensor) -> Tensor:
    """The definition: the value of x / |x|, and of its derivative the share |x| / SHORTEST where x
    is short."""
    value = raw.detach()
    length = torch.linalg.vector_norm(value, dim=-1, keepdim=True)
    first = F.one_hot(torch.zeros((), dtype=torch.int64, device=raw.device), raw.shape[-1])
    share = (length / SHORTEST).clamp_max(1)
    pulled = torch.lerp(value, raw, share)
    return F.normalize(
        torch.where(length < _nothing(raw), raw + SHORTEST * first.to(raw.dtype), pulled), dim=-1
    )


class _Direction(torch.autograd.Function):
    """The same in fewer operations: for the paper's networks, a per cent of a training step."""

    generate_vmap_rule = True

    @staticmethod
    def forward(raw: Tensor) -> tuple[Tensor, Tensor]:
        length = torch.linalg.vector_norm(raw, dim=-1, keepdim=True)
        unit = raw / length.clamp_min(_nothing(raw))
        nothing = length < _nothing(raw)
        unit.masked_fill_(nothing, 0)
        unit.narrow(-1, 0, 1).add_(nothing)
        return unit, length

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: tuple[Tensor, Tensor]) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(*inputs, *output)

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> Tensor:  # type: ignore[override]
        raw, unit, length = ctx.saved_tensors
        if torch.is_grad_enabled():  # the derivative of this derivative is asked for
            unit = _plain_direction(raw)
            length = torch.linalg.vector_norm(raw, dim=-1, keepdim=True)
        along = (grad * unit).sum(-1, keepdim=True)
        return (grad - along * unit) / length.clamp_min(SHORTEST)


def _nothing(raw: Tensor) -> float:
    """Shorter rows cannot be told from zero: in float32 their squares underflow."""
    return max(1e-12, torch.finfo(raw.dtype).tiny)
