# SPDX-License-Identifier: MIT
"""What a user may have instead: SciPy, TensorFlow Probability on JAX, hyperspherical_vae,
power_spherical, and published formulas. Calls as in svmf.benchmarking.latent; each imports its
package when it is made. `CANDIDATES` are these and svmf's own."""

from typing import Any

import torch
from torch.distributions import kl_divergence

from svmf.benchmarking import candidates
from svmf.benchmarking.candidates import SLOW_ELEMENTS, Candidate
from svmf.benchmarking.latent import Call, concentration, direction, incoming
from svmf.benchmarking.shapes import Case


def scipy_sample(case: Case) -> Call:
    """SciPy has one mean direction for all rows, which spares it work, and float64 alone."""
    import numpy
    import scipy.stats

    mean = numpy.random.default_rng(0).standard_normal(case.shape.m)
    distribution = scipy.stats.vonmises_fisher(mean / numpy.linalg.norm(mean), case.kappa)
    return lambda: distribution.rvs(case.shape.rows)


def tfp_sample(case: Case) -> Call:
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


def hyperspherical_vae_sample(case: Case) -> Call:
    from hyperspherical_vae.distributions import VonMisesFisher

    loc, scale = direction(case), concentration(case, 1)
    return lambda: VonMisesFisher(loc, scale).rsample(case.shape.sample_shape)


def hyperspherical_vae_step(case: Case) -> Call:
    from hyperspherical_vae.distributions import HypersphericalUniform, VonMisesFisher

    loc, scale, gradients = direction(case), concentration(case, 1), incoming(case)

    def call() -> object:
        posterior = VonMisesFisher(loc, scale)
        z = posterior.rsample(case.shape.sample_shape)
        kl = kl_divergence(posterior, HypersphericalUniform(case.shape.m - 1))
        return torch.autograd.grad((z, kl), (loc, scale), gradients)

    return call


def power_spherical_sample(case: Case) -> Call:
    from power_spherical import PowerSpherical

    loc, kappa = direction(case), concentration(case)
    return lambda: PowerSpherical(loc, kappa).rsample(case.shape.sample_shape)


def power_spherical_step(case: Case) -> Call:
    from power_spherical import HypersphericalUniform, PowerSpherical

    loc, kappa, gradients = direction(case), concentration(case), incoming(case)
    prior = HypersphericalUniform(case.shape.m)

    def call() -> object:
        posterior = PowerSpherical(loc, kappa)
        z = posterior.rsample(case.shape.sample_shape)
        return torch.autograd.grad((z, kl_divergence(posterior, prior)), (loc, kappa), gradients)

    return call


def published_sample(case: Case) -> Call:
    from benchmarks import published_formulas

    loc, scale = direction(case), concentration(case, 1)
    return lambda: published_formulas.rsample(loc, scale, case.shape.sample_shape)


def published_step(case: Case) -> Call:
    from benchmarks import published_formulas

    loc, scale, gradients = direction(case), concentration(case, 1), incoming(case)

    def call() -> object:
        z = published_formulas.rsample(loc, scale, case.shape.sample_shape)
        kl = published_formulas.kl_uniform(scale, case.shape.m)
        return torch.autograd.grad((z, kl), (loc, scale), gradients)

    return call


PEERS = (
    Candidate(
        "published",
        "the formulas of hyperspherical_vae, written anew (biased gradient)",
        {"sample": published_sample, "step": published_step},
        packages=("numpy", "scipy"),
        most_elements=SLOW_ELEMENTS,
        devices=("cpu",),
    ),
    Candidate(
        "SciPy",
        "scipy.stats.vonmises_fisher.rvs: float64, one mean direction, no gradient",
        {"sample": scipy_sample},
        packages=("scipy",),
        most_elements=SLOW_ELEMENTS,
        devices=("cpu",),
    ),
    Candidate(
        "TFP",
        "TensorFlow Probability on JAX, compiled, no gradient",
        {"sample": tfp_sample},
        packages=("tensorflow_probability", "jax"),
        most_elements=SLOW_ELEMENTS,
        devices=("cpu",),
    ),
    Candidate(
        "hyperspherical_vae",
        "the package itself",
        {
            "sample": hyperspherical_vae_sample,
            "step": hyperspherical_vae_step,
        },
        packages=("hyperspherical_vae",),
        most_elements=SLOW_ELEMENTS,
        devices=("cpu",),
    ),
    Candidate(
        "power_spherical",
        "the package itself: another distribution for the same purpose",
        {
            "sample": power_spherical_sample,
            "step": power_spherical_step,
        },
        packages=("power_spherical",),
        most_elements=SLOW_ELEMENTS,
        devices=("cpu",),
    ),
)
CANDIDATES = (*candidates.CANDIDATES, *PEERS)
BY_NAME = {candidate.name: candidate for candidate in CANDIDATES}
