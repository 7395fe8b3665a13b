# SPDX-License-Identifier: MIT
"""Keeps the best validation score and says when to give up: after `look_ahead` epochs without a
better one. Epochs of the warm-up count for the best score but not for giving up, since the loss
itself still changes there."""

import math
from dataclasses import dataclass

from svmf.training.checked import Part


@dataclass
class EarlyStopping:
    look_ahead: int  # 0: never stop
    warm_up: int = 0
    best_score: float = -math.inf
    best_epoch: int = 0
    waited: int = 0

    def update(self, epoch: int, score: float) -> bool:
        """True if this epoch is the best so far. Epochs count from 1."""
        better = score > self.best_score
        if better:
            self.best_score, self.best_epoch = score, epoch
        self.waited = 0 if better or epoch <= self.warm_up else self.waited + 1
        return better

    @property
    def exhausted(self) -> bool:
        return 0 < self.look_ahead <= self.waited

    def state(self) -> dict[str, float | int]:
        return {"best_score": self.best_score, "best_epoch": self.best_epoch, "waited": self.waited}

    def restore(self, state: Part, epochs: int) -> None:
        """What `state` gave after so many epochs."""
        state.keys(self.state())
        self.best_epoch = state["best_epoch"].integer(0, epochs)
        self.waited = state["waited"].integer(0, epochs)
        self.best_score = -math.inf
        if self.best_epoch:
            self.best_score = state["best_score"].number()
        else:
            state["best_score"].equal(self.best_score)


def warm_up_weight(epoch: int, warm_up: int) -> float:
    """The share of the KL weight in force: grows linearly over the first `warm_up` epochs, from
    1/warm_up in epoch 1 to one."""
    return min(1.0, epoch / warm_up) if warm_up else 1.0
