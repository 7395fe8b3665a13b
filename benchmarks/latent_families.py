# SPDX-License-Identifier: MIT
"""The latent part of a training step (sample, KL, backward) for every family and for published ways
to do the same, and of a product of equal spheres beside one sphere: by turns, one thread, the
process's own time.

python -m benchmarks.latent_families          # under a minute, a Markdown table
"""

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

import svmf.functional as F
from benchmarks import plain_spherical_cauchy, published_formulas
from svmf import reference
from svmf.benchmarking.report import table
from svmf.benchmarking.timing import time_interleaved
from svmf.models import ProductLatent, SphericalLatent
from svmf.models.latents import Latent

SHAPES = ((64, 10), (1024, 10), (1024, 64), (256, 1024), (64, 4096))
Step = Callable[[], object]


def _rows(rows: int, m: int) -> Tensor:
    generator = torch.Generator().manual_seed(m)
    normal = torch.randn(rows, m, generator=generator)
    return torch.nn.functional.normalize(normal, dim=-1).requires_grad_()


def _step(draw: Callable[..., tuple[Tensor, Tensor]], loc: Tensor, spread: Tensor) -> Step:
    z, kl = draw(loc, spread)
    gradients = torch.randn_like(z), torch.ones_like(kl)
    return lambda: torch.autograd.grad(draw(loc, spread), (loc, spread), gradients)


def _normal(loc: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    q = Normal(loc, scale, validate_args=False)
    prior = Normal(torch.zeros_like(loc), torch.ones_like(scale), validate_args=False)
    return q.rsample(), kl_divergence(q, prior).sum(-1)


def _published_vmf(loc: Tensor, kappa: Tensor) -> tuple[Tensor, Tensor]:
    scale = kappa.unsqueeze(-1)
    kl = published_formulas.kl_uniform(scale, loc.shape[-1])
    return published_formulas.rsample(loc, scale), kl


def family_steps(rows: int, m: int) -> dict[str, Step]:
    """All families at about the concentration of a vMF of kappa = 4 m; then published ways. That of
    the vMF is timed at any m, but its divergence is 14 nats short at m = 1024 and nan at 4096."""
    loc = _rows(rows, m)

    def spread(value: float) -> Tensor:
        return torch.full((rows,), value, requires_grad=True)

    return {
        "Normal'": _step(_normal, loc, torch.full((rows, m), 0.4, requires_grad=True)),
        "vMF": _step(F.vmf_rsample_kl, loc, spread(4.0 * m)),
        "spherical Cauchy": _step(F.spherical_cauchy_rsample_kl, loc, spread(0.7)),
        "power spherical": _step(F.power_spherical_rsample_kl, loc, spread(8.0 * m)),
        "vMF, published": _step(_published_vmf, loc, spread(4.0 * m)),
        "spherical Cauchy, plain torch": _step(plain_spherical_cauchy.rsample_kl, loc, spread(0.7)),
        "power spherical, torch's Beta": _step(
            reference.power_spherical_rsample_kl, loc, spread(8.0 * m)
        ),
    }


def product_steps(rows: int) -> dict[str, tuple[Step, int]]:
    """Steps through the latents, with their elements: one S^10, four of them, one S^43."""
    steps: dict[str, tuple[Step, int]] = {}
    each: tuple[tuple[str, Latent[Any]], ...] = (
        ("one S^10", SphericalLatent(10)),
        ("four S^10 as a product", ProductLatent([SphericalLatent(10)] * 4)),
        ("one S^43", SphericalLatent(43)),
    )
    for name, latent in each:
        raw = torch.randn(rows, sum(latent.head_sizes), requires_grad=True)

        def step(latent: Latent[Any] = latent, raw: Tensor = raw) -> object:
            draw = latent.draw(latent.posterior(raw))
            return torch.autograd.grad(draw.z.sum() + draw.kl.sum(), raw)

        steps[name] = step, rows * latent.coordinates
    return steps


def main() -> None:
    torch.set_num_threads(1)
    lines = []
    for rows, m in SHAPES:
        timings = time_interleaved(family_steps(rows, m), seconds=4.0, clock=time.process_time)
        normal = timings["Normal'"].median
        shares = (f"{timing.median / normal:.2f}" for timing in timings.values())
        lines.append([f"{rows} x {m}", f"{normal * 1e6:.0f} us", *list(shares)[1:]])
    print(table(["rows x m", *family_steps(2, 3)], lines))
    print()
    lines = []
    for rows in (64, 1024, 8192):
        steps = product_steps(rows)
        calls = {name: step for name, (step, _) in steps.items()}
        timings = time_interleaved(calls, seconds=4.0, clock=time.process_time)
        each = [timings[name].median / count * 1e9 for name, (_, count) in steps.items()]
        lines.append([str(rows), *(f"{ns:.1f} ns" for ns in each), f"{each[1] / each[0]:.2f}"])
    print(table(["rows", *(f"{name}, per element" for name in product_steps(1)), "ratio"], lines))


if __name__ == "__main__":
    main()
