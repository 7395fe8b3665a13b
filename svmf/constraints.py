# SPDX-License-Identifier: MIT
"""The unit sphere as a constraint of `torch.distributions`, and the transforms that reach it.

`transform_to(unit_vector)` divides by the norm: it takes any vector of R^m, for optimisers.
`biject_to(unit_vector)` is the stereographic projection from R^(m-1), with its Jacobian, for
samplers that work in a space without constraints; it misses the single point -e1.
"""

import math

import torch
from torch import Tensor
from torch.distributions import biject_to, constraints, transform_to
from torch.distributions.transforms import Transform

from svmf._sphere import unit_and_length

__all__ = ["UNIT_TOLERANCES", "StereographicTransform", "UnitVectorTransform", "unit_vector"]

# How far the norm of a unit vector of each type may be from 1. Wide enough for a vector that was
# normalised in the same type, or in float32 and then widened; far below what a forgotten
# normalisation gives.
UNIT_TOLERANCES = {
    torch.float64: 1e-6,
    torch.float32: 1e-4,
    torch.float16: 1e-2,
    torch.bfloat16: 5e-2,
}


class _UnitVector(constraints.Constraint):
    """Vectors of norm 1 in the last dimension."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        distance = (torch.linalg.vector_norm(value, dim=-1) - 1).abs()
        return distance <= UNIT_TOLERANCES[value.dtype]


unit_vector = _UnitVector()


class UnitVectorTransform(Transform):
    """x -> x / |x|, from R^m to the sphere S^(m-1); the origin goes to e1.

    Not a bijection; the inverse is the identity, a vector on the ray that maps to `y`.
    """

    domain = constraints.real_vector
    codomain = unit_vector

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnitVectorTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return unit_and_length(x)[0]

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class StereographicTransform(Transform):
    """The stereographic projection from R^(m-1) to S^(m-1) without -e1; 0 goes to e1,

        u -> ((1 - |u|^2), 2u) / (1 + |u|^2).

    The Jacobian is that of the surface measure, the measure of the densities in
    `svmf.distributions`: (2 / (1 + |u|^2))^(m-1). A u whose square overflows goes to the neighbour
    of -e1 that its direction names.
    """

    domain = constraints.real_vector
    codomain = unit_vector
    bijective = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StereographicTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        # With s = max(1, |u|_max): (1/s^2 - |u/s|^2, 2 (u/s)/s) / (1/s^2 + |u/s|^2), nothing of
        # which overflows.
        inverse = 1 / x.detach().abs().amax(-1, keepdim=True).clamp(min=1)
        scaled, one = x * inverse, inverse.square()
        square = scaled.square().sum(-1, keepdim=True)
        return torch.cat([one - square, 2 * scaled * inverse], dim=-1) / (one + square)

    def _inverse(self, y: Tensor) -> Tensor:
        first, rest = y[..., :1], y[..., 1:]
        # 1 + first, which cancels on the half of the sphere around -e1, is |rest|^2 / (1 - first);
        # the square of a short rest has no place in its type, that of rest / largest has.
        cancels = first < 0
        largest = rest.detach().abs().amax(-1, keepdim=True)
        scale = torch.where(cancels & (largest > 0), largest, 1.0)
        rest = rest / scale
        towards = rest.square().sum(-1, keepdim=True) / (1 - torch.where(cancels, first, 0.0))
        return rest / torch.where(cancels, towards * scale, 1 + first)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        largest = x.detach().abs().amax(-1).clamp(min=1)
        square = (x / largest.unsqueeze(-1)).square().sum(-1)
        log_sum = torch.log1p(largest.square().reciprocal() - 1 + square) + 2 * largest.log()
        return x.shape[-1] * (math.log(2) - log_sum)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) < 1:
            raise ValueError("StereographicTransform: expected an input of one dimension or more")
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) < 1:
            raise ValueError("StereographicTransform: expected an input of one dimension or more")
        return (*shape[:-1], shape[-1] - 1)


@transform_to.register(_UnitVector)
def _transform_to_unit_vector(constraint: constraints.Constraint) -> Transform:
    return UnitVectorTransform()


@biject_to.register(_UnitVector)
def _biject_to_unit_vector(constraint: constraints.Constraint) -> Transform:
    return StereographicTransform()
