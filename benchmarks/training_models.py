# SPDX-License-Identifier: MIT
"""The models of the comparison of training steps, and how much of an epoch is not forward, backward
or optimiser. Needs what svmf.models and svmf.training need."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributions import Normal, kl_divergence

from benchmarks.training_step import BATCH, DIM, LIMIT, NORMAL, OURS, PIXELS, REFERENCE
from svmf.data import Binarizer
from svmf.models import VAE, Bernoulli, GaussianLatent, PointLatent, SphericalLatent
from svmf.models.latents import Direction, Draw
from svmf.models.networks import mlp
from svmf.training.config import make_config
from svmf.training.processes import Processes
from svmf.training.rows import BinarizedRows
from svmf.training.run_folder import RunFolder
from svmf.training.trainer import Trainer
from svmf.training.vae_task import VAETask

_EPOCH_ROWS = 10_000


class NormalVAE(nn.Module):
    """The N-VAE as one writes it with torch.distributions."""

    def __init__(self, validate_args: bool | None = None) -> None:
        super().__init__()
        self.encoder = mlp([PIXELS, 256, 128], (DIM, DIM))
        self.decoder = mlp([DIM, 128, 256], PIXELS)
        self.validate_args = validate_args

    def forward(self, x: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
        checks = self.validate_args
        loc, raw = self.encoder(x).chunk(2, dim=-1)
        posterior = Normal(loc, F.softplus(raw), validate_args=checks)
        prior = Normal(torch.zeros_like(loc), torch.ones_like(loc), validate_args=checks)
        kl = kl_divergence(posterior, prior).sum(-1)
        logits = self.decoder(posterior.rsample())
        re = -F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(-1)
        return (beta * kl - re).mean(), torch.stack([re.mean(), kl.mean()]).detach()


class ReferenceLatent(SphericalLatent):
    """The same latent on the plain-Python sampler."""

    def draw(self, posterior: Direction) -> Draw:
        from svmf import reference

        return Draw(*reference.vmf_rsample_kl(*posterior, gradient=self.gradient))


def make_steps(device: str = "cpu") -> dict[str, Callable[[], None]]:
    """One training step of every model: forward, backward, Adam."""
    torch.manual_seed(0)
    models: dict[str, nn.Module] = {
        OURS: VAE(PIXELS, SphericalLatent(DIM), Bernoulli()),
        "S-VAE, corrected": VAE(PIXELS, SphericalLatent(DIM, "corrected"), Bernoulli()),
        NORMAL: NormalVAE(),
        "N-VAE, without validation": NormalVAE(validate_args=False),
        "N-VAE, svmf.models": VAE(PIXELS, GaussianLatent(DIM), Bernoulli()),
        LIMIT: VAE(PIXELS, PointLatent(DIM), Bernoulli()),
    }
    if device == "cpu":
        models[REFERENCE] = VAE(PIXELS, ReferenceLatent(DIM), Bernoulli())
    x = Binarizer(0)(torch.randint(256, (BATCH, PIXELS), dtype=torch.uint8)).to(device)
    return {name: _step(model.to(device), x) for name, model in models.items()}


def _step(model: nn.Module, x: Tensor) -> Callable[[], None]:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    beta = torch.tensor(1.0, device=x.device)

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
            torch.randint(256, (_EPOCH_ROWS, PIXELS), dtype=torch.uint8), self.device, 0
        )
        self._order = type(self._order)(_EPOCH_ROWS, BATCH, 0, processes)
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
        trainer.prepare()
        evaluate, update = _Clock(trainer._evaluate), _Clock(trainer._optimizer.step)
        trainer._evaluate, trainer._optimizer.step = evaluate, update  # type: ignore[method-assign]
        start = time.perf_counter()
        trainer.run()
        total = time.perf_counter() - start
        return 1 - (evaluate.seconds + update.seconds) / total
