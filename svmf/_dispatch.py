# SPDX-License-Identifier: MIT
"""The ops as the Python layer calls them: `ops.<name>` is `torch.ops.svmf.<name>` with a short way
for plain eager code.

A derivative is registered once, for the op itself, and serves every kind of program: eager code,
compiled and exported graphs, the transforms of torch.func in any nesting, and forward-mode
derivatives. That way passes through Python twice more than the work of a small batch is worth; so
plain eager calls go straight to an autograd.Function of the same formulas, or to the kernels.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from svmf import _torch_private as private
from svmf._seed import draw_seed, has_plain_seed, seed_of_thread

_below_autograd = private.below_autograd
_is_grad_enabled = torch.is_grad_enabled
_plain_eager = private.plain_eager
_library = torch.library.Library("svmf", "FRAGMENT")


class Derivative:
    """How an op is differentiated: what is kept, and the products with the Jacobian.

    `keep` gives the tensors to save and one further value; `vjp` one gradient per input; `jvp` one
    tangent per output. Gradients and tangents that are not needed or not given are None.
    """

    def keep(self, inputs: tuple, outputs: Any) -> tuple[tuple[Tensor, ...], Any]:
        raise NotImplementedError

    def vjp(self, kept: tuple, value: Any, needs: tuple[bool, ...], *grads: Any) -> tuple:
        raise NotImplementedError

    def jvp(self, kept: list, value: Any, *tangents: Any) -> Any:
        raise NotImplementedError

    def eager(self, kernels: Callable) -> tuple[Callable, Callable]:
        """forward and backward of the autograd.Function for plain eager code."""

        def forward(ctx: Any, *args: Any) -> Any:
            with _below_autograd():
                outputs = kernels(*args)
            self.setup(ctx, args, outputs)
            return outputs

        return forward, self.backward

    def setup(self, ctx: Any, inputs: tuple, output: Any) -> None:
        """`keep`, for an autograd.Function."""
        kept, ctx.value = self.keep(inputs, output)
        ctx.save_for_backward(*kept)

    def backward(self, ctx: Any, *grads: Any) -> tuple:
        """`vjp`, for an autograd.Function."""
        return self.vjp(ctx.saved_tensors, ctx.value, ctx.needs_input_grad, *grads)


class Overload:
    """One overload of an op, with what is registered for it."""

    def __init__(self, op: Any) -> None:
        self.op = op
        self._kernels = private.kernels_of(op)
        arguments = enumerate(private.arguments_of(op))
        self._tensors = [i for i, a in arguments if "Tensor" in str(a.type)]
        self._eager: Any = None  # the autograd.Function of plain eager code
        self._public: Any = None  # that of any code, where torch's public names must do

    def __call__(self, *args: Any) -> Any:
        if not _plain_eager():
            if self._public is None or private.is_compiling():
                return self.op(*args)
            return self._public.apply(*args)
        if self._eager is not None and _is_grad_enabled() and private.any_requires_grad(*args):
            unwrapped = list(args)
            for i in self._tensors:
                if unwrapped[i] is not None:
                    unwrapped[i] = private.unwrap_if_dead(unwrapped[i])
            return self._eager.apply(*unwrapped)
        with _below_autograd():
            return self._kernels(*args)

    def with_new_seed(
        self, loc: Tensor, kappa: Tensor, generator: torch.Generator | None, *options: Any
    ) -> Any:
        """A sampling op with the next seed of the generator. In plain eager code the questions
        that `__call__` and `draw_seed` would each ask are asked once. Whoever calls may not use
        the state, which plain eager code does not hand out."""
        if not has_plain_seed(loc):
            transformed = not (private.is_compiling() or _plain_eager())
            keep_state = _is_grad_enabled() or transformed
            return self(loc, kappa, draw_seed(loc, generator), *options, keep_state)
        seed, grad_enabled = seed_of_thread(generator), _is_grad_enabled()
        if grad_enabled and (loc.requires_grad or kappa.requires_grad):
            loc, kappa = private.unwrap_if_dead(loc), private.unwrap_if_dead(kappa)
            return self._eager.apply(loc, kappa, seed, *options, True)
        with _below_autograd():
            return self._kernels(loc, kappa, seed, *options, grad_enabled)

    def register(self, derivative: Derivative, vmap_rule: Callable) -> None:
        """The derivative and the batching rule of the op, for every kind of program."""
        torch.library.register_vmap(self.op, vmap_rule)
        if private.PUBLIC_ONLY:
            torch.library.register_autograd(
                self.op, derivative.backward, setup_context=derivative.setup
            )
            self._public = _public_function(self.op, derivative, vmap_rule)
        else:
            _register_private(self.op, derivative)
            self._eager = _eager_function(self.op, derivative)


def _function(base: Any, op: Any, **members: Callable) -> Any:
    """A class of static methods, named after the op."""
    static = {name: staticmethod(member) for name, member in members.items()}
    return type(private.name_of(op), (base,), static)


def _eager_function(op: Any, derivative: Derivative) -> Any:
    forward, backward = derivative.eager(private.kernels_of(op))
    # The base of autograd.Function whose `apply` does not ask again for transforms.
    return _function(private.LevelFunction, op, forward=forward, backward=backward)


def _register_private(op: Any, derivative: Derivative) -> None:
    kernels = private.kernels_of(op)
    # A compiled graph has its backward pass: it calls the op without a derivative, which would cost
    # a pass through Python in every run.
    underivable = private.twin_of(op, "svmf_kernels")

    def forward(ctx: Any, keys: Any, *args: Any) -> Any:
        called = underivable if private.compiles_to_run() else op
        outputs = private.below_this_level(called, keys, args)
        ctx.set_materialize_grads(False)
        derivative.setup(ctx, args, outputs)
        ctx.save_for_forward(*ctx.to_save)
        return outputs

    def backward(ctx: Any, *grads: Any) -> tuple:
        needs = ctx.needs_input_grad[1:]
        if all(grad is None for grad in grads):
            return None, *(None for _ in needs)
        return None, *derivative.vjp(ctx.saved_tensors, ctx.value, needs, *grads)

    def jvp(ctx: Any, _: None, *tangents: Any) -> Any:
        with private.primals(*ctx.saved_tensors) as kept:
            return derivative.jvp(kept, ctx.value, *tangents)

    function = _function(private.LevelFunction, op, forward=forward, backward=backward, jvp=jvp)

    def kernel(keys: Any, *args: Any) -> Any:
        if _plain_eager() and not (_is_grad_enabled() and private.any_requires_grad(*args)):
            with _below_autograd():
                return kernels(*args)  # as every call of a compiled graph: nobody differentiates
        with private.one_level():
            return function.apply(keys, *args)

    _library.impl(op, kernel, "Autograd", with_keyset=True)


def _public_function(op: Any, derivative: Derivative, vmap_rule: Callable) -> Any:
    return _function(
        torch.autograd.Function,
        op,
        forward=lambda *args: op(*args),
        setup_context=derivative.setup,
        backward=derivative.backward,
        vmap=vmap_rule,
    )


class Packet:
    """An op with its overloads: `default`, and `tensor` where the first argument may be a
    tensor."""

    def __init__(self, packet: Any) -> None:
        self.name = private.name_of(packet.default)
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
