# SPDX-License-Identifier: MIT
"""Ops called on another device by test helpers that live on the CPU: tensors go there and results
come back, and autograd follows both ways."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import svmf.functional as F


def place(arguments: tuple, device: torch.device) -> tuple:
    """The arguments with their tensors on the device, as leaves where they were leaves."""
    return tuple(
        a.detach().to(device).requires_grad_(a.requires_grad) if isinstance(a, Tensor) else a
        for a in arguments
    )


class SamplersOn:
    """svmf.functional's samplers on a device, for kappa_gradients.per_sample_gradients."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._generators: dict[int, torch.Generator] = {}

    def _generator(self, given: torch.Generator) -> torch.Generator:
        """A generator of the device for one of the CPU, with the same seed."""
        if id(given) not in self._generators:
            own = torch.Generator(self._device).manual_seed(given.initial_seed())
            self._generators[id(given)] = own
        return self._generators[id(given)]

    def vmf_rsample(self, loc: Tensor, kappa: Tensor, generator: torch.Generator, **options: Any):
        loc, kappa = loc.to(self._device), kappa.to(self._device)
        return F.vmf_rsample(loc, kappa, generator=self._generator(generator), **options).cpu()

    def vmf_rsample_with_correction(
        self, loc: Tensor, kappa: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, ...]:
        loc, kappa = loc.to(self._device), kappa.to(self._device)
        drawn = F.vmf_rsample_with_correction(loc, kappa, generator=self._generator(generator))
        return tuple(t.cpu() for t in drawn)


def sampler_on(device: torch.device, dtype: torch.dtype):
    """sample_checks.Sampler: the op on a device, results on the CPU."""

    def draw(loc: Tensor, kappa: float, rows: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
        mu, k = loc.to(device, dtype), torch.tensor(kappa, dtype=dtype, device=device)
        key = torch.tensor([seed], device=device)
        if seed % 2:
            given = (mu.expand(rows, -1), k.expand(rows), key, [], 0, True)
        else:
            given = (mu, k, key, [rows], 0, True)
        z, state = torch.ops.svmf.vmf_rsample.default(*given)
        return z.cpu(), state[0].cpu(), state[1].cpu()

    return draw


def gradients(value: Tensor, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """Of `value` in those of the tensors that ask for one; some ops have none to give."""
    wanted = [tensor for tensor in tensors if tensor.requires_grad]
    return torch.autograd.grad(value, wanted) if wanted else ()
