# SPDX-License-Identifier: MIT
"""Where a run's random numbers come from. Each purpose has a stream of its own, derived from the
run's seed, so that drawing more in one place changes nothing in another."""

import contextlib
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import numpy as np
import torch

from svmf.training.checked import Part


class Purpose(IntEnum):
    WEIGHTS = 0
    NOISE = 1
    ORDER = 2
    DATA = 3
    VALIDATION = 4
    TEST = 5
    LABELS = 6
    SPLIT = 7
    NEIGHBOURS = 8
    RELEASED = 9


def derived_seed(purpose: Purpose, *parts: int) -> int:
    """63 well-mixed bits for torch, a function of all parts."""
    sequence = np.random.SeedSequence([int(purpose), *parts])
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


def generator(purpose: Purpose, *parts: int) -> torch.Generator:
    return torch.Generator().manual_seed(derived_seed(purpose, *parts))


@contextlib.contextmanager
def noise_from(device: torch.device, purpose: Purpose, *parts: int) -> Iterator[None]:
    """Global random numbers from a derived seed inside; the stream outside goes on undisturbed."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(derived_seed(purpose, *parts))
        yield


def noise_state(device: torch.device) -> dict[str, Any]:
    """The state of the global stream, as tensors for a checkpoint."""
    state = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    return state


def restore_noise(state: Part, device: torch.device) -> None:
    restore_generator(torch.default_generator, state["cpu"])
    if device.type == "cuda" and "cuda" in state.value:
        own = torch.cuda.get_rng_state(device)
        torch.cuda.set_rng_state(state["cuda"].tensor(own), device)


def restore_generator(generator: torch.Generator, state: Part) -> None:
    content = state.tensor(generator.get_state())
    try:
        generator.set_state(content)
    except RuntimeError:
        raise state.misfit("the state of a generator", "bytes that are none") from None
