# SPDX-License-Identifier: MIT
"""The ops as the Python layer calls them: `ops.<name>` like `torch.ops.svmf.<name>`, but faster and
also under torch.func.

`torch.library.register_autograd` gives an op its derivative in compiled and exported programs and
for callers of `torch.ops.svmf`. It has two shortcomings: each call passes through Python twice
more, which takes longer than the work of a small batch, and the transforms grad, jacrev and hessian
of torch.func do not know it. So each op keeps two autograd.Functions made of the same formulas: one
for eager calls, and one, with `setup_context` and the batching rule, for torch.func.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from svmf._seed import draw_seed, is_plain_eager, seed_of_thread

# Looked up once: a call of a small batch takes no longer than twenty such look-ups.
_below_autograd = torch._C._AutoDispatchBelowAutograd
_unwrap_if_dead = torch._C._functorch.unwrap_if_dead
_any_requires_grad = torch._C._any_requires_grad
_transforms_active = torch._C._are_functorch_transforms_active
_is_grad_enabled = torch.is_grad_enabled
_is_compiling = torch.compiler.is_compiling


class Overload:
    """One overload of an op, with what is registered for it."""

    def __init__(self, op: torch._ops.OpOverload) -> None:
        self.op = op
        self._kernels = op._op  # what calling `op` calls, one Python frame less
        self._tensors = [i for i, a in enumerate(op._schema.arguments) if "Tensor" in str(a.type)]
        self.eager: type[torch.autograd.function._SingleLevelFunction] | None = None
        self.transformed: type[torch.autograd.Function] | None = None
        self.vmap_rule: Callable | None = None

    def __call__(self, *args: Any) -> Any:
        if self.eager is None or _is_compiling():
            return self.op(*args)
        if _transforms_active():
            return self.transformed.apply(*args)  # type: ignore[union-attr]
        if _is_grad_enabled() and _any_requires_grad(*args):
            # Tensors that outlived a transform are still wrapped; torch unwraps them here as well.
            unwrapped = list(args)
            for i in self._tensors:
                if unwrapped[i] is not None:
                    unwrapped[i] = _unwrap_if_dead(unwrapped[i])
            return self.eager.apply(*unwrapped)  # type: ignore[attr-defined]
        with _below_autograd():
            return self._kernels(*args)

    def with_new_seed(
        self, loc: Tensor, kappa: Tensor, generator: torch.Generator | None, *options: Any
    ) -> Any:
        """A sampling op with the next seed of the generator. In plain eager code the questions
        that `__call__` and `draw_seed` would each ask are asked once."""
        if not is_plain_eager(loc):
            return self(loc, kappa, draw_seed(loc, generator), *options)
        seed = seed_of_thread(generator)
        if _is_grad_enabled() and (loc.requires_grad or kappa.requires_grad):
            unwrapped = _unwrap_if_dead(loc), _unwrap_if_dead(kappa)
            return self.eager.apply(*unwrapped, seed, *options)  # type: ignore[union-attr]
        with _below_autograd():
            return self._kernels(loc, kappa, seed, *options)

    def register_autograd(
        self,
        backward: Callable,
        *,
        setup_context: Callable | None = None,
        eager_setup: Callable | None = None,
    ) -> None:
        """The derivative of the op, in the manner of torch.library.

        `eager_setup` takes the place of `setup_context` in eager calls.
        """
        torch.library.register_autograd(self.op, backward, setup_context=setup_context)
        setup_context = setup_context or _no_context
        self.eager = _eager_function(self.op, backward, eager_setup or setup_context)
        self.transformed = _transformed_function(self, backward, setup_context)

    def register_vmap(self, rule: Callable) -> None:
        """The batching rule of the op, in the manner of torch.library."""
        torch.library.register_vmap(self.op, rule)
        self.vmap_rule = rule


def _no_context(ctx: Any, inputs: tuple, output: Any) -> None:
    """For a backward function that needs nothing of the forward pass."""


def _eager_function(
    op: torch._ops.OpOverload, backward: Callable, setup_context: Callable
) -> type[torch.autograd.function._SingleLevelFunction]:
    kernels = op._op

    def forward(ctx: Any, *args: Any) -> Any:
        with _below_autograd():
            output = kernels(*args)
        setup_context(ctx, args, output)
        return output

    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    # The base of autograd.Function whose `apply` does not ask again for transforms.
    return type(op._opname, (torch.autograd.function._SingleLevelFunction,), members)


def _transformed_function(
    overload: Overload, backward: Callable, setup_context: Callable
) -> type[torch.autograd.Function]:
    def forward(*args: Any) -> Any:
        return overload.op(*args)

    def vmap(info: Any, in_dims: tuple, *args: Any) -> Any:
        assert overload.vmap_rule is not None, f"{overload.op} has no batching rule"
        return overload.vmap_rule(info, in_dims, *args)

    members = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(setup_context),
        "backward": staticmethod(backward),
        "vmap": staticmethod(vmap),
    }
    return type(overload.op._opname, (torch.autograd.Function,), members)


class Packet:
    """An op with its overloads: `default`, and `tensor` where the first argument may be a
    tensor."""

    def __init__(self, packet: torch._ops.OpOverloadPacket) -> None:
        self.default = Overload(packet.default)
        has_tensor = "tensor" in packet.overloads()
        self.tensor = Overload(packet.tensor) if has_tensor else self.default

    def __call__(self, *args: Any) -> Any:
        return (self.tensor if isinstance(args[0], Tensor) else self.default)(*args)


class _Namespace:
    """`ops.<name>`, made on first use."""

    def __getattr__(self, name: str) -> Packet:
        packet = Packet(getattr(torch.ops.svmf, name))
        setattr(self, name, packet)
        return packet


ops = _Namespace()
