# SPDX-License-Identifier: MIT
"""Batches of rows for training: the order of an epoch, the share of each process, and how stored
rows become a model's input. One gather and one draw per batch; no Python per example."""

from collections.abc import Iterator

import torch
from torch import Tensor

from svmf.data.binarize import STATE_LIMITS, Binarizer
from svmf.training.checked import Part
from svmf.training.processes import Processes
from svmf.training.randomness import Purpose, generator


class EpochOrder:
    """A new permutation of the rows each epoch, cut into batches. Each process takes every
    `count`-th row, so that the processes together see the batches that one would."""

    def __init__(self, rows: int, batch_size: int, seed: int, processes: Processes) -> None:
        self._rows = rows
        self._seed = seed
        self._processes = processes
        self._batch = batch_size // processes.count
        self._order = torch.empty(0, dtype=torch.int64)
        self.steps = -(-(rows // processes.count) // self._batch)

    def begin_epoch(self, epoch: int) -> None:
        draw = generator(Purpose.ORDER, self._seed, epoch)
        order = torch.randperm(self._rows, generator=draw)
        count, rank = self._processes.count, self._processes.rank
        self._order = order[: self._rows // count * count][rank::count].contiguous()

    def batch(self, step: int) -> Tensor:
        """Indices of the rows of one step."""
        return self._order[step * self._batch : (step + 1) * self._batch]


class BinarizedRows:
    """Grey bytes that become zeros and ones anew at each use. Buffers are used again: a batch is
    valid until the next one is asked for."""

    def __init__(self, grey: Tensor, device: torch.device, *entropy: int) -> None:
        self._grey = grey
        self._device = device
        self._binarizer = Binarizer(*entropy)
        self._bytes = torch.empty(0, grey.shape[1], dtype=torch.uint8)
        self._floats = torch.empty(0, grey.shape[1])

    def __len__(self) -> int:
        return len(self._grey)

    def batch(self, index: Tensor) -> Tensor:
        rows = len(index)
        if len(self._bytes) < rows:
            self._bytes = torch.empty(rows, self._grey.shape[1], dtype=torch.uint8)
            self._floats = torch.empty(rows, self._grey.shape[1])
        grey, binary = self._bytes[:rows], self._floats[:rows]
        torch.index_select(self._grey, 0, index, out=grey)
        return self._binarizer(grey, out=binary).to(self._device)

    def chunks(self, size: int, start: int = 0, stride: int = 1) -> Iterator[Tensor]:
        """All rows from `start` on, every `stride`-th, in order."""
        for index in torch.arange(start, len(self._grey), stride).split(size):
            yield self.batch(index)

    def state(self) -> list[int]:
        return self._binarizer.state()

    def restore(self, state: Part) -> None:
        entries = zip(state.items(len(STATE_LIMITS)), STATE_LIMITS, strict=True)
        self._binarizer.restore([entry.integer(0, limit) for entry, limit in entries])


class PlainRows:
    """Real-valued rows, used as they are."""

    def __init__(self, values: Tensor, device: torch.device) -> None:
        self._values = values.to(device)

    def __len__(self) -> int:
        return len(self._values)

    def batch(self, index: Tensor) -> Tensor:
        return self._values.index_select(0, index.to(self._values.device))

    def chunks(self, size: int, start: int = 0, stride: int = 1) -> Iterator[Tensor]:
        yield from self._values[start::stride].split(size)

    def state(self) -> list[int]:
        return []

    def restore(self, state: Part) -> None:
        state.items(0)


Rows = BinarizedRows | PlainRows
