# SPDX-License-Identifier: MIT
"""The latent part of a training step as users write it: raw features to parameters, construct,
rsample, KL, a scalar, backward. Eager and compiled, against torch.distributions.Normal.

    python -m benchmarks.latent_step                       # one thread, about two minutes
    python -m benchmarks.latent_step --models 2 10 100   # a step of the S-VAE over the N-VAE

The first compiled call switches torch's validation off; `with checks` asks for it. `empty` has the
same inputs, scalar and backward pass, without a distribution: what torch.compile itself costs.
Times are the least of many blocks by turns, by the process's own clock."""

import time
from collections.abc import Callable, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributions import Normal, kl_divergence

import svmf.functional
from svmf.benchmarking.report import table
from svmf.benchmarking.timing import threads, time_interleaved
from svmf.cli import Parser
from svmf.distributions import HypersphericalUniform, VonMisesFisher
from svmf.models import VAE, Bernoulli, GaussianLatent, SphericalLatent

SHAPES = ((64, 10), (1024, 10), (1024, 64))
PIXELS = 784
Step = Callable[[Tensor, Tensor, Tensor], Tensor]


def vmf(raw: Tensor, raw_kappa: Tensor, weights: Tensor, checks: bool | None = None) -> Tensor:
    kappa = F.softplus(raw_kappa) + 1
    q = VonMisesFisher(F.normalize(raw, dim=-1), kappa, validate_args=checks)
    kl = kl_divergence(q, HypersphericalUniform(raw.shape[-1], validate_args=checks))
    return (q.rsample() * weights).sum() + kl.sum()


def vmf_fused(raw: Tensor, raw_kappa: Tensor, weights: Tensor) -> Tensor:
    z, kl = VonMisesFisher(F.normalize(raw, dim=-1), F.softplus(raw_kappa) + 1).rsample_kl()
    return (z * weights).sum() + kl.sum()


def vmf_features(raw: Tensor, raw_kappa: Tensor, weights: Tensor) -> Tensor:
    z, kl = svmf.functional.vmf_rsample_kl_from_features(raw, raw_kappa)
    return (z * weights).sum() + kl.sum()


def latent(raw: Tensor, raw_kappa: Tensor, weights: Tensor) -> Tensor:
    space = SphericalLatent(raw.shape[-1] - 1)
    (z, kl, _), _ = space.step(torch.cat([raw, raw_kappa.unsqueeze(-1)], -1))
    return (z * weights).sum() + kl.sum()


def normal(raw: Tensor, raw_scale: Tensor, weights: Tensor, checks: bool | None = None) -> Tensor:
    q = Normal(raw, F.softplus(raw_scale), validate_args=checks)
    prior = Normal(torch.zeros_like(raw), torch.ones_like(raw), validate_args=checks)
    return (q.rsample() * weights).sum() + kl_divergence(q, prior).sum(-1).sum()


def empty(raw: Tensor, raw_kappa: Tensor, weights: Tensor) -> Tensor:
    return (F.normalize(raw, dim=-1) * weights).sum() + F.softplus(raw_kappa).sum()


def calls(rows: int, m: int) -> dict[str, Callable[[], None]]:
    """One step of each, with the parameters as leaves; a name ends with `compiled` where it is."""
    raw = torch.randn(rows, m, requires_grad=True)
    per_row, per_element = (
        torch.randn(shape, requires_grad=True) for shape in ((rows,), (rows, m))
    )
    weights = torch.randn(rows, m)

    def step(function: Step, second: Tensor) -> Callable[[], None]:
        def run() -> None:
            raw.grad = second.grad = None
            function(raw, second, weights).backward()

        run()  # torch's table of divergences is filled before anything is compiled
        return run

    found = {
        "vMF, with checks": step(partial(vmf, checks=True), per_row),
        "Normal, with checks": step(partial(normal, checks=True), per_element),
    }
    candidates: tuple[tuple[str, Step, Tensor], ...] = (
        ("vMF", vmf, per_row),
        ("vMF, rsample_kl", vmf_fused, per_row),
        ("vMF, from features", vmf_features, per_row),
        ("SphericalLatent", latent, per_row),
        ("Normal", normal, per_element),
        ("empty", empty, per_row),
    )
    for name, function, second in candidates:
        found[name] = step(function, second)
        found[f"{name}, compiled"] = step(torch.compile(function, fullgraph=True), second)
    return found


def bar_of(name: str) -> str:
    """The Gaussian that a candidate is held against."""
    for way in (", with checks", ", compiled"):
        if name.endswith(way):
            return "Normal" + way
    return "Normal"


def latent_rows(rows: int, m: int, seconds: float) -> list[list[str]]:
    torch.compiler.reset()
    found = time_interleaved(calls(rows, m), seconds=seconds, clock=time.process_time)
    least = {name: timing.smallest for name, timing in found.items()}
    return [
        [f"{rows} x {m}", name, f"{took * 1e6:.0f} us", f"{took / least[bar_of(name)]:.2f}"]
        for name, took in least.items()
    ]


def model_rows(dim: int, seconds: float) -> list[list[str]]:
    """A training step of the S-VAE over that of the N-VAE of the same d, batch 64."""
    torch.compiler.reset()
    x = torch.rand(64, PIXELS).round()
    steps: dict[str, Callable[[], None]] = {}
    for name, space in (("S-VAE", SphericalLatent(dim)), ("N-VAE", GaussianLatent(dim))):
        model = VAE(PIXELS, space, Bernoulli())
        adam = torch.optim.Adam(model.parameters(), fused=True)
        for way, forward in ((name, model), (f"{name}, compiled", torch.compile(model))):
            steps[way] = _training_step(forward, adam, x)
            steps[way]()
    found = time_interleaved(steps, seconds=seconds, clock=time.process_time)
    least = {name: timing.smallest for name, timing in found.items()}
    return [
        [f"d = {dim}", f"S-VAE{way}", f"{least[f'S-VAE{way}'] * 1e6:.0f} us",
         f"{least[f'S-VAE{way}'] / least[f'N-VAE{way}']:.2f}"]
        for way in ("", ", compiled")
    ]  # fmt: skip


def _training_step(
    model: Callable[[Tensor], tuple[Tensor, Tensor]] | nn.Module,
    adam: torch.optim.Optimizer,
    x: Tensor,
) -> Callable[[], None]:
    def step() -> None:
        adam.zero_grad()
        model(x)[0].backward()
        adam.step()

    return step


def main(argv: Sequence[str] | None = None) -> None:
    parser = Parser(description=__doc__)
    add = parser.add_argument
    add("--shape", nargs="+", metavar="ROWSxM", default=[f"{n}x{m}" for n, m in SHAPES])
    add("--models", nargs="+", type=int, metavar="D", help="whole training steps instead")
    add("--seconds", type=float, default=20.0, help="per shape (20)")
    args = parser.parse_args(argv)
    try:
        shapes = [tuple(map(int, text.split("x"))) for text in args.shape]
    except ValueError:
        shapes = []
    if not shapes or any(len(shape) != 2 or min(shape) < 2 for shape in shapes):
        parser.error(f"--shape: expected ROWSxM such as 64x10, got {' '.join(args.shape)}")
    torch.compile(lambda x: x + 1)(torch.zeros(1))
    with threads(1):
        if args.models:
            head, lines = "S-VAE / N-VAE", [model_rows(dim, args.seconds) for dim in args.models]
        else:
            head, lines = "/ Normal", [latent_rows(n, m, args.seconds) for n, m in shapes]
    print(table(["case", "step", "time", head], [row for rows in lines for row in rows], 2))


if __name__ == "__main__":
    main()
