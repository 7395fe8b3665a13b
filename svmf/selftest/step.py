# SPDX-License-Identifier: MIT
"""What the checks share: a training step's latent part on fixed data."""

import torch
from torch import Tensor

ops = torch.ops.svmf
M = 10


class SkippedError(Exception):
    """A check that this machine has nothing for."""


def needs_cuda(device: str) -> None:
    if device != "cuda":
        raise SkippedError("for GPUs")


def directions(rows: int, m: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, m, generator=generator, dtype=torch.float64)
    return torch.nn.functional.normalize(x, dim=-1)


def step(loc: Tensor, kappa: Tensor, seed: Tensor) -> list[Tensor]:
    """Detached: torch warns where a graph that is kept alive belongs to another stream."""
    z, kl, _ = ops.vmf_rsample_kl.default(loc, kappa, seed, [2], 0, True)
    slopes = torch.autograd.grad(z[..., 0].sum() + kl.sum(), (loc, kappa))
    return [z.detach(), kl.detach(), *slopes]


def batch(device: str, rows: int = 512, m: int = M) -> tuple[Tensor, Tensor, Tensor]:
    loc = directions(rows, m, 4).float().to(device).requires_grad_()
    kappa = torch.logspace(-1, 3, rows, device=device).requires_grad_()
    return loc, kappa, torch.tensor([7], device=device)


def equal(ours: list[Tensor], theirs: list[Tensor]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        if not torch.equal(one, other.to(one.device)):
            raise AssertionError("the bits differ")
