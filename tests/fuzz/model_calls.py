# SPDX-License-Identifier: MIT
"""Latents and mixtures on features and rows that an encoder or a data set can have: blank, tiny,
huge, of half types."""

import math

import torch
from fuzz.checks import require
from fuzz.values import HALF_TYPES, Chance
from torch import Tensor

import svmf.functional as F
from svmf.mixture import VonMisesFisherMixture
from svmf.models.latents import (
    FlowLatent,
    GaussianLatent,
    PowerSphericalLatent,
    ProductLatent,
    SphericalCauchyLatent,
    SphericalLatent,
)
from svmf.models.latents.base import with_correction

# The gradient of one row's features for a loss whose gradient in z has length one. A direction of
# length r turns by 1/r, so that short ones are steep; what must not be is a row that outweighs a
# million others (a blank row once had 2.7e9, and Adam never came back).
LARGEST_GRADIENT = 1e6
NORMS = (0.0, 0.0, 1e-45, 1e-30, 1e-20, 1e-12, 1e-6, 1e-3, 1.0, 1e3, 1e10, 1e20, 1e30, 1e37)


def random_latent(chance: Chance) -> str:
    """One step of a model whose features have blank, tiny or huge rows."""
    dim = chance.pick((1, 2, 3, 9, 20, 40, 100))
    others = (PowerSphericalLatent, SphericalCauchyLatent, FlowLatent)
    family = chance.pick((SphericalLatent, SphericalLatent, *others))
    latent = family(dim, chance.pick(family.gradients()))
    rows = chance.random.randrange(1, 8)
    features = chance.normal((rows, sum(latent.head_sizes)))
    norms = torch.tensor([chance.pick(NORMS) for _ in range(rows)], dtype=torch.float64)
    features = features * norms[:, None]
    features[:, -1].clamp_(max=1e5)  # of the concentration: float32 knows it to 1e6
    features = features.float().requires_grad_()
    posterior = latent.posterior(features)
    z, kl, log_ratio = latent.draw(posterior)
    length = torch.linalg.vector_norm(z.detach().double(), dim=-1)
    off = float((length - 1).abs().max())
    require(off < 1e-5, f"{family.__name__}: a code of length {length.tolist()}, features {norms}")
    raw = features[:, : latent.coordinates].detach().double()
    raw[(raw == 0).all(-1), 0] = 1  # nothing points along the first axis
    exact = torch.nn.functional.normalize(raw, dim=-1, eps=0)
    off = float((exact - posterior.loc.detach()).abs().max())
    require(off < 1e-5, f"{family.__name__}: a mean direction is off by {off}, features {norms}")
    direction = torch.nn.functional.normalize(chance.normal(z.shape), dim=-1).float()
    loss = with_correction((z * direction).sum(-1), log_ratio).sum()
    (gradient,) = torch.autograd.grad(loss, features, retain_graph=True)
    (of_kl,) = torch.autograd.grad(kl.sum(), features)
    for what, part in (("z", gradient), ("the KL", of_kl)):
        require(bool(part.isfinite().all()), f"the gradient of {what} is not finite")
    largest = float(gradient.abs().max())
    require(largest < LARGEST_GRADIENT, f"a gradient of {largest:.2g} at features of {norms}")
    return f"latent.{family.__name__} dim={dim}"


def random_product(chance: Chance) -> str:
    """A product of spheres, with or without a Gaussian: each block is what its factor alone is."""
    spheres = (SphericalLatent, SphericalLatent, PowerSphericalLatent, SphericalCauchyLatent)
    factors = [
        chance.pick((*spheres, GaussianLatent))(chance.pick((1, 2, 2, 9)))
        for _ in range(chance.random.randrange(1, 6))
    ]
    latent = ProductLatent(factors)
    rows = chance.random.randrange(6)
    blocks = []
    for factor in factors:
        block = chance.normal((rows, sum(factor.head_sizes)))
        if factor.on_sphere:  # a Gaussian's features are coordinates: as large as they say
            size = torch.tensor([chance.pick(NORMS) for _ in range(rows)], dtype=torch.float64)
            block = block * size[:, None]
            block[:, -1].clamp_(max=1e5)
        blocks.append(block.float())
    features = torch.cat(blocks, -1).requires_grad_()
    posterior = latent.posterior(features)
    z, kl, _ = latent.draw(posterior)
    require(z.shape == (rows, latent.coordinates) and kl.shape == (rows,), "shapes of a product")
    apart = [factor.posterior(block) for factor, block in zip(factors, blocks, strict=True)]
    density = latent.log_prob(posterior, z.detach())
    parts = z.detach().split([factor.coordinates for factor in factors], -1)
    each = [f.log_prob(own, part) for f, own, part in zip(factors, apart, parts, strict=True)]
    exact = torch.stack(each).sum(0)
    room = 1e-5 * torch.stack(each).abs().sum(0) + 1e-4
    off = (density - exact).detach().abs()
    require(bool((off <= room).all()), f"the density of a product is off by {off.tolist()}")
    for factor, part in zip(factors, parts, strict=True):
        length = torch.linalg.vector_norm(part.double(), dim=-1)
        unit = not factor.on_sphere or bool(((length - 1).abs() < 1e-5).all())
        require(unit, f"a code of length {length.tolist()} in a product")
    (gradient,) = torch.autograd.grad(z.sum() + kl.sum(), features)
    require(bool(gradient.isfinite().all()), "a gradient of a product is not finite")
    return f"latent.product of {len(factors)}"


