# SPDX-License-Identifier: MIT
"""The demonstration: four models on the circle, a figure, a score for each, and the sampler's speed
against the plain-Python reference and torch's Normal."""

import os
import shutil
import time
from pathlib import Path

import torch

from svmf.benchmarking.cases import Case, Shape
from svmf.benchmarking.sampler import CANDIDATES, measure
from svmf.data import make_circle
from svmf.demo.circle import CIRCLE_MODELS, EPOCHS, CircleOutcome, circle_config, run_circle
from svmf.errors import RunError
from svmf.plots import circle_figure
from svmf.progress import ProgressLine
from svmf.training import RunConfig, RunFolder

_SPEED_SHAPES = ((64, 10), (1024, 64), (8192, 10))
_COMPARED = ("svmf", "reference", "Normal")
_SECONDS = 1.2  # for each shape


def run_demo(out: str | os.PathLike[str], seed: int = 0, epochs: int | None = None) -> None:
    """A run that is there with the same settings is not trained again."""
    folder = Path(out)
    try:
        (folder / "runs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{folder}: cannot be made: {error.strerror}") from error
    started = time.monotonic()
    outcomes = []
    for model in CIRCLE_MODELS:
        run = folder / "runs" / model.key
        config = circle_config(model, seed, epochs or EPOCHS)
        print(f"training {model.title} on the circle ...", flush=True)
        _keep_only(config, run)
        progress = ProgressLine()
        outcomes.append(run_circle(model, config, run, progress=progress))
    figure = _draw(outcomes, folder / "circle.png", seed)
    print("\nWhich model recovers the circle? (1 is perfect)\n")
    print(f"{'model':20s} {'distances':>10s} {'prior on curve':>15s} {'score':>7s} {'ELBO':>8s}")
    for outcome in outcomes:
        print(
            f"{outcome.model.title:20s} {outcome.correlation:10.2f} {outcome.on_curve:15.2f} "
            f"{outcome.score:7.2f} {outcome.elbo:8.1f}"
        )
    print("\nSampling: draw, KL divergence and gradient, microseconds per call, one thread\n")
    print(f"{'rows x m':>12s}" + "".join(f"{name:>11s}" for name in _COMPARED))
    for rows, dim in _SPEED_SHAPES:
        times = "".join(f"{each:11.0f}" for each in _speeds(rows, dim))
        print(f"{f'{rows} x {dim}':>12s}{times}")
    print(f"\nfigure  {figure}")
    print(f"runs    {folder / 'runs'}")
    print(f"time    {time.monotonic() - started:.0f} s")


def _keep_only(config: RunConfig, run: Path) -> None:
    """Removes a run of other settings, or one that cannot be read."""
    try:
        fits = RunFolder(run).read_config() == config
    except RunError:
        fits = False
    if not fits:
        shutil.rmtree(run, ignore_errors=True)


def _draw(outcomes: list[CircleOutcome], path: Path, seed: int) -> Path:
    circle = make_circle(len(outcomes[0].angles), seed)
    original = torch.stack([circle.angles.cos(), circle.angles.sin()], dim=1)
    panels = [("Original", original, circle.angles)]
    panels += [(outcome.model.title, outcome.codes, outcome.angles) for outcome in outcomes]
    return circle_figure(panels, path)


def _speeds(rows: int, dim: int) -> list[float]:
    """Microseconds of each candidate for the same training step."""
    case = Case("step", Shape(1, rows, dim))
    candidates = [candidate for candidate in CANDIDATES if candidate.name in _COMPARED]
    timings = measure(case, candidates, seconds=_SECONDS)
    return [timings[name].median * 1e6 for name in _COMPARED]
