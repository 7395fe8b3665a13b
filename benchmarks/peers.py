# SPDX-License-Identifier: MIT
"""Who is measured besides those of `svmf bench`: svmf's distribution class, a plain copy as the
limit, and what a user may have instead: SciPy, TensorFlow Probability on JAX, hyperspherical_vae,
power_spherical, and published formulas. A package is imported when its first call is made."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.distributions import kl_divergence

from svmf.benchmarking import sampler
from svmf.benchmarking.cases import Case
from svmf.benchmarking.sampler import (
    Candidate,
    Leaves,
    Makers,
    concentration,
    direction,
    incoming,
    latent_calls,
)
from svmf.benchmarking.timing import Call, threads


@dataclass(frozen=True)
class Peer(Candidate):
    """One from elsewhere is left out where it raises, with its first message in `failures`: its
    limits are neither ours to hide nor to die of."""

    failures: list[str] = field(default_factory=list)

    def applies(self, case: Case) -> bool:
        if not super().applies(case):
            return False
        try:
            with threads(case.threads):
                self.calls[case.op](case)()
        except Exception as error:
            self.failures.append(f"{case}: {type(error).__name__}: {error}".splitlines()[0])
            return False
        return True


def _distribution(
    case: Case, leaves: Leaves, posterior: Callable[[], Any], prior: Callable[[], Any]
) -> tuple[Leaves, Call, Call]:
    """The calls of a distribution that is constructed in the call, as in a training step."""

    def draw_with_kl() -> tuple[Tensor, Tensor]:
        made = posterior()
        z = made.rsample(case.shape.sample_shape)
        return z, kl_divergence(made, prior())

    return leaves, lambda: posterior().rsample(case.shape.sample_shape), draw_with_kl


def class_calls(checks: bool | None) -> Makers:
    """svmf.distributions.VonMisesFisher with this `validate_args`."""

    def make(case: Case) -> tuple[Leaves, Call, Call]:
        from svmf.distributions import HypersphericalUniform, VonMisesFisher

        loc, kappa = direction(case), concentration(case)
        prior = HypersphericalUniform(case.shape.m, **case.like)
        return _distribution(
            case, (loc, kappa), lambda: VonMisesFisher(loc, kappa, checks), lambda: prior
        )

    return latent_calls(make)


def _copy_sample(case: Case) -> Call:
    """The memory limit of sampling: as many numbers read, and written to a new tensor."""
    return incoming(case)[0].clone


def _copy_step(case: Case) -> Call:
    """The limit of a step: one multiplication forward and one backward, by autograd."""
    z, _ = incoming(case)
    leaf = z.clone().requires_grad_()
    return lambda: torch.autograd.grad(leaf * 2.0, leaf, z)


def _scipy(case: Case) -> Call:
    """SciPy has one mean direction for all rows, which spares it work, and float64 alone."""
    import numpy
    import scipy.stats

    mean = numpy.random.default_rng(0).standard_normal(case.shape.m)
    distribution = scipy.stats.vonmises_fisher(mean / numpy.linalg.norm(mean), case.kappa)
    return lambda: distribution.rvs(case.shape.rows)


def _tfp(case: Case) -> Call:
    """Compiled by XLA; its threads are not torch's."""
    import jax
    from tensorflow_probability.substrates import jax as tfp

    if case.dtype != "float32":
        raise NotImplementedError("measured in float32 alone, JAX's default type")
    loc = jax.numpy.asarray(direction(case).detach().cpu().numpy())
    kappa = jax.numpy.full((case.shape.batch,), case.kappa)

    @jax.jit
    def draw(key: Any) -> Any:
        key, use = jax.random.split(key)
        distribution = tfp.distributions.VonMisesFisher(loc, kappa)
        return key, distribution.sample(case.shape.sample_shape, seed=use)

    keys = [jax.random.PRNGKey(0)]

    def call() -> object:
        keys[0], z = draw(keys[0])
        return z.block_until_ready()

    return call


def _hyperspherical_vae(case: Case) -> tuple[Leaves, Call, Call]:
    from hyperspherical_vae.distributions import HypersphericalUniform, VonMisesFisher

    loc, scale = direction(case), concentration(case, 1)
    return _distribution(
        case,
        (loc, scale),
        lambda: VonMisesFisher(loc, scale),
        lambda: HypersphericalUniform(case.shape.m - 1),
    )


def _power_spherical(case: Case) -> tuple[Leaves, Call, Call]:
    from power_spherical import HypersphericalUniform, PowerSpherical

    loc, kappa = direction(case), concentration(case)
    prior = HypersphericalUniform(case.shape.m)
    return _distribution(case, (loc, kappa), lambda: PowerSpherical(loc, kappa), lambda: prior)


def _published(case: Case) -> tuple[Leaves, Call, Call]:
    from benchmarks import published_formulas

    loc, scale = direction(case), concentration(case, 1)

    def draw() -> Tensor:
        return published_formulas.rsample(loc, scale, case.shape.sample_shape)

    kl = published_formulas.kl_uniform
    return (loc, scale), draw, lambda: (draw(), kl(scale, case.shape.m))


_OURS = {candidate.name: candidate for candidate in sampler.CANDIDATES}
CANDIDATES = (
    _OURS["svmf"],
    Candidate("class", class_calls(None)),
    _OURS["Normal"],
    _OURS["Normal'"],
    _OURS["randn"],
    Candidate("copy", {"sample": _copy_sample, "step": _copy_step}),
    _OURS["reference"],
    # the formulas of hyperspherical_vae, written anew (biased gradient)
    Peer("published", latent_calls(_published), ("numpy", "scipy")),
    # float64, one mean direction, no gradient
    Peer("SciPy", {"sample": _scipy}, ("scipy",)),
    # on JAX, compiled, no gradient
    Peer("TFP", {"sample": _tfp}, ("tensorflow_probability", "jax")),
    Peer("hyperspherical_vae", latent_calls(_hyperspherical_vae), ("hyperspherical_vae",)),
    # another distribution for the same purpose
    Peer("power_spherical", latent_calls(_power_spherical), ("power_spherical",)),
)
BY_NAME = {candidate.name: candidate for candidate in CANDIDATES}
