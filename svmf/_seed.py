# SPDX-License-Identifier: MIT
"""Seeds for the sampler: one int64 number on the device of the samples, drawn from the caller's
torch generator.

Compiled and exported code draws by the op svmf::_draw_seed: compilers may replace torch's random
functions by a generator of their own, but not an op they do not know, so a compiled function draws
what the eager one would. Eager code on the CPU draws into one tensor per thread: the sampler has
read the seed when it returns, and a new tensor would cost as much as the draw.
"""

import threading

import torch
from torch import Tensor

from svmf._torch_private import PLAIN_TYPES, is_compiling, is_tracing, plain_eager

_LIMIT = 2**63 - 1


class _SeedOfThread(threading.local):
    def __init__(self) -> None:
        with torch.inference_mode(False):  # also usable outside of it
            self.tensor = torch.empty(1, dtype=torch.int64, device="cpu")


_seed = _SeedOfThread()

_library = torch.library.Library("svmf", "FRAGMENT")
_library.define(
    "_draw_seed(Tensor like, Generator? generator=None) -> Tensor",
    tags=(torch.Tag.nondeterministic_seeded,),
)


def _draw_seed(like: Tensor, generator: torch.Generator | None = None) -> Tensor:
    return torch.empty(1, dtype=torch.int64, device=like.device).random_(
        _LIMIT, generator=generator
    )


_library.impl("_draw_seed", _draw_seed, "CompositeExplicitAutograd")


@torch.library.register_fake("svmf::_draw_seed")
def _draw_seed_fake(like: Tensor, generator: torch.Generator | None = None) -> Tensor:
    return like.new_empty((1,), dtype=torch.int64)


# The same by the default generator, for graphs that are compiled to be run: on the CPU it is
# csrc/cpu/draw_seed.cpp, as a pass through Python is a tenth of a small batch's step.
_kernels = torch.library.Library("svmf_kernels", "FRAGMENT")
_kernels.define("draw_seed(Tensor like) -> Tensor", tags=(torch.Tag.nondeterministic_seeded,))
_kernels.impl("draw_seed", _draw_seed, "CompositeExplicitAutograd")
torch.library.register_fake("svmf_kernels::draw_seed")(_draw_seed_fake)


def has_plain_seed(like: Tensor) -> bool:
    """Whether the seed for samples like this tensor may be that of the thread."""
    return like.is_cpu and type(like) in PLAIN_TYPES and plain_eager()


def seed_of_thread(generator: torch.Generator | None) -> Tensor:
    """A seed for plain eager code; valid until the thread's next."""
    return _seed.tensor.random_(_LIMIT, generator=generator)


def draw_seed(like: Tensor, generator: torch.Generator | None) -> Tensor:
    """A seed on the device of `like`, for any code."""
    if is_compiling():
        # A fresh empty tensor as the argument: compilers merge calls with equal arguments, and two
        # draws from one distribution must stay two draws.
        fresh = torch.empty(1, dtype=torch.int64, device=like.device)
        if generator is None and not torch.compiler.is_exporting():
            return torch.ops.svmf_kernels.draw_seed(fresh)
        return torch.ops.svmf._draw_seed(fresh, generator)
    if is_tracing():
        raise RuntimeError(
            "svmf: torch.jit.trace would keep one seed in its graph and draw the same samples "
            "forever. Use torch.export or torch.compile, which draw anew in every call."
        )
    # not `random_`: vmap has randomness modes for torch.randint
    return torch.randint(_LIMIT, (1,), generator=generator, device=like.device)
