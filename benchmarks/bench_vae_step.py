# SPDX-License-Identifier: MIT
"""What a training step of the S-VAE costs (MNIST's shape: batch 64, 784 pixels, d = 10) against the
N-VAE written with torch.distributions and against the same S-VAE on the plain-Python sampler; and
how much of an epoch is not forward, backward or optimiser.

    python benchmarks/bench_vae_step.py [--minima] [--json out.json]
    pytest benchmarks/bench_vae_step.py --benchmark-only

Goals: S-VAE / N-VAE at most 1.0; reference / S-VAE at least 3; overhead of an epoch below 10 %.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from common import describe_environment, threads, time_interleaved, write_json
from torch import Tensor, nn
from torch.distributions import Normal, kl_divergence

from svmf import reference
from svmf.data import Binarizer
from svmf.models import VAE, Bernoulli, GaussianLatent, SphericalLatent
from svmf.models.latent import Direction, Draw
from svmf.models.networks import mlp
from svmf.training.config import make_config
from svmf.training.processes import Processes
from svmf.training.rows import BinarizedRows
from svmf.training.run_folder import RunFolder
from svmf.training.trainer import Trainer
from svmf.training.vae_task import VAETask

PIXELS, BATCH, DIM = 784, 64, 10


class NormalVAE(nn.Module):
    """The N-VAE as one writes it with torch.distributions, default validation."""

    def __init__(self, validate_args: bool | None = None) -> None:
        super().__init__()
        self.encoder = mlp([PIXELS, 256, 128], (DIM, DIM))
        self.decoder = mlp([DIM, 128, 256], PIXELS)
        self.validate_args = validate_args

    def forward(self, x: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
        loc, raw = self.encoder(x).chunk(2, dim=-1)
        posterior = Normal(loc, F.softplus(raw), validate_args=self.validate_args)
        prior = Normal(
            torch.zeros_like(loc), torch.ones_like(loc), validate_args=self.validate_args
        )
        kl = kl_divergence(posterior, prior).sum(-1)
        logits = self.decoder(posterior.rsample())
        re = -F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(-1)
        return (beta * kl - re).mean(), torch.stack([re.mean(), kl.mean()]).detach()


class ReferenceLatent(SphericalLatent):
    """The same latent on the plain-Python sampler."""

    def draw(self, posterior: Direction) -> Draw:
        return Draw(*reference.vmf_rsample_kl(*posterior, gradient=self.gradient))


def make_steps() -> dict[str, Callable[[], None]]:
    torch.manual_seed(0)
    models: dict[str, nn.Module] = {
        "S-VAE": VAE(PIXELS, SphericalLatent(DIM), Bernoulli()),
        "S-VAE, corrected": VAE(PIXELS, SphericalLatent(DIM, "corrected"), Bernoulli()),
        "S-VAE, reference": VAE(PIXELS, ReferenceLatent(DIM), Bernoulli()),
        "N-VAE, torch.distributions": NormalVAE(),
        "N-VAE, without validation": NormalVAE(validate_args=False),
        "N-VAE, svmf.models": VAE(PIXELS, GaussianLatent(DIM), Bernoulli()),
    }
    x = Binarizer(0)(torch.randint(256, (BATCH, PIXELS), dtype=torch.uint8))
    return {name: _step(model, x) for name, model in models.items()}


def _step(model: nn.Module, x: Tensor) -> Callable[[], None]:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    beta = torch.tensor(1.0)

    def step() -> None:
        optimizer.zero_grad()
        loss, _ = model(x, beta)
        loss.backward()
        optimizer.step()

    return step


class _Clock:
    """Adds up the time spent inside a call."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call, self.seconds = call, 0.0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return self.call(*args, **kwargs)
        finally:
            self.seconds += time.perf_counter() - start


class _SyntheticTask(VAETask):
    """The VAE task on random bytes of MNIST's shape, a fifth of its size."""

    def __init__(self, config: Any, processes: Processes) -> None:
        super().__init__(config, processes)
        self.train = BinarizedRows(
            torch.randint(256, (10_000, PIXELS), dtype=torch.uint8), self.device, 0
        )
        self._order = type(self._order)(10_000, BATCH, 0, processes)
        self.model = VAE(PIXELS, SphericalLatent(DIM), Bernoulli())

    def validate(self, epoch: int) -> dict[str, float]:
        return {"elbo": float(epoch)}


def epoch_overhead(epochs: int = 4) -> float:
    """The share of training time that is not forward, backward or optimiser; checkpoints, metrics
    and data included, validation not."""
    with tempfile.TemporaryDirectory() as folder:
        run = RunFolder(Path(folder) / "run")
        config = make_config("svae", data="digits", epochs=epochs, threads=1)
        run.create(config)
        trainer = Trainer(_SyntheticTask(config, Processes("cpu")), run)
        trainer._prepare()
        clocks = [_Clock(trainer._model), _Clock(trainer._optimizer.step)]
        trainer._model, trainer._optimizer.step = clocks
        backward = Tensor.backward
        clock = _Clock(backward)
        Tensor.backward = lambda self, *args: clock(self, *args)  # type: ignore[method-assign]
        start = time.perf_counter()
        try:
            trainer.run()
        finally:
            Tensor.backward = backward  # type: ignore[method-assign]
        total = time.perf_counter() - start
        return 1 - (clock.seconds + sum(c.seconds for c in clocks)) / total


@pytest.mark.parametrize("name", list(make_steps()))
def test_vae_step(benchmark, name):
    benchmark.group = "VAE step"
    with threads(1):
        benchmark(make_steps()[name])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="for all candidates together")
    parser.add_argument("--minima", action="store_true", help="ratios of minima: busy machines")
    parser.add_argument("--json", metavar="FILE", help="write all times here")
    arguments = parser.parse_args()
    statistic = "smallest" if arguments.minima else "median"
    print(describe_environment())
    with threads(1):
        timings = time_interleaved(
            make_steps(), seconds=arguments.seconds, block_seconds=0.02, least_blocks=20
        )
        overhead = epoch_overhead()
    times = {name: getattr(timing, statistic) for name, timing in timings.items()}
    print(f"\nbatch {BATCH}, {PIXELS} pixels, d = {DIM}, one thread; {statistic}s of one run\n")
    print(f"{'step':30s} {'us':>8s} {'S-VAE / this':>14s}")
    for name, seconds in times.items():
        print(f"{name:30s} {seconds * 1e6:8.0f} {times['S-VAE'] / seconds:14.2f}")
    normal = times["S-VAE"] / times["N-VAE, torch.distributions"]
    plain = times["S-VAE, reference"] / times["S-VAE"]
    print(f"\nS-VAE / N-VAE with torch.distributions   {normal:.2f}  (goal: at most 1.0)")
    print(f"reference / S-VAE                        {plain:.1f}  (goal: at least 3)")
    print(f"epoch beyond forward, backward, Adam     {overhead:.1%}  (goal: below 10 %)")
    if arguments.json:
        write_json(arguments.json, {"timings": timings, "epoch_overhead": overhead})


if __name__ == "__main__":
    main()
