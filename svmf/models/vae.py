# SPDX-License-Identifier: MIT
"""Auto-encoder, N-VAE and S-VAE: one model, three latents (Davidson et al. 2018, sections 2 and 5).

`forward` is a training step's loss, so that data-parallel wrappers and compilers see all of it.
"""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from svmf.models.latents import Latent, with_correction
from svmf.models.likelihood import Bernoulli, Likelihood
from svmf.models.networks import mlp
from svmf.models.radius import Radius


class VAE(nn.Module):
    """Either `inputs`, the number of values of a row or the shape of an image, and then `hidden`
    are the widths of the encoder and, mirrored, of the decoder; or any two modules of one's own:

        encoder   rows to `sum(latent.head_sizes)` raw outputs
        decoder   codes [n, latent.coordinates] to what the likelihood takes, in a row's shape

    `radius` is that of the spheres that the decoder sees: "1", "sqrt" for the square root of m, as
    long as a Gaussian code, or "learnable". Neither the KL divergence nor the bound depends on it:
    posterior and uniform prior move to the new sphere together, and log q(z|x) - log p(z) stays.

    Rows keep their shape: `decode` and `sample` give images where images went in.
    """

    terms: ClassVar[tuple[str, ...]] = ("re", "kl", "spread")

    def __init__(
        self,
        inputs: int | Sequence[int] | None = None,
        latent: Latent[Any] | None = None,
        likelihood: Likelihood | None = None,
        hidden: Sequence[int] = (256, 128),
        *,
        radius: str = "1",
        encoder: nn.Module | None = None,
        decoder: nn.Module | None = None,
    ) -> None:
        super().__init__()
        if latent is None:
            raise ValueError("VAE: expected a `latent`, for instance SphericalLatent(10)")
        if (encoder is None) != (decoder is None) or (encoder is None) == (inputs is None):
            raise ValueError("VAE: expected either `inputs`, or both an `encoder` and a `decoder`")
        self.latent = latent
        self._own_modules = encoder is not None
        self.row_shape: tuple[int, ...] | None = None  # of flat rows, for modules of one's own
        self.config: Any = None  # of the run that trained it
        self.history: list[dict[str, Any]] = []  # and its metrics, one record per epoch
        self._shape: tuple[int, ...] | None = None
        if encoder is None or decoder is None:
            assert inputs is not None
            self._shape = (inputs,) if isinstance(inputs, int) else tuple(inputs)
            width = math.prod(self._shape)
            encoder = mlp([width, *hidden], latent.head_sizes)
            decoder = mlp([latent.coordinates, *reversed(hidden)], width)
        self.encoder = encoder
        self.decoder = decoder
        self.radius = None if radius == "1" else Radius(latent, radius)
        self.likelihood = Bernoulli() if likelihood is None else likelihood

    def posterior(self, x: Tensor) -> Any:
        """The parameters of q(z | x)."""
        return self.latent.posterior(self._raw(x))

    def _raw(self, x: Tensor) -> Tensor:
        """The encoder's output."""
        if not self._own_modules and x.dim() > 2:
            x = x.flatten(1)
        elif self.row_shape is not None and x.dim() == 2:
            x = x.reshape(-1, *self.row_shape)
        raw: Tensor = self.encoder(x)
        if raw.shape[-1] != sum(self.latent.head_sizes):
            raise ValueError(
                f"VAE: expected an encoder with {sum(self.latent.head_sizes)} outputs for "
                f"{type(self.latent).__name__}, got {raw.shape[-1]}"
            )
        return raw

    def q(self, x: Tensor) -> torch.distributions.Distribution:
        """q(z | x) as a distribution: for a spherical latent a `VonMisesFisher`."""
        return self.latent.distribution(self.posterior(x))

    def encode(self, x: Tensor) -> Tensor:
        """The code that represents each row: the location of q(z | x)."""
        return self.latent.mean(self.posterior(x))

    def decoded(self, z: Tensor) -> Tensor:
        """What the decoder makes of codes [..., coordinates]: [..., values], every row flat."""
        z = z if self.radius is None else self.radius(z)
        if not self._own_modules:
            return self.decoder(z)  # type: ignore[no-any-return]
        values = self.decoder(z.reshape(-1, z.shape[-1]))
        self._shape = tuple(values.shape[1:])
        return values.reshape(*z.shape[:-1], -1)  # type: ignore[no-any-return]

    def reconstruction(self, z: Tensor, x: Tensor) -> Tensor:
        """log p(x | z), for codes [..., n, coordinates] and n rows."""
        return self.likelihood(self.decoded(z), x.flatten(1))  # type: ignore[no-any-return]

    def decode(self, z: Tensor) -> Tensor:
        """The mean of p(x | z), in the shape of a row."""
        values = self.likelihood.mean(self.decoded(z))
        assert self._shape is not None
        return values.reshape(*z.shape[:-1], *self._shape)

    @torch.no_grad()
    def sample(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        """Means of p(x | z) for so many codes from the prior."""
        z = self.latent.prior_sample(count, generator)
        return self.decode(z.to(next(self.parameters()).device))

    def forward(self, x: Tensor, beta: Tensor | float = 1.0) -> tuple[Tensor, Tensor]:
        """The loss -(RE - beta KL), and the batch means of `terms`."""
        (z, kl, log_ratio), spread = self.latent.step(self._raw(x))
        re = self.reconstruction(z, x)
        loss = (beta * kl - with_correction(re, log_ratio)).mean()
        terms = [re, kl, spread]
        return loss, torch.stack([term.detach().mean() for term in terms])

    @torch.no_grad()
    def elbo_terms(self, x: Tensor) -> Tensor:
        """RE, KL and spread per row, [3, rows]."""
        (z, kl, _), spread = self.latent.step(self._raw(x))
        re = self.reconstruction(z, x)
        return torch.stack([re, kl, spread])
