# SPDX-License-Identifier: MIT
"""A run of the fuzzer: call number n of seed s is always the same call.

A lane is one kind of call. The weights say how many of a thousand calls go to each: what is dear
(a process, a training run) is rare, and a lane of weight 0 runs when it is named. A run may choose
its lanes.
"""

import collections
import importlib
import os
import warnings
from collections.abc import Callable, Sequence

import torch
from fuzz.values import Chance

# name: (weight, module, function). A lane is imported when it is first used.
LANES = {
    "ops": (500, "fuzz.op_calls", "random_op_call"),
    "distributions": (230, "fuzz.distribution_calls", "random_distribution_call"),
    "flows": (30, "fuzz.flow_calls", "random_flow"),
    "raw": (200, "fuzz.raw_calls", "random_raw_call"),
    "derivatives": (40, "fuzz.derivative_calls", "random_derivative"),
    "latents": (10, "fuzz.model_calls", "random_latent"),
    "products": (10, "fuzz.model_calls", "random_product"),
    "losses": (20, "fuzz.loss_calls", "random_loss"),
    "mixtures": (5, "fuzz.model_calls", "random_mixture"),
    "pickles": (30, "fuzz.pickle_files", "random_pickle_file"),
    "graphs": (20, "fuzz.data_files", "random_graph_file"),
    "images": (10, "fuzz.data_files", "random_image_folder"),
    "arrays": (10, "fuzz.array_files", "random_array_file"),
    "checkpoints": (4, "fuzz.checkpoint_files", "random_checkpoint"),
    "forks": (1, "fuzz.process_life", "random_fork"),
    "runs": (1, "fuzz.process_life", "random_concurrent_runs"),
}


class Campaign:
    def __init__(self, seed: int, lanes: Sequence[str] = ()) -> None:
        self.seed = seed
        self.lanes = tuple(lanes) or tuple(name for name, (weight, *_) in LANES.items() if weight)
        self.weights = [max(LANES[lane][0], 1) for lane in self.lanes]
        self.calls: collections.Counter[str] = collections.Counter()  # of each lane
        self.seconds: collections.Counter[str] = collections.Counter()  # of the processor

    def call(self, number: int) -> str:
        """Makes one call and says what it was; raises if the outcome is not allowed."""
        chance = Chance(self.seed, number)
        # torch.manual_seed would also note, with three tracebacks, what devices are to do later.
        torch.default_generator.manual_seed(chance.random.getrandbits(60))
        (lane,) = chance.random.choices(self.lanes, self.weights)
        make, threads, started = maker(lane), torch.get_num_threads(), processor_seconds()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return make(chance)
        finally:
            torch.set_num_threads(threads)
            self.calls[lane] += 1
            self.seconds[lane] += processor_seconds() - started

    def summary(self) -> str:
        """What went to each lane, and what a call cost."""
        return "\n".join(
            f"  {lane}: {count} calls, {1000 * self.seconds[lane] / count:.1f} ms each"
            for lane, count in self.calls.most_common()
        )


def processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    return sum(os.times()[:4])


def maker(lane: str) -> Callable[[Chance], str]:
    _, module, function = LANES[lane]
    made: Callable[[Chance], str] = getattr(importlib.import_module(module), function)
    return made
