# SPDX-License-Identifier: MIT
"""Seeds for the sampler: one int64 number on the device of the samples, drawn from the caller's
torch generator.

Eager code draws with torch.randint, which also gives vmap its randomness modes. Compiled and
exported code calls the op
svmf::_draw_seed instead: compilers may replace torch.randint by a generator of their own, but
not an op they do not
know, so a compiled function draws what the eager one would.
"""

import torch
from torch import Tensor

_LIMIT = 2**63 - 1

_library = torch.library.Library("svmf", "FRAGMENT")
_library.define(
    "_draw_seed(Tensor like, Generator? generator=None) -> Tensor",
    tags=(torch.Tag.nondeterministic_seeded,),
)


def _random_seed(device: torch.device, generator: torch.Generator | None) -> Tensor:
    return torch.randint(_LIMIT, (1,), generator=generator, device=device)


def _draw_seed(like: Tensor, generator: torch.Generator | None = None) -> Tensor:
    return _random_seed(like.device, generator)


_library.impl("_draw_seed", _draw_seed, "CompositeExplicitAutograd")


@torch.library.register_fake("svmf::_draw_seed")
def _draw_seed_fake(like: Tensor, generator: torch.Generator | None = None) -> Tensor:
    return like.new_empty((1,), dtype=torch.int64)


def draw_seed(like: Tensor, generator: torch.Generator | None) -> Tensor:
    """A seed on the device of `like`."""
    if torch.compiler.is_compiling():
        # A fresh empty tensor as the argument: compilers merge calls with equal arguments, and two
        # draws from one
        # distribution must stay two draws.
        fresh = torch.empty(1, dtype=torch.int64, device=like.device)
        return torch.ops.svmf._draw_seed(fresh, generator)
    return _random_seed(like.device, generator)
