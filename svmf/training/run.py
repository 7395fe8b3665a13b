# SPDX-License-Identifier: MIT
"""A run from its configuration to its figures: what `svmf train` and `svmf evaluate` call."""

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator
from typing import Any

import torch

from svmf.errors import ConfigError, RunError
from svmf.progress import ProgressLine
from svmf.training.checkpoint import load_best
from svmf.training.config import RunConfig, check_config, fixed_options
from svmf.training.environment import run_environment
from svmf.training.graph_task import GraphTask
from svmf.training.processes import Processes
from svmf.training.randomness import Purpose, derived_seed
from svmf.training.run_folder import RunFolder
from svmf.training.semi_supervised_task import SemiSupervisedTask
from svmf.training.task import Task
from svmf.training.tensorboard import TensorBoardSink, require_tensorboard
from svmf.training.trainer import Outcome, Trainer
from svmf.training.vae_task import VAETask

_TASKS: dict[str, type[Task]] = {
    "vae": VAETask,
    "semi-supervised": SemiSupervisedTask,
    "graph": GraphTask,
}


def start_run(config: RunConfig, out: str | os.PathLike[str], **options: Any) -> Outcome:
    """Trains in a new folder. For `options` see `train_in`."""
    return train_in(RunFolder(out), config, fresh=True, **options)


def continue_run(
    out: str | os.PathLike[str], overrides: dict[str, Any] | None = None, **options: Any
) -> Outcome:
    """Continues the run in a folder. `overrides` may change where and how long it runs, and may
    repeat what it is, but not change that."""
    folder = RunFolder(out)
    stored = folder.read_config()
    config = _with_overrides(stored, overrides)
    for name in fixed_options():
        had, given = getattr(stored, name), getattr(config, name)
        if had != given:
            raise RunError(
                f"{folder.path}: this run has {name} {had!r}, it cannot be continued with {given!r}"
            )
    return train_in(folder, config, fresh=False, **options)


def train_in(
    folder: RunFolder,
    config: RunConfig,
    fresh: bool,
    progress: ProgressLine | None = None,
    checkpoint_seconds: float = 20.0,
    tensorboard: bool = False,
    make: Callable[[RunConfig, Processes], Task] | None = None,
) -> Outcome:
    """`make` gives the task; it is that of the configuration by default."""
    with run_environment(config) as processes:
        # the data come first: a missing data set leaves no empty run folder behind
        task = (make or make_task)(config, processes)
        if tensorboard:
            require_tensorboard()
        trainer = Trainer(task, folder, progress, checkpoint_seconds)
        try:
            if processes.writes:
                folder.create(config) if fresh else folder.lock()
            trainer.prepare()
        except BaseException:
            folder.abandon() if fresh else folder.unlock()
            raise
        try:
            if tensorboard and processes.writes:
                trainer.sinks.append(TensorBoardSink(folder.path / "tensorboard"))
            return trainer.run()
        finally:
            for sink in trainer.sinks:
                sink.close()
            folder.unlock()


def evaluate_run(
    out: str | os.PathLike[str], overrides: dict[str, Any] | None = None, **options: Any
) -> dict[str, Any]:
    """The test figures of a run's best epoch."""
    folder = RunFolder(out)
    config = _with_overrides(folder.read_config(), overrides)
    with finished_task(folder, config) as (task, best_epoch):
        return {
            "model": config.model,
            "data": config.data,
            "dim": config.dim,
            "seed": config.seed,
            "best_epoch": best_epoch,
            **task.evaluate(**options),
        }


def train_or_continue(folder: RunFolder, config: RunConfig, **options: Any) -> Outcome:
    """Trains in a folder, or goes on in it for as many epochs as the configuration says now."""
    if not folder.exists():
        return start_run(config, folder.path, **options)
    again = {"compile": config.compile, "epochs": config.epochs}
    return continue_run(folder.path, again, **options)


@contextlib.contextmanager
def finished_task(folder: RunFolder, config: RunConfig) -> Iterator[tuple[Task, int]]:
    """The task of a run with the weights of its best epoch, and that epoch."""
    with run_environment(config) as processes:
        task = make_task(config, processes)
        yield task, load_best(task, folder)


def _with_overrides(stored: RunConfig, overrides: dict[str, Any] | None) -> RunConfig:
    """The stored configuration with the options that were given again, None for those not given."""
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    return check_config(dataclasses.replace(stored, **given))


def make_task(config: RunConfig, processes: Processes) -> Task:
    """The task with a freshly initialised model, the same in every process."""
    return seeded(config, lambda: _TASKS[config.spec.kind](config, processes))


def seeded(config: RunConfig, make: Callable[[], Task]) -> Task:
    """The task that `make` gives, with weights that the run's seed decides."""
    torch.manual_seed(derived_seed(Purpose.WEIGHTS, config.seed))
    try:
        return make()
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate" not in str(error):
            raise
        raise ConfigError(
            "the data and the model of this configuration do not fit into memory"
        ) from error
