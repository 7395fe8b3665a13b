# SPDX-License-Identifier: MIT
"""Figure 1: which model recovers a circle that was bent into R^100?

The score is the product of two shares, each between 0 and 1: how well distances between latent
samples rank as the true distances on the circle do (Spearman), and how many decoded samples of the
prior lie on the true curve. An auto-encoder keeps the first and loses the second, a strong
Gaussian prior the other way round.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from svmf.data import CircleSet, make_circle
from svmf.training import RunConfig, RunFolder, make_config
from svmf.training.run import finished_task, train_or_continue
from svmf.training.vae_task import CIRCLE_POINTS, CIRCLE_SPLIT, VAETask

EPOCHS = 60
_PRIOR_SAMPLES = 2000
_ON_CURVE = 0.05  # of the curve's diameter: nearer than that counts as on the curve


@dataclass(frozen=True)
class CircleModel:
    key: str
    title: str
    model: str
    options: dict[str, Any]


CIRCLE_MODELS = (
    CircleModel("ae", "Auto-encoder", "ae", {"dim": 2}),
    CircleModel("nvae", "N-VAE", "nvae", {"dim": 2}),
    CircleModel("nvae_beta", "N-VAE, beta = 0.1", "nvae", {"dim": 2, "beta": 0.1}),
    CircleModel("svae", "S-VAE", "svae", {"dim": 1}),
)


@dataclass(frozen=True)
class CircleOutcome:
    model: CircleModel
    correlation: float  # Spearman, true against latent distances
    on_curve: float  # share of decoded prior samples on the true curve
    elbo: float
    codes: Tensor  # [n, 2]: one latent sample for each test point
    angles: Tensor  # [n]: the true ones

    @property
    def score(self) -> float:
        return max(self.correlation, 0.0) * self.on_curve


def circle_config(
    circle_model: CircleModel, seed: int, epochs: int = EPOCHS, threads: int = 1
) -> RunConfig:
    return make_config(
        circle_model.model,
        data="circle",
        seed=seed,
        epochs=epochs,
        warm_up=0,
        look_ahead=0,
        threads=threads,
        **circle_model.options,
    )


def run_circle(
    circle_model: CircleModel, config: RunConfig, folder: Path, **options: Any
) -> CircleOutcome:
    """Trains one model (or continues, or finds it finished) in `folder` and scores it. `options`
    are those of `start_run`."""
    run = RunFolder(folder)
    train_or_continue(run, config, **options)
    with finished_task(run, config) as (task, _):
        assert isinstance(task, VAETask)
        return score_circle(circle_model, task, make_circle(CIRCLE_POINTS, config.seed))


@torch.no_grad()
def score_circle(circle_model: CircleModel, task: VAETask, circle: CircleSet) -> CircleOutcome:
    from scipy.stats import spearmanr  # type: ignore[import-untyped]

    model, latent = task.model, task.model.latent
    held_out = slice(sum(CIRCLE_SPLIT[:2]), None)
    angles = circle.angles[held_out].double()
    torch.manual_seed(0)
    codes = latent.draw(model.posterior(circle.points[held_out])).z.double()
    true = torch.arccos(torch.cos(angles[:, None] - angles).clamp(-1, 1))
    found = latent.distances(codes, codes)
    first, second = torch.triu_indices(len(angles), len(angles), 1)
    correlation = float(spearmanr(true[first, second], found[first, second]).statistic)
    decoded = model.decode(latent.prior_sample(_PRIOR_SAMPLES))
    diameter = torch.cdist(circle.curve, circle.curve).max()
    near = torch.cdist(decoded, circle.curve).amin(1) < _ON_CURVE * diameter
    return CircleOutcome(
        circle_model,
        correlation,
        float(near.double().mean()),
        task.evaluate(samples=0)["elbo"],
        codes.float(),
        angles.float(),
    )
