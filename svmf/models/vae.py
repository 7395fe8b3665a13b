# SPDX-License-Identifier: MIT
"""Auto-encoder, N-VAE and S-VAE: one model, three latents (Davidson et al. 2018, sections 2 and 5).

`forward` is a training step's loss, so that data-parallel wrappers and compilers see all of it.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from svmf.models.latents import Latent, with_correction
from svmf.models.likelihood import Likelihood
from svmf.models.networks import mlp


class VAE(nn.Module):
    """`hidden` are the encoder's widths; the decoder mirrors them."""

    terms: ClassVar[tuple[str, ...]] = ("re", "kl", "spread")

    def __init__(
        self,
        inputs: int,
        latent: Latent[Any],
        likelihood: Likelihood,
        hidden: Sequence[int] = (256, 128),
    ) -> None:
        super().__init__()
        self.latent = latent
        self.encoder = mlp([inputs, *hidden], latent.head_sizes)
        self.decoder = mlp([latent.coordinates, *reversed(hidden)], inputs)
        self.likelihood = likelihood

    def posterior(self, x: Tensor) -> Any:
        return self.latent.posterior(self.encoder(x))

    def decode(self, z: Tensor) -> Tensor:
        """The mean of p(x | z)."""
        return self.likelihood.mean(self.decoder(z))

    def forward(self, x: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
        """The loss -(RE - beta KL), and the batch means of `terms`."""
        posterior = self.posterior(x)
        z, kl, log_ratio = self.latent.draw(posterior)
        re = self.likelihood(self.decoder(z), x)
        loss = (beta * kl - with_correction(re, log_ratio)).mean()
        terms = [re, kl, self.latent.spread(posterior)]
        return loss, torch.stack([term.detach().mean() for term in terms])

    @torch.no_grad()
    def elbo_terms(self, x: Tensor) -> Tensor:
        """RE, KL and spread per row, [3, rows]."""
        posterior = self.posterior(x)
        z, kl, _ = self.latent.draw(posterior)
        re = self.likelihood(self.decoder(z), x)
        return torch.stack([re, kl, self.latent.spread(posterior)])
