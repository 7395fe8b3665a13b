# SPDX-License-Identifier: MIT
"""Every private name of torch that svmf uses, with its reason and its public stand-in.

Tried with torch 2.13.0, and in an earlier state with 2.10.0 and 2.15.0 (docs/reliability.md). A
torch that lacks one of the names, or the environment variable SVMF_PUBLIC_TORCH=1, gives the public
stand-ins: the same numbers with more Python per call, but no forward-mode derivatives (they raise)
and slower training steps.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

is_compiling = torch.compiler.is_compiling
PLAIN_TYPES = (Tensor, torch.nn.Parameter)  # no fake tensors, no other subclasses
# The functions that torch.save names in a file for a tensor: svmf.training reads its pickles.
PICKLED_TENSORS = ("torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_tensor_v3")

# Looked up once: a call of a small batch takes no longer than twenty such look-ups.
try:
    if os.environ.get("SVMF_PUBLIC_TORCH") == "1":
        raise AttributeError("asked for by SVMF_PUBLIC_TORCH")
    # Kernels without autograd's bookkeeping: cheaper than torch.no_grad.
    below_autograd: Callable[[], Any] = torch._C._AutoDispatchBelowAutograd
    # Is torch.func at work, a level of forward-mode derivatives, or torch.jit.trace? No public
    # function says so, or not without a warning.
    _transforms_active = torch._C._are_functorch_transforms_active
    is_tracing: Callable[[], bool] = torch._C._is_tracing
    _ = forward_ad._current_level
    # Tensors that outlived a transform are still wrapped; torch unwraps them in its own functions.
    unwrap_if_dead: Callable[[Any], Any] = torch._C._functorch.unwrap_if_dead
    any_requires_grad: Callable[..., bool] = torch._C._any_requires_grad
    # The derivative of an op at one level of transforms, as torch's own ops have it: a function
    # class that may run inside torch.func, the dispatch keys below autograd, and the modes that
    # hand outer levels their derivatives.
    LevelFunction: Any = torch.autograd.function._SingleLevelFunction
    _allow = torch._C._functorch.set_single_level_autograd_function_allowed
    _allowed = torch._C._functorch.get_single_level_autograd_function_allowed
    _after_autograd = torch._C._after_autograd_keyset
    _forward_mode: Callable[[bool], Any] = forward_ad._set_fwd_grad_enabled
    # For svmf.training: Adam's kernel without its bookkeeping, a captured step as one function.
    fused_adam: Callable[..., None] | None = torch._fused_adam_
    # For svmf.mixture: does the processor multiply bfloat16 numbers itself?
    has_fast_bfloat16: Callable[[], bool] = torch.cpu._is_avx512_bf16_supported
    # For svmf.reference: gamma variables from a generator.
    _standard_gamma: Callable[..., Tensor] | None = torch._standard_gamma
    PUBLIC_ONLY = False
except AttributeError:
    PUBLIC_ONLY = True
    below_autograd, is_tracing = torch.no_grad, torch.jit.is_tracing
    fused_adam = _standard_gamma = None
    LevelFunction = torch.autograd.Function

    def has_fast_bfloat16() -> bool:
        return False


def plain_eager() -> bool:
    """Eager code without compiler, tracer, torch.func or forward-mode level: nothing is hidden.

    With public names alone nobody can tell, and every call takes the general way.
    """
    return not PUBLIC_ONLY and not (
        is_compiling() or _transforms_active() or forward_ad._current_level >= 0 or is_tracing()
    )


def compiles_to_run() -> bool:
    """A graph is traced that will be run as it is: nobody exports it, and no level of derivatives
    inside it needs to know the ops."""
    return (
        is_compiling()
        and not torch.compiler.is_exporting()
        and not PUBLIC_ONLY
        and not _transforms_active()
        and forward_ad._current_level < 0
    )


def backward_is_differentiated() -> bool:
    """In a backward pass: whether its result may be differentiated again, in either mode."""
    return torch.is_grad_enabled() or (not PUBLIC_ONLY and forward_ad._current_level >= 0)


def readable(*tensors: Tensor) -> bool:
    """Whether the values of tensors can be read: they are real, nobody traces or transforms, and no
    CUDA graph is being captured, which a wait for the device would spoil."""
    for tensor in tensors:
        if type(tensor) not in PLAIN_TYPES or tensor.is_meta:
            return False
        if tensor.is_cuda and torch.cuda.is_current_stream_capturing():
            return False
    if not PUBLIC_ONLY or is_compiling() or is_tracing():
        return plain_eager()
    with contextlib.suppress(RuntimeError):  # vmap refuses
        return all(t.detach().flatten()[:1].tolist() is not None for t in tensors)
    return False


@contextlib.contextmanager
def one_level() -> Iterator[None]:
    """Allows a LevelFunction while torch.func is at work."""
    before = _allowed()
    _allow(True)
    try:
        yield
    finally:
        _allow(before)


def below_this_level(op: Any, keys: Any, args: tuple) -> Any:
    """The op without the derivative of this level, but with those of the levels outside of it."""
    with torch.enable_grad(), _forward_mode(True), below_autograd():
        return op.redispatch(keys & _after_autograd, *args)


@contextlib.contextmanager
def primals(*tensors: Tensor) -> Iterator[list[Tensor]]:
    """The tensors without their tangents of this level, in a mode that keeps the outer levels'."""
    with _forward_mode(True):
        yield [forward_ad.unpack_dual(tensor, level=0).primal for tensor in tensors]


def kernels_of(op: Any) -> Callable[..., Any]:
    """What calling an overload calls, one Python frame less."""
    return getattr(op, "_op", op)


def arguments_of(op: Any) -> Any:
    """The arguments of an overload, with their names and types."""
    return op._schema.arguments


def name_of(op: Any) -> str:
    """The name of an overload's op, without the namespace."""
    return op._schema.name.partition("::")[2]


def twin_of(op: Any, namespace: str) -> Any:
    """The overload of the same name in another namespace."""
    return getattr(getattr(getattr(torch.ops, namespace), name_of(op)), op._overloadname)


def standard_gamma(shape: Tensor, generator: torch.Generator | None) -> Tensor:
    """Gamma variables of the given shapes and scale 1."""
    if _standard_gamma is not None:
        return _standard_gamma(shape, generator=generator)
    import numpy

    seed = int(torch.randint(2**63 - 1, (1,), generator=generator))
    return torch.from_numpy(numpy.random.default_rng(seed).gamma(shape.numpy())).to(shape)


def compile_graph(graph: Any, example: list[Tensor], options: dict[str, Any]) -> Any:
    """One compiled function without guards, of the example's shapes."""
    if PUBLIC_ONLY:
        return torch.compile(graph, options=options)
    return torch._inductor.compile(graph, example, options=options)  # type: ignore[arg-type]
