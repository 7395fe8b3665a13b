# SPDX-License-Identifier: MIT
"""The training loop: steps, epochs, validation, early stopping, and checkpoints from which a run
continues to the bit.

The state of a run is complete at every step: weights, optimiser, random streams, the sums of the
running epoch, early stopping, the best weights and the length of the metrics file.
"""

import dataclasses
import math
import time
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from svmf.errors import NonFiniteError, RunError
from svmf.progress import ProgressLine
from svmf.training.adam import FusedAdam
from svmf.training.checked import Part, weights_like
from svmf.training.checkpoint import misfits_named, stored_state
from svmf.training.diagnosis import finite_weights, offending_tensor
from svmf.training.early_stopping import EarlyStopping, warm_up_weight
from svmf.training.gradients import Evaluate, by_autograd, captured
from svmf.training.interruption import Interruption
from svmf.training.randomness import Purpose, derived_seed, noise_state, restore_noise
from svmf.training.run_folder import RunFolder
from svmf.training.task import Task

_SYNC_STEPS = 50  # steps between questions to other processes, and between looks at a GPU's loss


@dataclass(frozen=True)
class Outcome:
    """How a call to `Trainer.run` ended."""

    epoch: int  # epochs completed
    best_epoch: int
    best_score: float
    finished: bool  # False: interrupted, can be continued
    interrupted_by: int = 0  # signal number


