# SPDX-License-Identifier: MIT
"""Finds where a non-finite loss comes from: the input, a weight, or the first module whose output
is not finite."""

from typing import Any

import torch
from torch import Tensor, nn


def finite_weights(model: nn.Module) -> bool:
    return all(_finite(weight) for weight in model.parameters())


@torch.no_grad()
def offending_tensor(model: nn.Module, batch: tuple[Tensor, ...], beta: Tensor) -> str:
    """A name for the first non-finite tensor, looking where it would spread from."""
    for position, tensor in enumerate(batch):
        if tensor.is_floating_point() and not _finite(tensor):
            return f"input {position} of the batch"
    for name, weight in model.named_parameters():
        if not _finite(weight):
            return f"weight {name}"
    found: list[str] = []

    def watch(name: str) -> Any:
        def hook(_module: nn.Module, _inputs: Any, output: Any) -> None:
            if not found and isinstance(output, Tensor) and not _finite(output):
                found.append(f"output of {name}")

        return hook

    handles = [m.register_forward_hook(watch(n)) for n, m in model.named_modules() if n]
    try:
        _, terms = model(*batch, beta)
    finally:
        for handle in handles:
            handle.remove()
    if found:
        return found[0]
    for name, value in zip(getattr(model, "terms", ()), terms, strict=False):
        if not _finite(value):
            return f"loss term {name!r}"
    return "the loss itself (a second evaluation with new noise was finite)"


def _finite(tensor: Tensor) -> bool:
    return bool(torch.isfinite(tensor).all())
