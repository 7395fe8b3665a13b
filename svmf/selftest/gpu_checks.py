# SPDX-License-Identifier: MIT
"""Checks of what only a GPU can do wrong: architectures, streams, graphs, memory, launches."""

import torch
from torch import Tensor

from svmf import _gpus
from svmf._library import build_info
from svmf.distributions import VonMisesFisher
from svmf.selftest.step import SkippedError, batch, equal, needs_cuda, ops, step


def check_architecture(device: str) -> str:
    needs_cuda(device)
    built = build_info()["cuda_archs"]
    for i in range(torch.cuda.device_count()):
        capability = torch.cuda.get_device_capability(i)
        if not _gpus.fits(built, capability):
            name = ".".join(map(str, capability))
            raise AssertionError(f"built for {built}, cuda:{i} is {name}: set TORCH_CUDA_ARCH_LIST")
    return f"built for {built}"


def check_stream(device: str) -> str:
    needs_cuda(device)
    loc, kappa, seed = batch(device)
    want = step(loc, kappa, seed)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        got = step(loc, kappa, seed)
    side.synchronize()
    equal(got, want)
    return "equal bits on a side stream"


def check_second_device(device: str) -> str:
    needs_cuda(device)
    if torch.cuda.device_count() < 2:
        raise SkippedError("one GPU only")
    want, got = step(*batch("cuda:0")), step(*batch("cuda:1"))
    equal(got, want)
    return "equal bits on cuda:1"


def check_graph(device: str) -> str:
    needs_cuda(device)
    loc, kappa, seed = batch(device)

    def work() -> list[Tensor]:
        VonMisesFisher(loc, kappa).sample()
        return step(loc, kappa, seed)

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # a first call loads kernels, which a capture had better not do
        work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = work()
    for value in (3, -5):
        seed.fill_(value)
        graph.replay()
        equal(captured, step(loc, kappa, torch.tensor([value], device=device)))
    return "a captured step follows the seed"


def check_long_row(device: str) -> str:
    needs_cuda(device)
    m = 2**28
    if torch.cuda.mem_get_info()[0] < 5 * 4 * m:
        raise SkippedError("needs 5 GB of free device memory")
    loc = torch.zeros(1, m, device=device)
    loc[0, -1] = 1
    seed = torch.tensor([1], device=device)
    z, _ = ops.vmf_rsample(loc, torch.full((1,), 1e6, device=device), seed, [], 0, False)
    norm = torch.linalg.vector_norm(z, dtype=torch.float64).item()
    if not abs(norm - 1) < 1e-4:
        raise AssertionError(f"the norm is {norm}")
    return f"a row of 1 GB has norm {norm:.6f}"


def check_out_of_memory(device: str) -> str:
    needs_cuda(device)
    loc, kappa, seed = batch(device)
    try:
        ops.vmf_rsample(loc, kappa, seed, [2**31], 0, False)
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        return "torch.OutOfMemoryError"
    raise AssertionError("no torch.OutOfMemoryError")


def check_launches(device: str) -> str:
    needs_cuda(device)
    from torch.profiler import ProfilerActivity, profile

    loc, kappa, seed = batch(device)
    step(loc, kappa, seed)
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        step(loc, kappa, seed)
        torch.cuda.synchronize()
    ours = sum(e.count for e in seen.key_averages() if "svmf" in e.key)
    if ours == 0:
        raise SkippedError("torch's profiler saw no kernels (its library CUPTI may not be usable)")
    return f"{ours} launches of svmf in a step of sampling, KL and their gradients"
