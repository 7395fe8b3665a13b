# SPDX-License-Identifier: MIT
"""Random flows on the sphere: the base and layers of any values, samples, densities, and the way
back from a sample to its density."""

import math

import torch
from fuzz import values
from fuzz.checks import require, require_documented
from fuzz.values import Chance
from torch import Tensor

from svmf.distributions import SphereFlow
from svmf.distributions.hyperspherical_uniform import HypersphericalUniform
from svmf.distributions.monte_carlo import kl_monte_carlo

DTYPES = (torch.float32, torch.float64)
NAMES = ("SphereFlow", "VonMisesFisher", "vmf_log_prob")
# Layers within these bounds keep half the digits on the way there and back.
LONGEST_CENTRE, LONGEST_STRETCH, LARGEST_KAPPA = 0.9, 3.0, 1e3


def layers(chance: Chance, shape: tuple[int, ...], longest: float) -> Tensor:
    """Vectors [*shape] up to so long, in float64; one time in four some are hostile."""
    drawn = chance.normal(shape)
    length = torch.linalg.vector_norm(drawn, dim=-1, keepdim=True)
    drawn = drawn / length * chance.uniform((*shape[:-1], 1)) * longest
    if chance.one_in(4) and drawn.numel():
        where = chance.random.randrange(drawn.numel())
        hostile = (0.0, 1.0, -1.0, 1e-30, 1e20, 1e38, math.inf, math.nan)
        drawn.view(-1)[where] = chance.pick(hostile)
    return drawn


def random_flow(chance: Chance) -> str:
    dtype, dim = chance.pick(DTYPES), chance.pick(values.SMALL_DIMS)
    batch = chance.pick(((), (1,), (3,), (2, 3), (0,)))
    depth = chance.pick((0, 1, 2, 4))
    loc = values.directions(chance, (*batch, dim), dtype)
    kappa = values.concentrations(chance, batch, dtype)
    widths = [dim if not chance.one_in(30) else 7 for _ in range(2)]
    depths = [depth if not chance.one_in(30) else 3 for _ in range(2)]
    parts = [
        layers(chance, (*chance.pick((batch, ())), count, width), longest).to(dtype)
        for count, width, longest in zip(
            depths, widths, (LONGEST_CENTRE, LONGEST_STRETCH), strict=True
        )
    ]
    given = [values.laid_out(chance, t).detach() for t in (loc, kappa, *parts)]
    leaves = [t.requires_grad_(chance.one_in(2)) for t in given]
    checked = chance.pick((True, False))
    try:
        flow = SphereFlow(*leaves, validate_args=checked)
    except Exception as error:
        require_documented(error, *NAMES)
        return "flow.refused"
    tame = is_tame(flow)
    z, log_prob = flow.rsample_log_prob(chance.pick(((), (2,), (0,))))
    if tame:
        require_inverse(flow, z, log_prob)
    loss = z.sum() + log_prob.sum()
    if loss.requires_grad:
        needed = [leaf for leaf in leaves if leaf.requires_grad]
        for gradient in torch.autograd.grad(loss, needed, allow_unused=True):
            finite = gradient is None or bool(gradient.isfinite().all())
            require(finite or not tame, "a gradient of a flow is not finite")
    try:
        kl_monte_carlo(flow, HypersphericalUniform(dim, dtype=dtype), 3)
    except Exception as error:
        require_documented(error, "kl_monte_carlo", "HypersphericalUniform.log_prob", *NAMES)
        require(not tame, f"a divergence was refused: {error}")
    require(tuple(flow.expand((2, *batch)).batch_shape) == (2, *batch), "expand")
    return f"flow.{'tame' if tame else 'wild'} dim={dim} layers={depth}"


def is_tame(flow: SphereFlow) -> bool:
    """Whether samples and densities must be right, not only refused or nan."""
    unit = torch.linalg.vector_norm(flow.loc.double(), dim=-1) - 1
    lengths = [torch.linalg.vector_norm(t.double(), dim=-1) for t in (flow.centres, flow.stretches)]
    inside = [lengths[0] <= LONGEST_CENTRE * 1.001, lengths[1] <= LONGEST_STRETCH * 1.001]
    kappa = flow.concentration
    return (
        bool((unit.abs() <= 1e-6).all())
        and bool(((kappa >= 0) & (kappa <= LARGEST_KAPPA)).all())
        and all(bool(part.all()) for part in inside)
    )


def require_inverse(flow: SphereFlow, z: Tensor, log_prob: Tensor) -> None:
    """Samples are unit vectors, and the density of a sample is the one it came with."""
    length = torch.linalg.vector_norm(z.detach().double(), dim=-1)
    require(bool(((length - 1).abs() <= 1e-4).all()), "a sample of a flow of another norm")
    again = flow.log_prob(z.detach())
    require(again.shape == log_prob.shape, f"a density of shape {list(again.shape)}")
    room = 0.05 * flow.event_shape[0] if z.dtype == torch.float32 else 1e-6
    off = (again - log_prob).detach().abs()
    require(bool((off <= room).all()), f"the density of a sample is off by {off.tolist()}"[:200])
