# SPDX-License-Identifier: MIT
"""Dynamic binarisation: each use of an image draws its pixels anew, one with probability grey/255.

A byte u uniform on 0..254 is below the grey value x with probability exactly x/255, so one random
byte per pixel suffices; the 255s among uniform bytes are drawn again. The generator is this
object's own: what the model draws does not change the data, and the other way round.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

# Of a state: four words, whether half a word is left over, and that half.
STATE_LIMITS = (*[2**64 - 1] * 4, 1, 2**32 - 1)


class Binarizer:
    """Draws binary images from grey bytes. `state()` and `restore()` carry it across a restart."""

    def __init__(self, *entropy: int) -> None:
        self._bits = np.random.SFC64(np.random.SeedSequence(entropy))
        self._generator = np.random.Generator(self._bits)

    def __call__(self, grey: Tensor, out: Tensor | None = None) -> Tensor:
        """float32 zeros and ones of the shape of `grey`, which holds bytes on the CPU. A caller
        that is done with one batch before it asks for the next saves page faults with `out`."""
        draws = torch.from_numpy(self._uniform_below_255(grey.numel())).view(grey.shape)
        if out is None:
            out = torch.empty(grey.shape, dtype=torch.float32)
        # `gt` writes floats directly: no intermediate tensor of bools
        return torch.gt(grey, draws, out=out)

    def _uniform_below_255(self, count: int) -> np.ndarray:
        spare = count // 128 + 64  # twice as many as are expected to be drawn again
        words = self._bits.random_raw(-(-(count + spare) // 8))
        draws, others = words.view(np.uint8)[:count], words.view(np.uint8)[count:]
        again = np.flatnonzero(draws == 255)
        others = others[others != 255]
        if len(others) < len(again):  # not to be expected in a lifetime
            others = self._generator.integers(0, 255, size=len(again), dtype=np.uint8)
        draws[again] = others[: len(again)]
        return draws

    def state(self) -> list[int]:
        """Plain integers, fit for a checkpoint."""
        state: dict[str, Any] = dict(self._bits.state)
        words = [int(word) for word in state["state"]["state"]]
        return [*words, int(state["has_uint32"]), int(state["uinteger"])]

    def restore(self, state: list[int]) -> None:
        """The state must be one that `state` gave: it may come from a file."""
        if len(state) != len(STATE_LIMITS) or not all(
            type(word) is int and 0 <= word <= limit
            for word, limit in zip(state, STATE_LIMITS, strict=True)
        ):
            raise ValueError("the state of a binarizer is six integers of 64, 1 and 32 bits")
        *words, has_uint32, uinteger = state
        self._bits.state = {
            "bit_generator": "SFC64",
            "state": {"state": np.array(words, np.uint64)},
            "has_uint32": has_uint32,
            "uinteger": uinteger,
        }
