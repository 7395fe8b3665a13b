# SPDX-License-Identifier: MIT
"""One process or several: under torchrun the same code trains data-parallel (gloo on the CPU, NCCL
on GPUs). Everything that the trainer needs to know of its companions is here."""

import os
from typing import Any

import torch
from torch import Tensor, nn

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
            backend = "nccl" if self.device.type == "cuda" else "gloo"
            torch.distributed.init_process_group(backend)

    @property
    def writes(self) -> bool:
        """Whether this process is the one that writes files and speaks."""
        return self.rank == 0

    def wrap(self, model: nn.Module) -> nn.Module:
        """The model with its gradients averaged over all processes."""
        if self.count == 1:
            return model
        ids = [self.device.index] if self.device.type == "cuda" else None
        return nn.parallel.DistributedDataParallel(model, device_ids=ids)

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