def random_mixture(chance: Chance) -> str:
    """A fit of few rows; parameters and densities are sound, and mistakes are named."""
    dim, count = chance.pick((2, 3, 5, 20)), chance.pick((1, 2, 4))
    dtype = chance.pick((torch.float64, torch.float32, *HALF_TYPES))
    rows = cluster_rows(chance, dim, count).to(dtype)
    options: dict[str, object] = {"random_state": chance.pick((0, 1, 12345)), "max_iter": 10}
    wrong = chance.pick((math.inf, math.nan, -1.0, 0.0, 1e300)) if chance.one_in(4) else None
    if wrong is not None:
        options["max_concentration"] = wrong
    options["assignment"] = chance.pick(("soft", "hard"))
    options["normalize"] = True
    mixture = VonMisesFisherMixture(count, **options)  # type: ignore[arg-type]
    try:
        mixture.fit(rows)
    except (ValueError, TypeError) as error:
        require("VonMisesFisherMixture" in str(error), f"an error without a name: {error}")
        return "mixture.refused"
    require(wrong is None, f"max_concentration = {wrong} was taken")
    parts = (mixture.weights_, mixture.locs_, mixture.concentrations_)
    require(all(bool(part.isfinite().all()) for part in parts), "parameters are not finite")
    length = torch.linalg.vector_norm(mixture.locs_.double(), dim=-1)
    require(float((length - 1).abs().max()) < 1e-2, f"mean directions of length {length.tolist()}")
    require_densities(mixture, rows)
    again = VonMisesFisherMixture(count, **options).fit(rows)  # type: ignore[arg-type]
    require(torch.equal(again.locs_, mixture.locs_), "the same seed gives another fit")
    return f"mixture.{dtype}".replace("torch.", "")


def cluster_rows(chance: Chance, dim: int, count: int) -> Tensor:
    """Rows near `count` directions: the spread decides the concentration, up to the largest."""
    centres = chance.normal((count, dim))
    spread = chance.pick((1.0, 0.3, 1e-2, 1e-4, 0.0))
    rows = centres.repeat_interleave(8, 0)
    rows = rows / torch.linalg.vector_norm(rows, dim=-1, keepdim=True)
    rows = rows + spread * chance.normal(rows.shape)
    return rows / torch.linalg.vector_norm(rows, dim=-1, keepdim=True)


def require_densities(mixture: VonMisesFisherMixture, rows: Tensor) -> None:
    """score_samples is the log density of the fitted distribution, in nats."""
    ours = torch.as_tensor(mixture.score_samples(rows)).double()
    require(bool(ours.isfinite().all()), "a density is not finite")
    if rows.dtype in HALF_TYPES:
        return  # the rows themselves are rounded, and a sharp density feels it
    wide = torch.nn.functional.normalize(rows.double(), dim=-1)
    kappa = mixture.concentrations_.double()
    locs = torch.nn.functional.normalize(mixture.locs_.double(), dim=-1)
    each = F.vmf_log_prob(wide[:, None], locs, kappa)
    exact = torch.logsumexp(each + mixture.weights_.double().log(), dim=-1)
    # a row is rounded by eps, and a density of width 1/sqrt(kappa) moves by eps sqrt(kappa)
    eps = torch.finfo(rows.dtype).eps
    room = 1e-3 + 64 * eps * exact.abs() + 2 * eps * kappa.max().sqrt()
    off = (ours - exact).abs()
    require(bool((off <= room).all()), f"densities differ by {float(off.max()):.3g} nats")
