# SPDX-License-Identifier: MIT
"""What the gap between the bound and the exact likelihood of an S-VAE on S^2 is made of: how much
of it a better encoder would close, how much a flow, and how much is left.

    python -m reproduction.posterior_gap RUN      # of `svmf train svae --dim 2`; minutes

The decoder stays. For some test images the posterior's raw parameters are optimised one image at a
time, from the encoder's: the best von Mises-Fisher posterior, then the best flows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

import svmf
from reproduction.markdown import markdown_table
from svmf.cli import Parser
from svmf.data import load_images_named
from svmf.data.binarize import Binarizer
from svmf.models import VAE, FlowLatent, SphericalLatent, exact_log_likelihood_2d
from svmf.models.latents import Latent

IMAGES = 500
STEPS = 600
LAYERS = (1, 2, 4)
_DRAWS = 6  # of each image in a step
_RATE = 0.05
_LATE, _LATE_RATE = 0.6, 0.01  # from this share of the steps on
_START = 0.3  # of the layers' raw outputs, so that every layer has a gradient
_WIDE, _PULL = 10.0, 4.0  # a flow's other start: a wide base and a strong contraction


@dataclass(frozen=True)
class Bound:
    """Mean over the images of a posterior's bound, and its distance from the exact likelihood."""

    posterior: str
    elbo: float
    gap: float


def draws_of(model: VAE, latent: Latent[Any], raw: Tensor, x: Tensor) -> Tensor:
    """The bound's estimate from one draw of each row."""
    z, kl, _ = latent.draw(latent.posterior(raw))
    return model.reconstruction(z, x) - kl


def optimised(model: VAE, latent: Latent[Any], raw: Tensor, x: Tensor, steps: int) -> Tensor:
    """Raw parameters [rows, ...] whose bounds are the best that Adam finds."""
    raw = raw.detach().clone().requires_grad_()
    adam = torch.optim.Adam([raw], lr=_RATE)
    many = x.repeat(_DRAWS, 1)
    for step in range(steps):
        if step == int(_LATE * steps):
            adam.param_groups[0]["lr"] = _LATE_RATE
        adam.zero_grad()
        (-draws_of(model, latent, raw.repeat(_DRAWS, 1), many).sum()).backward()
        adam.step()
    return raw.detach()


@torch.no_grad()
def mean_bound(model: VAE, latent: Latent[Any], raw: Tensor, x: Tensor) -> Tensor:
    """Over 100 draws, [rows]."""
    return torch.stack([draws_of(model, latent, raw, x) for _ in range(100)]).mean(0)


def flow_starts(latent: FlowLatent, base: Tensor) -> tuple[Tensor, Tensor]:
    """Layers that do little over the von Mises-Fisher posterior `base` [rows, 4]; and the same over
    a wide base that the last map contracts."""
    rest = _START * torch.randn(len(base), sum(latent.head_sizes) - base.shape[1])
    near = torch.cat([base, rest], 1)
    near[:, -1] = 0
    wide = near.clone()
    wide[:, base.shape[1] - 1], wide[:, -1] = _WIDE, _PULL
    return near, wide


def bounds(
    model: VAE, x: Tensor, steps: int = STEPS, layers: Sequence[int] = LAYERS
) -> tuple[float, list[Bound]]:
    """The mean exact log-likelihood of rows x, and what each posterior leaves of it."""
    for weight in model.parameters():
        weight.requires_grad_(False)
    exact = exact_log_likelihood_2d(model, x).mean().item()

    def bound(name: str, rows: Tensor) -> Bound:
        elbo = rows.double().mean().item()
        return Bound(name, elbo, exact - elbo)

    sphere = SphericalLatent(2)
    encoded = model.encoder(x)
    best = optimised(model, sphere, encoded, x, steps)
    found = [
        bound("vMF of the encoder", mean_bound(model, sphere, encoded, x)),
        bound("best vMF of each image", mean_bound(model, sphere, best, x)),
    ]
    for count in layers:
        flow = FlowLatent(2, layers=count)
        ends = [optimised(model, flow, start, x, steps) for start in flow_starts(flow, best)]
        near, wide = (mean_bound(model, flow, end, x) for end in ends)
        better = (near > wide).unsqueeze(-1)  # of two local optima
        rows = mean_bound(model, flow, torch.where(better, ends[0], ends[1]), x)
        found.append(bound(f"best flow of {count} layer{'s' * (count > 1)}", rows))
    return exact, found


def main(argv: Sequence[str] | None = None) -> None:
    parser = Parser(description=__doc__)
    parser.add_argument("run", help="the folder of a training run of an S-VAE with d = 2")
    parser.add_argument("--images", type=int, default=IMAGES, help=f"test images ({IMAGES})")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"of each optimisation ({STEPS})")
    arguments = parser.parse_args(argv)
    model = svmf.load_model(arguments.run)
    if not isinstance(model, VAE) or type(model.latent) is not SphericalLatent:
        parser.error(f"{arguments.run}: expected an S-VAE")
    torch.manual_seed(0)
    grey = load_images_named(model.config.data).test.images[: arguments.images]
    exact, found = bounds(model, Binarizer(0)(grey), arguments.steps)
    print(f"{len(grey)} test images, exact log-likelihood {exact:.2f}\n")
    rows = [[row.posterior, f"{row.elbo:.2f}", f"{row.gap:.2f}"] for row in found]
    print(markdown_table(["posterior", "ELBO", "gap"], rows))


if __name__ == "__main__":
    main()
