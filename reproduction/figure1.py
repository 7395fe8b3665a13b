# SPDX-License-Identifier: MIT
"""Figure 1 with several seeds: the circle recovered, or not, with a score."""

from pathlib import Path
from typing import Any

import torch

from reproduction.markdown import markdown_table, mean_spread, write_table
from reproduction.record import Job, Workspace, read_results
from svmf.data import make_circle
from svmf.demo.circle import CIRCLE_MODELS, EPOCHS, CircleModel, circle_config, run_circle
from svmf.plots import circle_figure
from svmf.training.vae_task import CIRCLE_POINTS

_NOTES = """
Three von Mises-Fisher clusters on the circle, carried into R^100 by a random tanh layer and noise;
each seed is a new map and new models. Gaussian decoder with standard deviation 1; auto-encoder and
N-VAE with two coordinates, S-VAE on S^1. "distances": Spearman correlation of true distances on the
circle with distances between latent samples. "on curve": share of decoded prior samples within 5 %
of the curve's diameter from the true curve. Score: their product. Mean ± standard deviation (runs).
"""


def jobs(workspace: Workspace, seeds: int) -> list[Job]:
    return [_job(workspace, model, seed) for seed in range(seeds) for model in CIRCLE_MODELS]


def _job(workspace: Workspace, model: CircleModel, seed: int) -> Job:
    def work(folder: Path) -> dict[str, Any]:
        epochs = 2 if workspace.quick else EPOCHS
        config = circle_config(model, seed, epochs, workspace.threads)
        outcome = run_circle(model, config, folder)
        return {
            "model": model.key,
            "seed": seed,
            "correlation": outcome.correlation,
            "on_curve": outcome.on_curve,
            "score": outcome.score,
            "elbo": outcome.elbo,
            # three digits are plenty for a picture
            "codes": [[round(v, 3) for v in row] for row in outcome.codes.tolist()]
            if seed == 0
            else None,
            "angles": [round(v, 3) for v in outcome.angles.tolist()] if seed == 0 else None,
        }

    return Job("circle", f"{model.key}-seed{seed}", work)


def render(workspace: Workspace) -> Path:
    results = read_results(workspace, "circle")
    rows = []
    for model in CIRCLE_MODELS:
        runs = [result for result in results if result["model"] == model.key]
        names = ("correlation", "on_curve", "score")
        rows.append([model.title, *(mean_spread([run[n] for run in runs]) for n in names)])
    body = markdown_table(["model", "distances", "on curve", "score"], rows)
    _draw(workspace, results)
    return write_table(workspace.results / "fig1.md", "Figure 1: the circle", _NOTES, body)


def _draw(workspace: Workspace, results: list[dict[str, Any]]) -> None:
    shown = {result["model"]: result for result in results if result["seed"] == 0}
    if len(shown) < len(CIRCLE_MODELS):
        return
    circle = make_circle(CIRCLE_POINTS, 0)
    original = torch.stack([circle.angles.cos(), circle.angles.sin()], dim=1)[:500]
    panels = [("Original", original, circle.angles[:500])]
    for model in CIRCLE_MODELS:
        result = shown[model.key]
        codes, angles = torch.tensor(result["codes"]), torch.tensor(result["angles"])
        panels.append((model.title, codes, angles))
    circle_figure(panels, workspace.results / "figures" / "fig1.png")