class Trainer:
    def __init__(
        self,
        task: Task,
        folder: RunFolder,
        progress: ProgressLine | None = None,
        checkpoint_seconds: float = 20.0,
    ) -> None:
        self.task = task
        self.config = task.config
        self.folder = folder
        self.processes = task.processes
        self.device = task.device
        self._progress = progress or ProgressLine(enabled=False)
        self._checkpoint_seconds = checkpoint_seconds
        self.sinks: list[Any] = []  # with `write(epoch, record)`, called after each epoch
        self._weights = list(task.model.parameters())
        self._evaluate = self._evaluation()
        self._optimizer = FusedAdam(self._weights, self.config.lr)
        self._stopping = EarlyStopping(self.config.look_ahead, self.config.warm_up)
        self._best: dict[str, Tensor] = {}
        self._epoch, self._step = 1, 0  # the next step to take
        self._terms: tuple[str, ...] = task.terms
        self._sums = self._zero_sums()
        self._beta = torch.zeros((), device=self.device)
        torch.manual_seed(derived_seed(Purpose.NOISE, self.config.seed, self.processes.rank))

    def run(self) -> Outcome:
        """Trains to the end, or until Ctrl-C, once `prepare` was called."""
        self._say_if_the_weight_stays_low()
        with Interruption() as interruption:
            finished, started = True, time.monotonic()
            while finished and self._epoch <= self.config.epochs and not self._stopping.exhausted:
                finished = self._train_epoch(interruption)
                if finished:
                    self._finish_epoch(time.monotonic() - started)
                    started = time.monotonic()
            self._save()
            self._progress.close()
        best_epoch, best_score = self._stopping.best_epoch, self._stopping.best_score
        signal = 0 if finished else interruption.signal
        return Outcome(self._epoch - 1, best_epoch, best_score, finished, signal)

    def _evaluation(self) -> Evaluate:
        """How a step evaluates the loss and its gradients."""
        captures = self.task.capturable and self.device.type == "cpu" and self.processes.count == 1
        if self.config.compile and captures:
            return captured(self.task.model, self._weights, lambda: self.task.variant)
        model: Any = torch.compile(self.task.model) if self.config.compile else self.task.model
        alone = by_autograd(model, self._weights)

        def evaluate(*inputs: Tensor) -> tuple[Tensor, Tensor]:
            result = alone(*inputs)
            self.processes.average_gradients(self._weights)
            return result

        return evaluate

    def prepare(self) -> None:
        """From the folder's checkpoint if it has one; otherwise the first one is written. An
        unwritable or full folder is found now, not after an hour."""
        state = stored_state(self.folder, self.config)
        if state is not None:
            with misfits_named(self.folder):
                self._restore(state)
        if self.processes.writes:
            # weights, Adam's two moments and the best weights: what a later checkpoint will hold
            weights = sum(weight.numel() * weight.element_size() for weight in self._weights)
            self.folder.require_space(4 * weights + (1 << 16))
        if state is None:
            self._save()
        self._saved = time.monotonic()

    def _say_if_the_weight_stays_low(self) -> None:
        config = self.config
        last = warm_up_weight(config.epochs, config.warm_up)
        if last < 1 and self.processes.writes:
            self._progress.line(
                f"warning: the KL weight grows over {config.warm_up} epochs, but this run ends "
                f"after {config.epochs}, at {last * config.beta:.3g} of {config.beta:g}; "
                f"for a shorter warm-up give --warm-up"
            )

    def _train_epoch(self, interruption: Interruption) -> bool:
        """The rest of the current epoch. False if it was interrupted between two steps."""
        task, evaluate, optimizer = self.task, self._evaluate, self._optimizer
        self._beta.fill_(self.config.beta * warm_up_weight(self._epoch, self.config.warm_up))
        task.begin_epoch(self._epoch)
        task.model.train()
        alone, on_cpu, steps = self.processes.count == 1, self.device.type == "cpu", task.steps
        first, started = self._step, time.monotonic()
        while self._step < steps:
            batch = task.batch(self._step)
            loss, terms = evaluate(*batch, self._beta)
            if (on_cpu or self._step % _SYNC_STEPS == 0) and not math.isfinite(loss.item()):
                raise self._non_finite(batch, loss.item())
            if self.config.clip is not None:
                nn.utils.clip_grad_norm_(self._weights, self.config.clip)
            optimizer.step()
            self._sums += terms
            self._step += 1
            if self._progress.due:
                self._draw_progress(steps, (self._step - first) / (time.monotonic() - started))
            if alone or self._step % _SYNC_STEPS == 0 or self._step == steps:
                if self.processes.any(bool(interruption.signal)):
                    interruption.signal = interruption.signal or 2
                    return False
                if alone and time.monotonic() - self._saved > self._checkpoint_seconds:
                    self._save()
        return True

    def _finish_epoch(self, seconds: float) -> None:
        trained = time.monotonic()
        means = self.processes.mean(self._sums / self.task.steps)
        terms = dict(zip(self._terms, means.tolist(), strict=True))
        if not all(map(math.isfinite, terms.values())):
            raise self._non_finite(None, math.nan)
        self.task.model.eval()
        validation = self.task.validate(self._epoch)
        score = validation[self.task.score]
        better = self._stopping.update(self._epoch, score)
        if better:
            self._best = {
                name: tensor.detach().cpu().clone()
                for name, tensor in self.task.model.state_dict().items()
            }
        train = self.task.figures(terms)
        self.task.end_epoch(terms)
        record = {
            "epoch": self._epoch,
            "beta": self._beta.item(),
            "train": train,
            "validation": validation,
            "best": better,
        }
        if self.processes.writes:
            self.folder.append(RunFolder.METRICS, record)
            validating = time.monotonic() - trained
            self.folder.append(
                RunFolder.TIMING,
                {
                    "epoch": self._epoch,
                    "train_seconds": round(seconds, 4),
                    "validation_seconds": round(validating, 4),
                    "steps_per_second": round(self.task.steps / seconds, 2),
                },
            )
            for sink in self.sinks:
                sink.write(self._epoch, record)
            self._progress.milestone(1.0, self._describe(train))
        self._epoch, self._step = self._epoch + 1, 0
        self._sums = self._zero_sums()
        if self.processes.any(time.monotonic() - self._saved > self._checkpoint_seconds):
            self._save()

    def _save(self) -> None:
        """Writes the checkpoint. Every process takes part: each has random streams of its own."""
        random = self.processes.gather(
            {"noise": noise_state(self.device), "task": self.task.random_state()}
        )
        sums = self.processes.gather(self._sums.cpu())
        if self.processes.writes:
            if not finite_weights(self.task.model):
                raise self._non_finite(None, math.nan)
            self.folder.save_checkpoint(
                {
                    "format": 1,
                    "about": self.task.about(),
                    "config": dataclasses.asdict(self.config),
                    "processes": self.processes.count,
                    "epoch": self._epoch,
                    "step": self._step,
                    "sums": sums,
                    "model": self.task.model.state_dict(),
                    "optimizer": self._optimizer.state_dict(),
                    "stopping": self._stopping.state(),
                    "best": self._best,
                    "random": random,
                    "metrics_length": self.folder.metrics_length(),
                }
            )
        self._saved = time.monotonic()

    def _restore(self, state: Part) -> None:
        """Everything is checked against this run before it is used."""
        count = state["processes"].integer(1)
        if count != self.processes.count:
            raise RunError(
                f"{self.folder.checkpoint_path}: made by {count} processes, "
                f"cannot be continued by {self.processes.count}"
            )
        self._epoch = state["epoch"].integer(1)
        self._step = state["step"].integer(0, self.task.steps)
        done = (self._epoch - 1) * self.task.steps + self._step
        length = state["metrics_length"].integer(0)
        self.folder.require_metrics(length, self._epoch - 1)
        weights = weights_like(self.task.model, state["model"])
        self._optimizer.restore(state["optimizer"], done)
        self._stopping.restore(state["stopping"], self._epoch - 1)
        self._best = {}
        if self._stopping.best_epoch:
            best = weights_like(self.task.model, state["best"])
            self._best = {name: weight.cpu() for name, weight in best.items()}
        sums = list(state["sums"].items(count))[self.processes.rank]
        self._sums = sums.tensor(self._zero_sums())
        own = list(state["random"].items(count))[self.processes.rank]
        own.keys(("noise", "task"))
        self.task.restore_random_state(own["task"])
        restore_noise(own["noise"], self.device)
        self.task.model.load_state_dict(weights)
        if self.processes.writes:
            self.folder.cut_metrics(length)

    def _non_finite(self, batch: tuple[Tensor, ...] | None, loss: float) -> NonFiniteError:
        done = (self._epoch - 1) * self.task.steps + self._step
        place = f"epoch {self._epoch}, step {self._step + 1} (step {done + 1} of the run)"
        batch = self.task.batch(max(self._step - 1, 0)) if batch is None else batch
        tensor = offending_tensor(self.task.model, batch, self._beta)
        return NonFiniteError(
            f"the loss is {loss} at {place}; first non-finite tensor: {tensor}; "
            f"the checkpoint before it is {self.folder.checkpoint_path}"
        )

    def _zero_sums(self) -> Tensor:
        return torch.zeros(len(self._terms), dtype=torch.float64, device=self.device)

    def _draw_progress(self, steps: int, rate: float) -> None:
        means = dict(zip(self._terms, (self._sums / self._step).tolist(), strict=True))
        text = self._describe(self.task.figures(means))
        self._progress.update(self._step / steps, f"{text}  {rate:.0f} steps/s")

    def _describe(self, figures: dict[str, float]) -> str:
        shown = "  ".join(f"{name} {value:.4g}" for name, value in figures.items())
        weight = f"KL weight {self._beta.item():.3g}"
        return f"epoch {self._epoch}/{self.config.epochs}  {shown}  {weight}"
