# SPDX-License-Identifier: MIT
"""A run of the fuzzer: call number n of seed s is always the same call."""

import warnings

import torch
from fuzz.distribution_calls import random_distribution_call
from fuzz.op_calls import random_op_call
from fuzz.raw_calls import random_raw_call
from fuzz.values import Chance


class Campaign:
    def __init__(self, seed: int) -> None:
        self.seed = seed

    def call(self, number: int) -> str:
        """Makes one call and says what it was; raises if the outcome is not allowed."""
        chance = Chance(self.seed, number)
        torch.manual_seed(chance.random.getrandbits(60))
        makers = (random_op_call, random_op_call, random_distribution_call, random_raw_call)
        threads = torch.get_num_threads()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return chance.pick(makers)(chance)
        finally:
            torch.set_num_threads(threads)
