# SPDX-License-Identifier: MIT
"""Checks for every device: known samples, the reference, moments, a compiled step, speed."""

import math
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

import svmf.functional as F
from svmf import _inventory as inventory
from svmf import reference
from svmf.selftest.step import M, SkippedError, batch, directions, ops, step

# 1 - w of six samples on S^2, kappa = 0 and seed 1: the random words, and the seed they come from.
KNOWN = (
    0.21948165404857867,
    0.6560034622093143,
    1.505197055378696,
    0.4847469772042039,
    1.5044735629748212,
    1.67944356505965,
)


def check_reference(device: str) -> str:
    kappa = torch.logspace(-1, 3, 9, dtype=torch.float64)
    names = [op.name for op in inventory.public_of_kappa()]
    for name in names:
        ours = getattr(F, name)(kappa.to(device), M).cpu()
        torch.testing.assert_close(ours, getattr(reference, name)(kappa, M), rtol=1e-9, atol=1e-12)
    return f"{len(names)} functions of kappa agree with svmf.reference to 1e-9"


def check_words(device: str) -> str:
    loc = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64, device=device)
    kappa, seed = torch.zeros((), dtype=torch.float64, device=device), torch.tensor([1])
    state = ops.vmf_rsample(loc, kappa, seed.to(device), [len(KNOWN)], 0, True)[1]
    known = torch.tensor(KNOWN, dtype=torch.float64)
    torch.testing.assert_close(state[0].cpu(), known, rtol=0, atol=1e-14)
    return f"{len(KNOWN)} samples of seed 1 are the known ones"


def check_moments(device: str) -> str:
    torch.manual_seed(0)
    n, kappa = 200_000, 20.0
    loc = directions(1, M, 3)[0].to(device)
    z = F.vmf_rsample(loc, torch.tensor(kappa, dtype=torch.float64, device=device), (n,))
    mean = reference.vmf_mean_length(torch.tensor(kappa).double(), M).item()
    spread = 1 / math.sqrt(n)
    got = (z @ loc).mean().item()
    if not abs(got - mean) < 6 * spread:
        raise AssertionError(f"mean of mu.z is {got:.6f}, expected {mean:.6f}")
    return f"mean of mu.z over {n} samples {got:.5f}, expected {mean:.5f}"


def check_compile(device: str) -> str:
    loc, kappa, _ = batch(device, 64)
    try:
        torch.compile(torch.sin, fullgraph=True)(kappa.detach())
    except Exception as error:  # no C++ compiler, no Triton, or it is switched off
        raise SkippedError(f"torch.compile does not work here: {type(error).__name__}") from None

    def objective() -> Tensor:
        z, kl = F.vmf_rsample_kl(loc, kappa)
        return z[..., 0].sum() + kl.sum()

    results = []
    for function in (objective, torch.compile(objective, fullgraph=True)):
        torch.manual_seed(1)
        value = function()
        results.append([value.detach(), *torch.autograd.grad(value, (loc, kappa))])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
    return "a compiled step agrees, with its gradients"


def seconds(work: Callable[[], object], device: str) -> float:
    """The shortest of some runs: whatever else the machine does only adds."""
    times = []
    for _ in range(15):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times)


def check_speed(device: str) -> str:
    parts = []
    for m in (10, 128):
        loc, kappa, seed = batch(device, 8192, m)
        mean, deviation = loc.detach(), torch.ones_like(loc)
        works: dict[str, Callable[[], object]] = {
            "torch.normal": partial(torch.normal, mean, deviation),
            "vmf_rsample": partial(F.vmf_rsample, mean, kappa.detach()),
            "2 samples, KL and gradients": partial(step, loc, kappa, seed),
        }
        times = (f"{name} {1e6 * seconds(work, device):.0f}" for name, work in works.items())
        parts.append(f"8192 x {m}: {', '.join(times)}")
    return f"us; {'; '.join(parts)}"
