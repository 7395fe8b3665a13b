# SPDX-License-Identifier: MIT
"""Results on disk: each finished run is one JSON file, written atomically and never made twice. A
run that was cut at a number of epochs has one too, until a command that allows more continues it.

Training itself happens in a work folder outside the results, with the trainer's own checkpoints, so
that an interrupted experiment continues in the middle of a run. Several processes may work on the
same experiment: a run that another one holds is passed over.
"""

import json
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from svmf.errors import RunError, UserError
from svmf.training.files import atomic_write
from svmf.training.run_folder import RunFolder

Cell = TypeVar("Cell")


@dataclass(frozen=True)
class Workspace:
    """Where an experiment keeps things, and how it runs."""

    results: Path  # JSON, tables and figures: meant for the repository
    work: Path  # checkpoints: not meant for it
    quick: bool = False  # tiny settings that only show that everything works
    threads: int = 1
    compile: bool = False
    epochs: int | None = None  # cuts the long runs; None: they end by their own rule
    say: Callable[[str], None] = field(default=print)

    def at_most(self, epochs: int) -> int:
        return epochs if self.epochs is None else min(epochs, self.epochs)


@dataclass(frozen=True)
class Job:
    """One run: `work` receives a folder of its own and returns figures as plain data; `suffices`
    says whether a result that is there already is all that this job could give."""

    experiment: str
    key: str
    work: Callable[[Path], dict[str, Any]]
    suffices: Callable[[dict[str, Any]], bool] = lambda result: True

    def path(self, workspace: Workspace) -> Path:
        return workspace.results / self.experiment / f"{self.key}.json"

    def done(self, workspace: Workspace) -> bool:
        path = self.path(workspace)
        return path.exists() and self.suffices(_read(path))


class InterruptedRunError(UserError):
    """A training run inside an experiment was stopped by the user."""

    exit_code = 130


def run_jobs(jobs: Iterable[Job], workspace: Workspace) -> bool:
    """Runs what has no result yet. True if every job has one at the end."""
    complete = True
    for job in jobs:
        if job.done(workspace):
            continue
        folder = RunFolder(workspace.work / job.experiment / job.key)
        folder.path.mkdir(parents=True, exist_ok=True)
        claim = RunFolder(folder.path / "claim")
        claim.path.mkdir(exist_ok=True)
        try:
            claim.lock()
        except RunError:
            workspace.say(f"{job.experiment}/{job.key}: another process is at it")
            complete = False
            continue
        try:
            if not job.done(workspace):
                workspace.say(f"{job.experiment}/{job.key}: running")
                started = time.monotonic()
                figures = job.work(folder.path / "run")
                _write(job, workspace, figures, time.monotonic() - started)
        finally:
            claim.unlock()
    return complete


def _write(job: Job, workspace: Workspace, figures: dict[str, Any], seconds: float) -> None:
    path = job.path(workspace)
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "experiment": job.experiment,
        "key": job.key,
        **figures,
        "seconds": round(seconds, 1),
        "versions": versions(),
    }
    atomic_write(path, (json.dumps(record, indent=1) + "\n").encode())
    workspace.say(f"{job.experiment}/{job.key}: done in {seconds:.0f} s")


def read_results(workspace: Workspace, experiment: str) -> list[dict[str, Any]]:
    """All results of an experiment, by key."""
    return [_read(path) for path in sorted((workspace.results / experiment).glob("*.json"))]


def results_by(
    workspace: Workspace, experiment: str, cell: Callable[[dict[str, Any]], Cell]
) -> dict[Cell, list[dict[str, Any]]]:
    """The results of an experiment by the cell of a table that each belongs to."""
    found: dict[Cell, list[dict[str, Any]]] = {}
    for result in read_results(workspace, experiment):
        found.setdefault(cell(result), []).append(result)
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        result = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path}: not a result file: {error}") from error
    if not isinstance(result, dict):
        raise RunError(f"{path}: not a result file: expected an object")
    return result


def versions() -> dict[str, str]:
    import torch

    import svmf

    return {
        "svmf": svmf.__version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
