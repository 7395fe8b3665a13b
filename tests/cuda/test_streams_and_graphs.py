# SPDX-License-Identifier: MIT
"""What only a GPU has: streams, graphs, no waiting for the device, several devices, tensors beyond
32-bit indices, grids beyond their limits."""

import warnings

import pytest
import torch
from helpers.op_cases import directions
from torch import Tensor

import svmf.functional as F
from svmf.distributions import VonMisesFisher

pytestmark = pytest.mark.needs_cuda
ops = torch.ops.svmf


@pytest.fixture
def batch() -> tuple[Tensor, Tensor]:
    loc = directions(512, 16, torch.float32, 1).cuda()
    return loc, torch.logspace(-1, 3, 512, device="cuda")


@pytest.fixture
def no_synchronisation():
    """Any wait of the host for the device is an error."""
    with warnings.catch_warnings():  # torch says that this is a prototype of its own
        warnings.simplefilter("ignore")
        torch.cuda.set_sync_debug_mode("error")
    yield
    torch.cuda.set_sync_debug_mode("default")


def latent_step(loc: Tensor, kappa: Tensor, seed: Tensor) -> list[Tensor]:
    """Detached: torch warns where a graph that is kept alive belongs to another stream."""
    z, kl, _ = ops.vmf_rsample_kl.default(loc, kappa, seed, [2], 0, True)
    slopes = torch.autograd.grad(z[..., 0].sum() + kl.sum(), (loc, kappa))
    return [z.detach(), kl.detach(), *slopes]


def test_nothing_waits_for_the_device(batch, no_synchronisation) -> None:
    loc, kappa = (t.requires_grad_() for t in batch)
    z, kl = F.vmf_rsample_kl(loc, kappa, (3,))
    (z[..., 0].sum() + kl.sum() + F.vmf_log_prob(z, loc, kappa).sum()).backward()
    F.vmf_entropy(kappa, 16)
    F.log_iv(2.5, kappa)


def test_a_captured_step_follows_the_seed_in_device_memory(batch) -> None:
    loc, kappa = (t.requires_grad_() for t in batch)
    seed = torch.tensor([1], device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # a warm-up, as torch's documentation asks for
        latent_step(loc, kappa, seed)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = latent_step(loc, kappa, seed)
    for value in (1, 2, -5):
        seed.fill_(value)
        graph.replay()
        eager = latent_step(loc, kappa, torch.tensor([value], device="cuda"))
        assert all(torch.equal(a, b) for a, b in zip(captured, eager, strict=True))


def test_a_captured_sampler_draws_anew_at_every_replay(batch) -> None:
    loc, kappa = batch
    F.vmf_rsample(loc, kappa)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        z = F.vmf_rsample(loc, kappa)
    draws = []
    for _ in range(3):
        graph.replay()
        draws.append(z.clone())
    assert not torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[1], draws[2])


def test_a_distribution_can_be_built_while_a_graph_is_captured(batch) -> None:
    loc, kappa = batch
    VonMisesFisher(loc, kappa, validate_args=True).rsample()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        z = VonMisesFisher(loc, kappa, validate_args=True).rsample()
    graph.replay()
    torch.cuda.synchronize()
    assert (z.norm(dim=-1) - 1).abs().max() < 1e-5


def test_a_device_without_memory_raises_torchs_error(batch) -> None:
    loc, kappa = batch
    with pytest.raises(torch.OutOfMemoryError):
        F.vmf_rsample(loc, kappa, (2**34,))


def test_work_goes_to_the_current_stream(batch) -> None:
    """Inputs are produced late on a side stream: an op on another one would read them too early."""
    loc, kappa = batch
    seed = torch.tensor([4], device="cuda")
    want = ops.vmf_rsample(loc, kappa, seed, [], 0, False)[0]
    late = torch.zeros_like(loc)
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(50_000_000)
        late.copy_(loc)
        got = ops.vmf_rsample(late, kappa, seed, [], 0, False)[0]
    side.synchronize()
    assert torch.equal(got, want)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices")
def test_the_tensors_device_is_used_not_the_current_one(batch) -> None:
    loc, kappa = batch
    seed = torch.tensor([4], device="cuda")
    want = ops.vmf_rsample(loc, kappa, seed, [], 0, False)[0]
    other = [t.to("cuda:1") for t in (loc, kappa, seed)]
    with torch.cuda.device(0):
        got = ops.vmf_rsample(*other, [], 0, False)[0]
        assert torch.cuda.current_device() == 0
    assert got.device == torch.device("cuda:1")
    assert torch.equal(got.cpu(), want.cpu())


def enough_memory(gigabytes: float) -> None:
    free = torch.cuda.mem_get_info()[0] / 1e9
    if free < gigabytes:
        pytest.skip(f"needs {gigabytes:g} GB of free device memory, there are {free:.1f}")


@pytest.mark.slow
def test_indices_beyond_32_bits() -> None:
    """Elements and rows whose numbers do not fit in 32 bits are reached."""
    enough_memory(20)
    n = 2**31 + 1000
    kappa = torch.full((n,), 3.0, device="cuda")
    kappa[-1] = 5.0
    kl = ops.vmf_kl_uniform(kappa, 10)
    want = ops.vmf_kl_uniform(torch.tensor([3.0, 5.0]), 10)
    torch.testing.assert_close(kl[[0, -1]].cpu(), want)
    assert (kl[:-1] == kl[0]).all()


@pytest.mark.slow
def test_more_rows_than_a_grid_has_blocks() -> None:
    """2^31 and more elements of z in rows of 3."""
    enough_memory(24)
    rows = 2**31 // 3 + 1000
    loc = torch.tensor([0.0, 1.0, 0.0], device="cuda")
    kappa, seed = torch.tensor(7.0, device="cuda"), torch.tensor([1], device="cuda")
    z = ops.vmf_rsample(loc, kappa, seed, [rows], 0, False)[0]
    assert (z[-5000:].norm(dim=-1) - 1).abs().max() < 1e-6
    assert z[-5000:].unique(dim=0).shape[0] == 5000
