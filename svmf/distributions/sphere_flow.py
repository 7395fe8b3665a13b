# SPDX-License-Identifier: MIT
"""A normalising flow on the sphere over a von Mises-Fisher base (after Rezende et al. 2020).

Each layer is a Moebius map, which shifts and skews, before a stretch, which lets the density be
narrow in one direction and wide in another. Both have inverses: samples and densities are exact.
"""

import torch
from torch import Generator, Tensor
from torch.distributions import constraints
from torch.types import _size

from svmf._sphere_maps import backward_maps, forward_maps
from svmf._torch_private import readable
from svmf.constraints import unit_vector
from svmf.distributions._base import SphereDistribution
from svmf.distributions._checks import invalid
from svmf.distributions.von_mises_fisher import VonMisesFisher

_VECTORS = constraints.independent(constraints.real, 1)


class SphereFlow(SphereDistribution):
    """The image of a von Mises-Fisher distribution on S^(m-1) under layers of two maps.

    Args:
        loc, concentration: of the base, as `VonMisesFisher` has them.
        centres: [..., layers, m], points w inside the unit ball: z goes to
            (1 - |w|^2) / |z - w|^2 (z - w) - w. Zero does nothing.
        stretches: [..., layers, m], vectors v: then z goes to (I + v v^T) z, scaled to the sphere.
            Zero does nothing.
        validate_args: whether to check values; by default as `torch.distributions` has it.

    With every centre and stretch zero it is the base. float32 and float64.

    >>> base = torch.tensor([0.0, 0.0, 1.0]), torch.tensor(10.0)
    >>> still = torch.zeros(2, 3)
    >>> q = SphereFlow(*base, still, torch.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    >>> q.rsample((5,)).shape
    torch.Size([5, 3])
    """

    arg_constraints = {  # noqa: RUF012
        "loc": unit_vector,
        "concentration": constraints.nonnegative,
        "centres": _VECTORS,
        "stretches": _VECTORS,
    }

    def __init__(
        self,
        loc: Tensor,
        concentration: Tensor | float,
        centres: Tensor,
        stretches: Tensor,
        validate_args: bool | None = None,
    ) -> None:
        self.base = VonMisesFisher(loc, concentration, validate_args=validate_args)
        m = self.base.event_shape[0]
        for name, layers in (("centres", centres), ("stretches", stretches)):
            if layers.dim() < 2 or layers.shape[-1] != m:
                raise ValueError(
                    f"SphereFlow: expected `{name}` of shape [..., layers, {m}], "
                    f"got {list(layers.shape)}"
                )
        if centres.shape[-2] != stretches.shape[-2]:
            raise ValueError(
                "SphereFlow: expected as many `centres` as `stretches`, "
                f"got {centres.shape[-2]} and {stretches.shape[-2]}"
            )
        batch = torch.broadcast_shapes(
            self.base.batch_shape, centres.shape[:-2], stretches.shape[:-2]
        )
        self.base = self.base.expand(batch)
        self.loc, self.concentration = self.base.loc, self.base.concentration
        self.centres = centres.expand(*batch, *centres.shape[-2:])
        self.stretches = stretches.expand(*batch, *stretches.shape[-2:])
        super().__init__(batch, torch.Size([m]), validate_args=False)
        self._validate_args = self.base._validate_args
        if self._validate_args and readable(centres, stretches):
            self._check_layers()

    def _check_layers(self) -> None:
        length = torch.linalg.vector_norm(self.centres.detach(), dim=-1)
        inside, finite = length < 1, self.stretches.detach().isfinite()
        if not bool(inside.all()):
            what = "points inside the unit ball"
            raise ValueError(invalid("SphereFlow", "centres", what, "norm", length, inside))
        if not bool(finite.all()):
            values = self.stretches.detach()
            raise ValueError(
                invalid("SphereFlow", "stretches", "finite values", "value", values, finite)
            )

    def expand(self, batch_shape: _size, _instance: object = None) -> "SphereFlow":
        shape = torch.Size(batch_shape)
        layers = self.centres.shape[-2:]
        return SphereFlow(
            self.loc.expand(*shape, *self.event_shape),
            self.concentration.expand(shape),
            self.centres.expand(*shape, *layers),
            self.stretches.expand(*shape, *layers),
            validate_args=False,
        )

    def rsample(self, sample_shape: _size = (), *, generator: Generator | None = None) -> Tensor:
        """Samples of shape [*sample_shape, *batch_shape, m] that carry gradients."""
        z = self.base.rsample(sample_shape, generator=generator)
        return forward_maps(z, self.centres, self.stretches)[0]

    def _log_density(self, value: Tensor) -> Tensor:
        self._check_shape(value)
        z, log_area = backward_maps(value, self.centres, self.stretches)
        return self.base.log_prob(z) - log_area

    def rsample_log_prob(
        self, sample_shape: _size = (), *, generator: Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Samples with their log density, which needs no inverse."""
        z = self.base.rsample(sample_shape, generator=generator)
        image, log_area = forward_maps(z, self.centres, self.stretches)
        return image, self.base.log_prob(z) - log_area
