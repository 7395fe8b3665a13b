# SPDX-License-Identifier: MIT
"""The order of an epoch, and the share of each process."""

import torch

from svmf.training.processes import Processes
from svmf.training.rows import BinarizedRows, EpochOrder


class Fixed(Processes):
    def __init__(self, rank, count):
        self.rank, self.count, self.device = rank, count, torch.device("cpu")


def test_order_covers_every_row_once():
    order = EpochOrder(103, 10, 7, Fixed(0, 1))
    assert order.steps == 11
    seen = []
    for epoch in (1, 2):
        order.begin_epoch(epoch)
        rows = torch.cat([order.batch(step) for step in range(order.steps)])
        assert sorted(rows.tolist()) == list(range(103))
        seen.append(rows.tolist())
    assert seen[0] != seen[1]


def test_processes_share_the_batches_of_one():
    alone = EpochOrder(100, 10, 7, Fixed(0, 1))
    ranks = [EpochOrder(100, 10, 7, Fixed(rank, 2)) for rank in (0, 1)]
    for order in (alone, *ranks):
        order.begin_epoch(3)
    for step in range(10):
        together = torch.cat([order.batch(step) for order in ranks])
        assert sorted(together.tolist()) == sorted(alone.batch(step).tolist())


def test_rows_in_chunks_by_stride():
    grey = torch.full((10, 3), 255, dtype=torch.uint8)
    rows = BinarizedRows(grey, torch.device("cpu"), 0)
    assert [len(chunk) for chunk in rows.chunks(3, start=1, stride=2)] == [3, 2]
