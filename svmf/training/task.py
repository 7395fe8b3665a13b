# SPDX-License-Identifier: MIT
"""What the trainer asks of a task: a model, batches, a validation score to maximise, and the
figures of a finished model. One subclass per kind of model."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from svmf._gradients import PATHWISE
from svmf.models import LATENTS, Latent, ProductLatent
from svmf.training.checked import Part
from svmf.training.config import RunConfig
from svmf.training.latent_words import parse_latent
from svmf.training.processes import Processes


class Task(ABC):
    model: nn.Module
    terms: ClassVar[tuple[str, ...]]  # names of the means that the model's forward returns
    capturable: ClassVar[bool] = True  # see `svmf.training.gradients.captured`
    score: ClassVar[str]  # the validation figure that chooses the best epoch; larger is better

    def __init__(self, config: RunConfig, processes: Processes) -> None:
        self.config = config
        self.processes = processes
        self.device = processes.device

    @property
    @abstractmethod
    def steps(self) -> int:
        """Steps per epoch."""

    @abstractmethod
    def begin_epoch(self, epoch: int) -> None: ...

    def end_epoch(self, terms: dict[str, float]) -> None:  # noqa: B027  (most tasks do nothing)
        """Sees the means of the epoch's terms, equal on every process."""

    @property
    def variant(self) -> Hashable:
        """Which function the model's forward is, if it is not always the same one."""
        return None

    @abstractmethod
    def batch(self, step: int) -> tuple[Tensor, ...]:
        """The arguments of the model's forward, but for beta."""

    @abstractmethod
    def figures(self, terms: dict[str, float]) -> dict[str, float]:
        """Mean training terms under the names of the metrics file."""

    @abstractmethod
    def validate(self, epoch: int) -> dict[str, float]:
        """Figures on the validation part, equal on every process."""

    @abstractmethod
    def evaluate(self, **options: Any) -> dict[str, Any]:
        """Figures on the test part."""

    def about(self) -> dict[str, Any]:
        """What the model was built for, as far as weights and configuration do not say it."""
        return {}

    @abstractmethod
    def random_state(self) -> Any:
        """The task's own random streams and whatever else it carries from epoch to epoch, as plain
        data and tensors."""

    @abstractmethod
    def restore_random_state(self, state: Part) -> None:
        """Takes what `random_state` gave, as far as it could have given it."""

    def mean_over_rows(self, sums: Tensor, rows: int) -> list[float]:
        """Sums over this process's rows become means over all rows of all processes."""
        total = torch.cat([sums.double(), sums.new_tensor([rows]).double()])
        total = self.processes.mean(total)
        return [float(value) for value in total[:-1] / total[-1]]


def make_latent(config: RunConfig, index: int = 0) -> Latent[Any]:
    """The index-th latent of the configured model."""
    if index == 0 and config.latent is not None:
        factors = parse_latent(config.latent)
        return ProductLatent([_factor(config, name, own) for name, own in factors])
    dim = config.dim2 if index == 1 and config.dim2 is not None else config.dim
    return _factor(config, config.spec.latents[index], dim)


def _factor(config: RunConfig, name: str, dim: int) -> Latent[Any]:
    family = LATENTS[name]
    return family(dim, config.gradient if config.gradient in family.gradients() else PATHWISE)
