# SPDX-License-Identifier: MIT
"""One evaluation of the loss with its gradients, in the ways a run may ask for.

For the paper's networks the arithmetic of a step is short beside Python, autograd's bookkeeping and
the guards of a compiled model. A captured step is one compiled function from weights and batch to
loss and gradients, with none of the three inside (docs/training.md has the figures).
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from svmf._torch_private import below_autograd, compile_graph

Evaluate = Callable[..., tuple[Tensor, Tensor]]

# fallback_random: the noise of the uncompiled step. size_asserts: the shapes are the key already.
_OPTIONS = {"cpp_wrapper": True, "fallback_random": True, "size_asserts": False}


def by_autograd(model: Callable[..., Any], weights: Sequence[Tensor]) -> Evaluate:
    """(*batch, beta) to the model's loss and terms; leaves the gradients in the weights."""

    def evaluate(*inputs: Tensor) -> tuple[Tensor, Tensor]:
        for weight in weights:
            weight.grad = None
        loss, terms = model(*inputs)
        loss.backward()
        return loss, terms

    return evaluate


def captured(
    model: nn.Module, weights: Sequence[Tensor], variant: Callable[[], Hashable] = lambda: None
) -> Evaluate:
    """The same as `by_autograd`, from one compiled function per shape of the batch. The model must
    be a function of its dense weights and inputs, without branches on their values, for as long as
    `variant` gives the same answer."""
    functions: dict[tuple[Hashable, ...], Callable[..., Any]] = {}
    values = [weight.detach() for weight in weights]
    values += list(model.buffers())  # read, not changed; a trace knows no tensors but its inputs

    def evaluate(*inputs: Tensor) -> tuple[Tensor, Tensor]:
        key = (variant(), *[tensor.shape for tensor in inputs])
        function = functions.get(key)
        if function is None:
            function = functions[key] = _capture(model, [*values, *inputs])
        with below_autograd():  # nothing inside is differentiated again
            loss, terms, *gradients = function(*values, *inputs)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.grad = gradient
        return loss, terms

    return evaluate


def _capture(model: nn.Module, example: list[Tensor]) -> Callable[..., Any]:
    from torch.fx.experimental.proxy_tensor import make_fx  # imports the compiler: a second

    names = [name for name, _ in model.named_parameters()]
    buffers = [name for name, _ in model.named_buffers()]

    def loss_and_gradients(*arguments: Tensor) -> tuple[Tensor, ...]:
        weights = [weight.detach().requires_grad_() for weight in arguments[: len(names)]]
        inputs = arguments[len(names) + len(buffers) :]
        state = zip([*names, *buffers], [*weights, *arguments[len(names) :]], strict=False)
        loss, terms = torch.func.functional_call(model, dict(state), inputs)
        return loss.detach(), terms, *torch.autograd.grad(loss, weights)

    with torch.random.fork_rng(devices=[]):  # whatever a compiler draws, the run does not notice
        graph = make_fx(loss_and_gradients, tracing_mode="fake")(*example)
        with torch.no_grad():
            return compile_graph(graph, example, _OPTIONS)
