# SPDX-License-Identifier: MIT
"""A job that trains a configuration, continues it after an interruption, and evaluates it."""

import dataclasses
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reproduction.record import InterruptedRunError, Job
from svmf.progress import ProgressLine
from svmf.training import RunConfig, RunFolder
from svmf.training.run import finished_task, train_or_continue
from svmf.training.task import Task

AfterTraining = Callable[[Task], None]


def training_job(
    experiment: str,
    key: str,
    config: RunConfig,
    evaluation: dict[str, Any] | None = None,
    after: AfterTraining | None = None,
) -> Job:
    """`after` sees the task with its best weights: for figures that need a model. A run that was
    cut is continued, if this configuration allows more epochs."""

    def work(folder: Path) -> dict[str, Any]:
        run = RunFolder(folder)
        outcome = train_or_continue(run, config, progress=ProgressLine())
        if not outcome.finished:
            raise InterruptedRunError(f"{experiment}/{key}: stopped; the same command continues it")
        with finished_task(run, config) as (task, _):
            figures = task.evaluate(**(evaluation or {}))
            if after is not None:
                after(task)
        return {
            "command": train_command(config),
            "config": dataclasses.asdict(config),
            "epochs": outcome.epoch,
            "best_epoch": outcome.best_epoch,
            "best_validation": outcome.best_score,
            "validation_scores": [
                round(epoch["validation"][task.score], 3) for epoch in run.read_metrics()
            ],
            "training_seconds": round(run.training_seconds(), 3),
            "figures": figures,
        }

    def suffices(result: dict[str, Any]) -> bool:
        return not was_cut(result) or result["config"]["epochs"] >= config.epochs

    return Job(experiment, key, work, suffices)


def was_cut(result: dict[str, Any]) -> bool:
    """Whether the run reached its number of epochs before its look-ahead ended it."""
    config = result["config"]
    return config["look_ahead"] > 0 and result["epochs"] >= config["epochs"]


def cut_mark(results: list[dict[str, Any]]) -> str:
    return "†" if any(was_cut(result) for result in results) else ""


def cut_note(results: list[dict[str, Any]]) -> str:
    """What `cut_mark` means in a table of these results; empty if it marks none of them."""
    cut = [result["epochs"] for result in results if was_cut(result)]
    if not cut:
        return ""
    fewest, most = min(cut), max(cut)
    after = str(most) if fewest == most else f"{fewest} to {most}"
    return f"\n† Runs were cut after {after} epochs, before their look-ahead ended them.\n"


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
