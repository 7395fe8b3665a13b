# SPDX-License-Identifier: MIT
"""M1+M2 on images: each step takes rows without labels and a few rows with theirs."""

from collections.abc import Hashable
from typing import Any

import torch
from torch import Tensor

from svmf.data import load_images_named
from svmf.errors import ConfigError, DataError
from svmf.models import SemiSupervisedVAE, balanced_subset
from svmf.training.checked import Part
from svmf.training.config import RunConfig
from svmf.training.processes import Processes
from svmf.training.randomness import Purpose, generator, noise_from
from svmf.training.rows import BinarizedRows, EpochOrder
from svmf.training.task import Task
from svmf.training.vae_model import build_semi_supervised
from svmf.training.vae_task import EVALUATION_ROWS, TEST_SEED, batch_of

# Labels per row that a step may take instead of all: a few values, since each is compiled anew.
LABELS_PER_ROW = (1.5, 2.0, 3.0, 5.0)
_RESERVE = 1.1  # the means of an epoch are to suffice for most batches of the next


def labels_to_take(needed: float | None, classes: int) -> float | None:
    """The labels per row of the next epoch, None for all, from what the last one needed."""
    enough = [n for n in LABELS_PER_ROW if needed is not None and _RESERVE * needed <= n < classes]
    return enough[0] if enough else None


class SemiSupervisedTask(Task):
    terms = SemiSupervisedVAE.terms
    score = "elbo"

    def __init__(self, config: RunConfig, processes: Processes) -> None:
        super().__init__(config, processes)
        self.images = load_images_named(config.data, config.data_root, config.validation_rows)
        labels = self.images.train.labels
        if int(labels.min()) < 0:
            raise DataError(f"data set {self.images.name!r} has no labels, which M1+M2 needs")
        try:
            chosen = balanced_subset(labels, config.labels, generator(Purpose.LABELS, config.seed))
        except ValueError as error:
            raise ConfigError(f"--labels: {error}") from None
        batch = batch_of(config, len(labels), processes)
        own = (Purpose.DATA, config.seed, processes.rank)
        self.unlabelled = BinarizedRows(self.images.train.images, self.device, *own, 0)
        self.labelled = BinarizedRows(self.images.train.images[chosen], self.device, *own, 1)
        self._labels = labels[chosen].to(self.device)
        self._order = EpochOrder(len(labels), batch, config.seed, processes)
        self._labelled_order = torch.empty(0, dtype=torch.int64)
        self._labels_needed: float | None = None  # per row, in the last epoch
        self._labelled_batch = min(config.labelled_batch or batch, config.labels)
        self.model: SemiSupervisedVAE = build_semi_supervised(
            config, self.images.pixels, self.images.classes, config.labels / len(labels)
        ).to(self.device)

    @property
    def steps(self) -> int:
        return self._order.steps

    def begin_epoch(self, epoch: int) -> None:
        self._order.begin_epoch(epoch)
        self.model.labels_per_row = labels_to_take(self._labels_needed, self.model.classes)
        # the labelled rows go round and round: whole permutations, one after the other
        draw = generator(Purpose.ORDER, self.config.seed, epoch, 1 + self.processes.rank)
        rounds = -(-self.steps * self._labelled_batch // len(self._labels))
        self._labelled_order = torch.cat(
            [torch.randperm(len(self._labels), generator=draw) for _ in range(rounds)]
        )

    def end_epoch(self, terms: dict[str, float]) -> None:
        self._labels_needed = terms["labels_per_row"]

    @property
    def variant(self) -> Hashable:
        return self.model.labels_per_row

    def batch(self, step: int) -> tuple[Tensor, ...]:
        size = self._labelled_batch
        index = self._labelled_order[step * size : (step + 1) * size]
        return (
            self.unlabelled.batch(self._order.batch(step)),
            self.labelled.batch(index),
            self._labels[index.to(self.device)],
        )

    def figures(self, terms: dict[str, float]) -> dict[str, float]:
        re, kl = terms["re"], terms["kl"]
        named = {"elbo": re - kl, "re": re, "kl": kl}
        named[self.model.latent1.spread_name] = terms["spread"]
        return named | {key: terms[key] for key in ("labelled", "accuracy") if key in terms}

    def validate(self, epoch: int) -> dict[str, float]:
        seed, rank = self.config.seed, self.processes.rank
        with noise_from(self.device, Purpose.VALIDATION, seed, epoch, rank):
            return self._figures_of("validation", rank, self.processes.count, seed, epoch, rank)

    def evaluate(self, **_: Any) -> dict[str, Any]:
        """The bound without labels, and the accuracy of q(y|z1) at the mean of z1."""
        with noise_from(self.device, Purpose.TEST, TEST_SEED):
            return dict(self._figures_of("test", 0, 1, TEST_SEED))

    def random_state(self) -> Any:
        return [self.unlabelled.state(), self.labelled.state(), self._labels_needed]

    def restore_random_state(self, state: Part) -> None:
        unlabelled, labelled, needed = state.items(3)
        self._labels_needed = None if needed.value is None else needed.number()
        self.unlabelled.restore(unlabelled)
        self.labelled.restore(labelled)

    def _figures_of(self, part: str, start: int, stride: int, *entropy: int) -> dict[str, float]:
        split = getattr(self.images, part)
        purpose = Purpose.TEST if part == "test" else Purpose.VALIDATION
        rows = BinarizedRows(split.images, self.device, purpose, *entropy)
        labels = split.labels[start::stride].to(self.device).split(EVALUATION_ROWS)
        sums = torch.zeros(4, dtype=torch.float64, device=self.device)
        for x, truth in zip(rows.chunks(EVALUATION_ROWS, start, stride), labels, strict=True):
            sums[:3] += self.model.elbo_terms(x).sum(1)
            sums[3] += (self.model.classify(x) == truth).sum()
        count = sum(len(truth) for truth in labels)
        means = self.mean_over_rows(sums, count) if stride > 1 else (sums / count).tolist()
        names = ("re", "kl", "spread", "accuracy")
        return self.figures(dict(zip(names, means, strict=True)))
