# SPDX-License-Identifier: MIT
"""Batching rules for torch.func.vmap. Every deterministic op works on any number of leading
dimensions, so one rule does:
bring the mapped dimension to the front of each tensor and call the op once. The samplers number
their rows, and a mapped
call must draw what a loop over unmapped calls would: they are called in that loop."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from svmf._transforms import ops


def _in_front(t: Any, dim: int | None, size: int) -> Any:
    if not isinstance(t, Tensor):
        return t
    return t.expand(size, *t.shape) if dim is None else t.movedim(dim, 0)


def _rule(op: Callable) -> Callable:
    def rule(info: Any, in_dims: tuple, *args: Any) -> tuple[Any, Any]:
        out = op(*(_in_front(t, d, info.batch_size) for t, d in zip(args, in_dims, strict=True)))
        return out, tuple(0 for _ in out) if isinstance(out, tuple) else 0

    return rule


for _op in (
    *(
        overload
        for name in ("log_iv", "log_ive", "iv_ratio", "_iv_ratio_grad")
        for overload in (getattr(ops, name).default, getattr(ops, name).tensor)
    ),
    ops.vmf_log_norm.default,
    ops.vmf_log_partition.default,
    ops.vmf_mean_length.default,
    ops.vmf_mean_length_complement.default,
    ops._vmf_mean_length_grad.default,
    ops._vmf_mean_length_grad2.default,
    ops.vmf_kl_uniform.default,
    ops._vmf_kl_uniform_grad.default,
    ops._vmf_kl_uniform_grad2.default,
    ops.vmf_entropy.default,
    ops.vmf_concentration.default,
    ops.vmf_pathwise_derivative.default,
    ops.vmf_kl.default,
    ops.householder.default,
    ops._householder_backward.default,
    ops.vmf_log_prob.default,
):
    _op.register_vmap(_rule(_op))


def _slice(t: Any, dim: int | None, i: int) -> Any:
    return t.select(dim, i) if isinstance(t, Tensor) and dim is not None else t


def _loop_rule(op: Callable) -> Callable:
    def rule(info: Any, in_dims: tuple, *args: Any) -> tuple[Any, Any]:
        # A list argument (sample_shape) has a list of Nones for its dimensions.
        dims = [d if isinstance(d, int) else None for d in in_dims]
        calls = [
            op(*(_slice(t, d, i) for t, d in zip(args, dims, strict=True)))
            for i in range(info.batch_size)
        ]
        return tuple(torch.stack(parts) for parts in zip(*calls, strict=True)), (0,) * len(calls[0])

    return rule


for _op in (
    ops.vmf_rsample.default,
    ops.vmf_rsample_kl.default,
    ops.vmf_rsample_with_correction.default,
    ops._vmf_rsample_backward.default,
):
    _op.register_vmap(_loop_rule(_op))
