# SPDX-License-Identifier: MIT
"""The ops as the Python layer calls them: `ops.<name>` like `torch.ops.svmf.<name>`, also under
torch.func.

`torch.library.register_autograd` serves torch.autograd, compile and export, but not the transforms
grad, jacrev and hessian of torch.func: they want an autograd.Function with `setup_context`. Each op
keeps such a twin, made of the same formulas and batching rule, and it is called while a transform
is active.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class Overload:
    """One overload of an op and its twin for torch.func."""

    def __init__(self, op: torch._ops.OpOverload) -> None:
        self.op = op
        self.twin: type[torch.autograd.Function] | None = None
        self.vmap_rule: Callable | None = None

    def __call__(self, *args: Any) -> Any:
        if self.twin is not None and torch._C._are_functorch_transforms_active():
            return self.twin.apply(*args)
        return self.op(*args)

    def register_autograd(
        self, backward: Callable, *, setup_context: Callable | None = None
    ) -> None:
        """The derivative of the op, as torch.library has it."""
        torch.library.register_autograd(self.op, backward, setup_context=setup_context)
        self.twin = _make_twin(self, backward, setup_context)

    def register_vmap(self, rule: Callable) -> None:
        """The batching rule of the op, as torch.library has it."""
        torch.library.register_vmap(self.op, rule)
        self.vmap_rule = rule


def _make_twin(
    overload: Overload, backward: Callable, setup_context: Callable | None
) -> type[torch.autograd.Function]:
    class Twin(torch.autograd.Function):
        @staticmethod
        def forward(*args: Any) -> Any:
            return overload.op(*args)

        @staticmethod
        def vmap(info: Any, in_dims: tuple, *args: Any) -> Any:
            assert overload.vmap_rule is not None
            return overload.vmap_rule(info, in_dims, *args)

    def no_context(ctx: Any, inputs: tuple, output: Any) -> None:
        pass

    Twin.backward = staticmethod(backward)  # type: ignore[method-assign, assignment]
    Twin.setup_context = staticmethod(setup_context or no_context)  # type: ignore[method-assign]
    Twin.__name__ = Twin.__qualname__ = f"{overload.op}"
    return Twin


class Packet:
    """An op with its overloads: `default`, and `tensor` where the first argument may be a tensor."""

    def __init__(self, packet: torch._ops.OpOverloadPacket) -> None:
        for name in packet.overloads():
            setattr(self, name, Overload(getattr(packet, name)))

    default: Overload
    tensor: Overload

    def __call__(self, *args: Any) -> Any:
        if isinstance(args[0], Tensor) and hasattr(self, "tensor"):
            return self.tensor(*args)
        return self.default(*args)


class _Namespace:
    """`ops.<name>`, made on first use."""

    def __getattr__(self, name: str) -> Packet:
        packet = Packet(getattr(torch.ops.svmf, name))
        setattr(self, name, packet)
        return packet


ops = _Namespace()
