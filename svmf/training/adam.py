# SPDX-License-Identifier: MIT
"""torch's fused Adam without its bookkeeping: for the paper's networks, sorting the weights into
groups anew in every step takes a quarter of the step's time."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from svmf._torch_private import fused_adam
from svmf.training.checked import Part


class FusedAdam(torch.optim.Adam):
    """The same numbers, to the bit, and the same state as `torch.optim.Adam(..., fused=True)`, for
    weights of one type on one device."""

    def __init__(self, weights: Iterable[Tensor], lr: float) -> None:
        super().__init__(weights, lr=lr, fused=True)
        self._state_lists: tuple[list[Tensor], ...] | None = None

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        assert closure is None
        (group,) = self.param_groups
        weights = group["params"]
        gradients = [weight.grad for weight in weights]
        incomplete = any(gradient is None for gradient in gradients)
        if self._state_lists is None or fused_adam is None or incomplete:
            self._separate_counts()
            super().step()  # makes the state
            self._state_lists = self._collect(weights)
            return
        averages, squares, steps = self._state_lists
        steps[0].add_(1)
        beta1, beta2 = group["betas"]
        fused_adam(
            weights,
            gradients,
            averages,
            squares,
            [],
            steps,
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            amsgrad=False,
            maximize=False,
        )

    # a step that does not say this gets hooks and a profiler's record: a fifth more time
    step.hooked = True  # type: ignore[attr-defined]

    def restore(self, state: Part, steps: int) -> None:
        """The state that `state_dict` gave after at most so many steps. The kernel trusts its
        tensors: each is checked against its weight, and copied."""
        (group,) = self.param_groups
        weights = group["params"]
        state.keys(("state", "param_groups"))
        (stored,) = state["param_groups"].items(1)
        stored["params"].equal(list(range(len(weights))))
        for name in set(group) - {"params"}:
            if name in stored.value:  # versions of torch differ in what they have
                stored[name].equal(group[name])
        for number in state["state"].indices(len(weights)):
            weight, moments = weights[number], state["state"][number]
            moments.keys(("step", "exp_avg", "exp_avg_sq"))
            count = moments["step"].tensor(torch.zeros((), device=weight.device), low=1)
            if float(count) > steps or float(count) % 1:
                raise moments["step"].misfit(f"a whole number of at most {steps}", f"{count:g}")
            self.state[weight] = {
                "step": count,
                "exp_avg": moments["exp_avg"].tensor(weight),
                "exp_avg_sq": moments["exp_avg_sq"].tensor(weight, low=0),
            }
        self._state_lists = None

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self._state_lists = None

    def _separate_counts(self) -> None:
        for state in filter(None, self.state.values()):
            state["step"] = state["step"].clone()

    def _collect(self, weights: list[Tensor]) -> tuple[list[Tensor], ...] | None:
        """The state's tensors, once every weight has some and has made as many steps."""
        states = [self.state[weight] for weight in weights]
        if not all(states):
            return None
        if len({float(state["step"]) for state in states}) > 1:
            return None
        for state in states:  # one count for all takes one addition instead of one per weight
            state["step"] = states[0]["step"]
        return tuple(
            [state[name] for state in states] for name in ("exp_avg", "exp_avg_sq", "step")
        )
