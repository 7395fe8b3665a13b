# SPDX-License-Identifier: MIT
"""A small S-VAE as a user would write it, and the functions that other processes run."""

import os
from typing import Any

import torch
import torch.distributed
from torch import Tensor
from torch.distributions import kl_divergence
from torch.nn import functional as nn_functional
from torch.nn.parallel import DistributedDataParallel

from svmf.distributions import HypersphericalUniform, VonMisesFisher


class SphericalVAE(torch.nn.Module):
    """x [n, 12] -> vMF on S^(m-1) -> logits [n, 12]."""

    def __init__(self, dim: int = 5) -> None:
        super().__init__()
        self.hidden = torch.nn.Linear(12, 16)
        self.direction = torch.nn.Linear(16, dim)
        self.spread = torch.nn.Linear(16, 1)
        self.decoder = torch.nn.Linear(dim, 12)
        self.prior = HypersphericalUniform(dim)

    def posterior(self, x: Tensor) -> VonMisesFisher:
        h = self.hidden(x).relu()
        loc = nn_functional.normalize(self.direction(h), dim=-1)
        return VonMisesFisher(loc, nn_functional.softplus(self.spread(h)) + 1)

    def forward(self, x: Tensor) -> Tensor:
        """The negative ELBO."""
        q = self.posterior(x)
        logits = self.decoder(q.rsample())
        error = nn_functional.binary_cross_entropy_with_logits(logits, x, reduction="none")
        return (error.sum(-1) + kl_divergence(q, self.prior)).mean()


class Sampler(torch.nn.Module):
    """The encoder with its sample: what one would export."""

    def __init__(self, vae: SphericalVAE) -> None:
        super().__init__()
        self.vae = vae

    def forward(self, x: Tensor) -> Tensor:
        return self.vae.posterior(x).rsample()


def binary_data(rows: int = 32, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(rows, 12, generator=generator) > 0.5).float()


class NoisyDirections(torch.utils.data.Dataset):
    """Draws a vMF sample for each item, inside the worker that loads it."""

    def __len__(self) -> int:
        return 32

    def __getitem__(self, index: int) -> Tensor:
        q = VonMisesFisher(nn_functional.normalize(torch.ones(4), dim=-1), 20.0)
        return q.sample()


def send_distribution(queue: Any, received: Any, q: VonMisesFisher) -> None:
    """Samples in another process and sends the distribution back.

    Tensors travel as handles to memory of the sender, which must live until they have arrived.
    """
    torch.manual_seed(3)
    queue.put((q, q.sample((2,))))
    received.wait(timeout=120)


def train_distributed(rank: int, world: int, port: int, results: dict) -> None:
    """Three DDP steps on one rank; leaves the weights and the last samples in `results`."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    vae = SphericalVAE()
    model = DistributedDataParallel(vae)
    torch.manual_seed(100 + rank)  # each rank its own noise, as a training script does
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    data = binary_data(16, seed=0)  # the same on both ranks, so that only the noise differs
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(data)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        samples = vae.posterior(data).sample()
    weights = torch.cat([p.detach().flatten() for p in vae.parameters()])
    results[rank] = (losses, samples.tolist(), weights.tolist())
    torch.distributed.destroy_process_group()
