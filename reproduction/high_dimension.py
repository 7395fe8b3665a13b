# SPDX-License-Identifier: MIT
"""Latents in R^1024 and R^4096: a short run of every family on MNIST, step by step by turns, and
what a step costs beside the Gaussian's: `python -m reproduction high-dimension`.
"""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from reproduction.markdown import markdown_table
from reproduction.record import Job, Workspace, read_results
from svmf.benchmarking.timing import threads
from svmf.data import load_images_named
from svmf.data.binarize import Binarizer
from svmf.models import (
    LATENTS,
    VAE,
    Bernoulli,
    FlowLatent,
    GaussianLatent,
    ProductLatent,
    SphericalLatent,
)
from svmf.models.latents import Latent
from svmf.training.randomness import Purpose, derived_seed, generator

EXPERIMENT = "high-dimension"
SIZES = (1024, 4096)  # m; N has d = m - 1
STEPS = 300
BATCH = 64
BASE = "N"
_FIRST = 20  # steps that are not timed
_EDGE = 50  # steps of which the mean is shown, at the end


def latents_of(m: int) -> dict[str, Latent[Any]]:
    """By title. The products have as many coordinates as the one sphere."""
    part = m // 64
    return {
        BASE: GaussianLatent(m - 1),
        "vMF": SphericalLatent(m - 1),
        "power spherical": LATENTS["power-spherical"](m - 1),
        "spherical Cauchy": LATENTS["spherical-cauchy"](m - 1),
        f"product s{part - 1}x64": ProductLatent([SphericalLatent(part - 1)] * 64),
        f"product s{m // 2 - 1}+n{m // 2}": ProductLatent(
            [SphericalLatent(m // 2 - 1), GaussianLatent(m // 2)]
        ),
        "flow over vMF, one layer": FlowLatent(m - 1, layers=1),
    }


class Learner:
    """A model with its optimiser; what each of its steps cost and gave."""

    def __init__(self, latent: Latent[Any], pixels: int) -> None:
        torch.manual_seed(derived_seed(Purpose.WEIGHTS, 0))
        radius = "sqrt" if any(unit for _, unit in latent.spheres) else "1"
        self.model = VAE(pixels, latent, Bernoulli(), radius=radius)
        self.adam = torch.optim.Adam(self.model.parameters(), fused=True)
        self.seconds: list[float] = []
        self.elbos: list[float] = []
        self.finite = True

    def step(self, x: Tensor) -> None:
        started = time.process_time()
        self.adam.zero_grad()
        loss, _ = self.model(x)
        loss.backward()
        self.adam.step()
        self.seconds.append(time.process_time() - started)
        self.elbos.append(-loss.item())
        gradients = [weight.grad for weight in self.model.parameters()]
        self.finite &= all(bool(g.isfinite().all()) for g in gradients if g is not None)


def jobs(workspace: Workspace, dims: Sequence[int] | None = None) -> list[Job]:
    """`dims` are sizes m here."""
    return [_job(workspace, m) for m in dims or ((128,) if workspace.quick else SIZES)]


def _job(workspace: Workspace, m: int) -> Job:
    def work(_folder: Path) -> dict[str, Any]:
        images = load_images_named("digits" if workspace.quick else "mnist")
        steps = 25 if workspace.quick else STEPS
        with threads(workspace.threads):
            learners = {name: Learner(it, images.pixels) for name, it in latents_of(m).items()}
            binarize = Binarizer(derived_seed(Purpose.DATA, 0))
            order = generator(Purpose.ORDER, 0)
            torch.manual_seed(derived_seed(Purpose.NOISE, 0))
            for _ in range(steps):
                rows = torch.randint(len(images.train), (BATCH,), generator=order)
                x = binarize(images.train.images[rows])
                for learner in learners.values():
                    learner.step(x)
        base = statistics.median(learners[BASE].seconds[_FIRST:])
        return {
            "command": f"python -m reproduction high-dimension --dims {m}",
            "m": m,
            "steps": steps,
            "families": {
                name: {
                    "milliseconds": round(1e3 * statistics.median(learner.seconds[_FIRST:]), 3),
                    "share": round(statistics.median(learner.seconds[_FIRST:]) / base, 3),
                    "first": round(learner.elbos[0], 1),
                    "last": round(statistics.fmean(learner.elbos[-_EDGE:]), 1),
                    "finite": learner.finite,
                }
                for name, learner in learners.items()
            },
        }

    return Job(EXPERIMENT, f"m{m}", work)


def table(workspace: Workspace) -> str:
    """Empty if there are no runs."""
    rows = [
        [
            str(result["m"]),
            name,
            f"{figures['share']:.2f}",
            f"{figures['first']:.0f}",
            f"{figures['last']:.1f}",
            "yes" if figures["finite"] else "no",
        ]
        for result in sorted(read_results(workspace, EXPERIMENT), key=lambda result: result["m"])
        for name, figures in result["families"].items()
    ]
    head = ["m", "posterior", "time of a step / N's", "ELBO, first step", "last 50 steps"]
    return markdown_table([*head, "all gradients finite"], rows) if rows else ""


NOTES = f"""
A VAE with a latent in R^m, d = m - 1 for N, spheres at radius sqrt(m): {STEPS} steps with batches
of {BATCH} training images of MNIST, all families by turns on the same batches, eager, one thread,
the process's own time (median). It shows that every family trains there and what a step costs;
{STEPS} steps say little about which is best. The gradients are tested against quadrature
(`tests/models/test_high_dimension.py`).
"""
