# SPDX-License-Identifier: MIT
"""What `svmf train` can train, by name, with the paper's settings as defaults. No torch."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ModelSpec:
    """`kind` chooses the task; `latents` name the posterior families, z1 before z2."""

    kind: str  # a key of KINDS
    latents: tuple[str, ...]
    help: str
    defaults: dict[str, Any]


KINDS = {"vae": "images", "semi-supervised": "M1+M2", "graph": "graphs"}  # and their short names

_VAE = {"data": "digits", "batch_size": 64, "lr": 1e-3, "warm_up": 100, "look_ahead": 50}
_M1M2 = {"data": "digits", "dim": 50, "batch_size": 100, "lr": 1e-3, "look_ahead": 50}
_GRAPH = {"data": "cora", "dim": 32, "epochs": 200, "lr": 0.01, "batch_size": 0}

MODELS = {
    "ae": ModelSpec("vae", ("point",), "auto-encoder", {**_VAE, "warm_up": 0}),
    "nvae": ModelSpec("vae", ("gaussian",), "VAE with a Gaussian latent", _VAE),
    "svae": ModelSpec("vae", ("spherical",), "VAE with a von Mises-Fisher latent", _VAE),
    "psvae": ModelSpec("vae", ("power-spherical",), "VAE with a power spherical latent", _VAE),
    "scvae": ModelSpec("vae", ("spherical-cauchy",), "VAE with a spherical Cauchy latent", _VAE),
    "m1m2-nn": ModelSpec("semi-supervised", ("gaussian", "gaussian"), "M1+M2, N+N", _M1M2),
    "m1m2-ss": ModelSpec("semi-supervised", ("spherical", "spherical"), "M1+M2, S+S", _M1M2),
    "m1m2-sn": ModelSpec("semi-supervised", ("spherical", "gaussian"), "M1+M2, S+N", _M1M2),
    "nvgae": ModelSpec("graph", ("gaussian",), "graph VAE with a Gaussian latent", _GRAPH),
    "svgae": ModelSpec("graph", ("spherical",), "graph VAE with a von Mises-Fisher latent", _GRAPH),
}
