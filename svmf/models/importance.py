# SPDX-License-Identifier: MIT
"""The marginal log-likelihood log p(x) of a VAE.

By importance sampling (Burda et al. 2015): the log of the mean over draws z ~ q(z|x) of
p(x|z) p(z) / q(z|x), in log space and in chunks of bounded memory. In two dimensions also by
quadrature over the whole latent space, which has no sampling bias. And the figure that the authors'
released example reports under the same name, which is no bound on log p(x).
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from svmf.models.vae import VAE

_MAX_ROWS = 2000  # decoder rows at a time: the activations stay in the cache


@torch.no_grad()
def log_likelihood(model: VAE, x: Tensor, samples: int = 500, max_rows: int = _MAX_ROWS) -> Tensor:
    """The estimate for each row of x, [rows]. Memory is that of `max_rows` decoded rows, whatever
    the number of samples."""
    _check("log_likelihood", model, samples, max_rows)
    at_once = min(samples, max_rows)
    batch = max(max_rows // at_once, 1)
    return _by_parts(lambda rows: _estimate(model, rows, samples, at_once), x, batch)


def _by_parts(estimate: Callable[[Tensor], Tensor], x: Tensor, batch: int) -> Tensor:
    """Each part's result goes to its place at once. A list of thousands of small ones would lie
    between the freed activations in memory, and with huge pages keep gigabytes of them."""
    result = x.new_empty(len(x), dtype=torch.float64)
    for rows, part in zip(x.split(batch), result.split(batch), strict=True):
        part.copy_(estimate(rows))
    return result


def _estimate(model: VAE, x: Tensor, samples: int, at_once: int) -> Tensor:
    posterior = model.posterior(x)
    total = x.new_full(x.shape[:1], -torch.inf, dtype=torch.float64)
    for start in range(0, samples, at_once):
        z = model.latent.sample(posterior, min(at_once, samples - start))
        log_weight = (
            model.reconstruction(z, x).double()
            + model.latent.prior_log_prob(z)
            - model.latent.log_prob(posterior, z)
        )
        total = torch.logaddexp(total, log_weight.logsumexp(0))
    return total - math.log(samples)


@torch.no_grad()
def released_log_likelihood(
    model: VAE, x: Tensor, samples: int = 500, max_rows: int = _MAX_ROWS
) -> Tensor:
    """What the example of the authors' TensorFlow repository prints as the log-likelihood, [rows]:

        log p(x|z_0) + log mean_i p(z_i) / q(z_i|x),

    with the reconstruction at one draw z_0 and the weights at `samples` others. It is no bound on
    log p(x): its excess over the ELBO depends on the posterior and the number of samples alone.
    """
    _check("released_log_likelihood", model, samples, max_rows)
    latent = model.latent

    def estimate(rows: Tensor) -> Tensor:
        posterior = model.posterior(rows)
        reconstruction = model.reconstruction(latent.sample(posterior, 1)[0], rows)
        z = latent.sample(posterior, samples)
        log_weight = latent.prior_log_prob(z).double() - latent.log_prob(posterior, z)
        return reconstruction.double() + log_weight.logsumexp(0) - math.log(samples)

    return _by_parts(estimate, x, max(max_rows // samples, 1))


def _check(name: str, model: VAE, samples: int, max_rows: int) -> None:
    if not model.latent.has_density:
        raise ValueError(f"{name}: an auto-encoder has no marginal likelihood")
    for argument, value in (("samples", samples), ("max_rows", max_rows)):
        if value < 1:
            raise ValueError(f"{name}: expected `{argument}` of at least 1, got {value}")


@torch.no_grad()
def exact_log_likelihood_2d(model: VAE, x: Tensor, points: int = 120_000) -> Tensor:
    """log p(x) for Bernoulli images by quadrature over the latent plane or the sphere S^2, [rows].

    The decoder is evaluated once per grid point; each image then costs one dot product per point.
    """
    z, log_mass = model.latent.grid(points)
    x = x.float().flatten(1)
    total = x.new_full(x.shape[:1], -torch.inf, dtype=torch.float64)
    for nodes, mass in zip(z.split(_MAX_ROWS), log_mass.split(_MAX_ROWS), strict=True):
        logits = model.decoded(nodes)
        constant = mass - torch.nn.functional.softplus(logits).sum(-1)
        joint = torch.addmm(constant, x, logits.t())  # [rows, nodes]
        total = torch.logaddexp(total, joint.logsumexp(1).double())
    return total
