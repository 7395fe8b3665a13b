# SPDX-License-Identifier: MIT
"""The demonstration: four models on the circle, a figure, a score for each, and the sampler's speed
against the plain-Python reference and torch's Normal."""

import os
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from svmf import functional, reference
from svmf.data import make_circle
from svmf.demo.circle import CIRCLE_MODELS, EPOCHS, CircleOutcome, circle_config, run_circle
from svmf.errors import RunError
from svmf.plots import circle_figure
from svmf.progress import ProgressLine
from svmf.training import RunConfig, RunFolder

_SPEED_SHAPES = ((64, 10), (1024, 64), (8192, 10))
_SECONDS_PER_TIMING = 0.4


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
    print(f"{'rows x m':>12s} {'svmf':>10s} {'reference':>12s} {'Normal':>10s}")
    for rows, dim in _SPEED_SHAPES:
        ours, plain, normal = _speeds(rows, dim)
        print(f"{f'{rows} x {dim}':>12s} {ours:10.0f} {plain:12.0f} {normal:10.0f}")
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


def _speeds(rows: int, dim: int) -> tuple[float, float, float]:
    """Microseconds of svmf, of the reference and of torch's Normal for the same training step."""
    generator = torch.Generator().manual_seed(0)
    raw = torch.randn(rows, dim, generator=generator)
    loc = torch.nn.functional.normalize(raw, dim=-1).requires_grad_()
    kappa = torch.full((rows,), 50.0, requires_grad=True)
    scale = torch.full((rows, dim), 0.5, requires_grad=True)
    upstream = torch.randn(rows, dim, generator=generator)

    def vmf(library: object) -> Callable[[], None]:
        def step() -> None:
            z, kl = library.vmf_rsample_kl(loc, kappa)  # type: ignore[attr-defined]
            torch.autograd.grad((z * upstream).sum() + kl.sum(), (loc, kappa))

        return step

    def normal() -> None:
        posterior = torch.distributions.Normal(loc, scale)
        prior = torch.distributions.Normal(0.0, 1.0)
        z = posterior.rsample()
        kl = torch.distributions.kl_divergence(posterior, prior)
        torch.autograd.grad((z * upstream).sum() + kl.sum(), (loc, scale))

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _microseconds(vmf(functional)), _microseconds(vmf(reference)), _microseconds(normal)
    finally:
        torch.set_num_threads(threads)


def _microseconds(step: Callable[[], Tensor | None]) -> float:
    step()
    times: list[float] = []
    end = time.perf_counter() + _SECONDS_PER_TIMING
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6
