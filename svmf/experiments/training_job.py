# SPDX-License-Identifier: MIT
"""A job that trains a configuration, continues it after an interruption, and evaluates it."""

import dataclasses
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from svmf.experiments.record import InterruptedRunError, Job
from svmf.progress import ProgressLine
from svmf.training import RunConfig, RunFolder, continue_run, start_run
from svmf.training.run import make_task
from svmf.training.session import Session
from svmf.training.task import Task
from svmf.training.trainer import load_best

AfterTraining = Callable[[Task], None]


def training_job(
    experiment: str,
    key: str,
    config: RunConfig,
    evaluation: dict[str, Any] | None = None,
    after: AfterTraining | None = None,
) -> Job:
    """`after` sees the task with its best weights: for figures that need a model."""

    def work(folder: Path) -> dict[str, Any]:
        run = RunFolder(folder)
        progress = ProgressLine()
        outcome = (
            continue_run(folder, {"compile": config.compile}, progress=progress)
            if run.exists()
            else start_run(config, folder, progress=progress)
        )
        if not outcome.finished:
            raise InterruptedRunError(f"{experiment}/{key}: stopped; the same command continues it")
        with Session(config) as processes:
            task = make_task(config, processes)
            load_best(task, run)
            figures = task.evaluate(**(evaluation or {}))
            if after is not None:
                after(task)
        return {
            "command": train_command(config),
            "config": dataclasses.asdict(config),
            "epochs": outcome.epoch,
            "best_epoch": outcome.best_epoch,
            "best_validation": outcome.best_score,
            "training_seconds": round(run.training_seconds(), 3),
            "figures": figures,
        }

    return Job(experiment, key, work)


def train_command(config: RunConfig) -> str:
    """The command that repeats this run alone."""
    parts = ["svmf", "train", config.model]
    for name, value in dataclasses.asdict(config).items():
        if name in ("model", "data_root") or value is None or value is False:
            continue
        if value is True:
            parts.append(f"--{name.replace('_', '-')}")
            continue
        values = value if isinstance(value, tuple) else (value,)
        parts += [f"--{name.replace('_', '-')}", *(str(item) for item in values)]
    return shlex.join(parts)
