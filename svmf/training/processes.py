# SPDX-License-Identifier: MIT
"""One process or several: under torchrun the same code trains data-parallel (gloo on the CPU, NCCL
on GPUs). Everything that the trainer needs to know of its companions is here."""

import importlib
import os
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from svmf.errors import ConfigError


class Processes:
    """This process's rank among `count`. For one process every method is trivial."""

    def __init__(self, device: str) -> None:
        self.count = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0"))
        self.device = _checked_device(device)
        if self.count > 1:
            if self.device.type == "cuda":
                local = int(os.environ.get("LOCAL_RANK", "0"))
                self.device = torch.device("cuda", local)
                torch.cuda.set_device(self.device)
            # Its functions have the default group of the moment of their import among their default
            # arguments: imported later, by torch itself, it keeps the group and its threads alive
            # for good, and those can abort the process while the interpreter ends.
            importlib.import_module("torch.distributed.nn")
            backend = "nccl" if self.device.type == "cuda" else "gloo"
            torch.distributed.init_process_group(backend)

    @property
    def writes(self) -> bool:
        """Whether this process is the one that writes files and speaks."""
        return self.rank == 0

    def average_gradients(self, weights: Sequence[Tensor]) -> None:
        """Over all processes, by one sum of all gradients: the networks are small. A
        DistributedDataParallel would still hold the group when `close` is to end it."""
        if self.count == 1:
            return
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        flat = self.mean(torch.cat([gradient.flatten() for gradient in gradients]))
        parts = flat.split([gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))

    def mean(self, values: Tensor) -> Tensor:
        """The mean over the processes, in place."""
        if self.count > 1:
            torch.distributed.all_reduce(values)
            values /= self.count
        return values

    def any(self, flag: bool) -> bool:
        """Whether any process says so: a decision that all share."""
        if self.count == 1:
            return flag
        votes = torch.tensor(float(flag), device=self.device)
        torch.distributed.all_reduce(votes)
        return bool(votes.item())

    def gather(self, item: Any) -> list[Any]:
        """One item per rank, on every rank."""
        if self.count == 1:
            return [item]
        items: list[Any] = [None] * self.count
        torch.distributed.all_gather_object(items, item)
        return items

    def close(self) -> None:
        """Ends the process group and its threads."""
        if self.count > 1 and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def _checked_device(name: str) -> torch.device:
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"--device: unknown device {name!r}") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError("--device: no CUDA device is available")
    if device.type not in ("cpu", "cuda"):
        raise ConfigError(f"--device: expected cpu or cuda, got {name!r}")
    return device
