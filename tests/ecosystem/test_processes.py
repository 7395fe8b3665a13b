# SPDX-License-Identifier: MIT
"""Other processes: forked DataLoader workers, torch.multiprocessing, two DDP ranks over gloo."""

import socket

import torch
import torch.multiprocessing
from ecosystem.svae import NoisyDirections, send_distribution, train_distributed

from svmf.distributions import VonMisesFisher


def test_forked_data_loader_workers():
    """Workers fork after svmf has run; each has its own seed, and the loader's seed reproduces."""
    VonMisesFisher(torch.tensor([1.0, 0.0]), 1.0).sample((1000,))

    def epoch(seed):
        loader = torch.utils.data.DataLoader(
            NoisyDirections(),
            batch_size=8,
            num_workers=2,
            multiprocessing_context="fork",
            generator=torch.Generator().manual_seed(seed),
        )
        return torch.cat(list(loader))

    first = epoch(1)
    assert first.shape == (32, 4)
    assert first.unique(dim=0).shape == (32, 4)  # no two workers drew the same
    assert torch.equal(first, epoch(1))
    assert not torch.equal(first, epoch(2))


def test_a_distribution_crosses_a_process():
    loc = torch.nn.functional.normalize(torch.randn(3, 5), dim=-1)
    q = VonMisesFisher(loc, torch.tensor([1.0, 10.0, 100.0]))
    context = torch.multiprocessing.get_context("spawn")
    queue, arrived = context.Queue(), context.Event()
    process = context.Process(target=send_distribution, args=(queue, arrived, q))
    process.start()
    received, sample = queue.get(timeout=120)
    assert torch.equal(received.loc, loc)
    assert torch.equal(received.concentration, q.concentration)
    sample = sample.clone()
    arrived.set()
    process.join(timeout=120)
    assert process.exitcode == 0
    torch.manual_seed(3)
    torch.testing.assert_close(q.sample((2,)), sample)


def test_two_ranks_train_one_model():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    context = torch.multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        results = manager.dict()
        torch.multiprocessing.spawn(train_distributed, (2, port, results), nprocs=2)
        (losses0, samples0, weights0), (losses1, samples1, weights1) = results[0], results[1]
    assert weights0 == weights1  # gradients were averaged
    assert samples0 != samples1  # but each rank drew its own noise
    assert losses0 != losses1
