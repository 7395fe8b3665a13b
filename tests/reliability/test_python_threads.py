# SPDX-License-Identifier: MIT
"""The ops called from many Python threads at once, each with its own generator or all with one."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor

import svmf.functional as F
from svmf.distributions import HypersphericalUniform, VonMisesFisher

WORKERS, CALLS = 8, 30


def parameters(seed: int, dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    loc = torch.nn.functional.normalize(torch.randn(70, 9, generator=generator), dim=-1).to(dtype)
    return loc, (torch.rand(70, generator=generator) * 100).to(dtype)


def together(work: Callable[[int], list[Tensor]]) -> list[list[Tensor]]:
    """work(0) ... work(WORKERS - 1), all at once from a common start."""
    gate = threading.Barrier(WORKERS)

    def start(number: int) -> list[Tensor]:
        gate.wait()
        return work(number)

    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(start, range(WORKERS)))


@pytest.mark.parametrize("threads", [1, 2])
def test_own_generators_give_what_they_give_alone(threads: int) -> None:
    def work(number: int) -> list[Tensor]:
        torch.set_num_threads(threads)
        generator = torch.Generator().manual_seed(number)
        made = []
        for call in range(CALLS):
            loc, kappa = (t.requires_grad_() for t in parameters(100 * number + call))
            z, kl = F.vmf_rsample_kl(loc, kappa, (3,), generator=generator)
            made += [z.detach(), *torch.autograd.grad(z.square().sum() + kl.sum(), (loc, kappa))]
        return made

    alone = [work(number) for number in range(WORKERS)]
    for expected, got in zip(alone, together(work), strict=True):
        assert all(map(torch.equal, expected, got))


@pytest.mark.parametrize("shared", ["generator", "global"])
def test_shared_generator_hands_out_each_seed_once(shared: str) -> None:
    """Which thread gets which seed is not defined; that all are those of one sequence is."""
    loc, kappa = parameters(1)

    def draws(generator: torch.Generator | None, count: int) -> list[Tensor]:
        return [F.vmf_rsample(loc, kappa, generator=generator) for _ in range(count)]

    own = torch.Generator() if shared == "generator" else None
    reseed = own.manual_seed if own is not None else torch.manual_seed
    reseed(5)
    expected = {z.numpy().tobytes() for z in draws(own, WORKERS * CALLS)}
    reseed(5)
    got = [z.numpy().tobytes() for part in together(lambda _: draws(own, CALLS)) for z in part]
    assert len(expected) == WORKERS * CALLS
    assert len(got) == len(set(got))
    assert set(got) == expected


def test_one_distribution_in_many_threads() -> None:
    """Methods of one object, among them the KL that is kept with the last sample."""
    loc, kappa = parameters(2, torch.float64)
    q = VonMisesFisher(loc, kappa.requires_grad_())
    prior = HypersphericalUniform(9)
    expected = F.vmf_kl_uniform(kappa, 9).detach()

    def work(_: int) -> list[Tensor]:
        made = []
        for _ in range(CALLS):
            z = q.rsample()
            kl = torch.distributions.kl_divergence(q, prior)
            assert torch.equal(kl.detach(), expected)
            (gradient,) = torch.autograd.grad(kl.sum() + q.log_prob(z).sum(), kappa)
            assert bool(gradient.isfinite().all())
            made.append(z.detach())
        return made

    drawn = [z for part in together(work) for z in part]
    assert len({z.numpy().tobytes() for z in drawn}) == WORKERS * CALLS
