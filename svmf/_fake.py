# SPDX-License-Identifier: MIT
"""Fake kernels: shapes and types of every op, with the checks of the real kernels (_checks.py)."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from svmf import _checks as check
from svmf import _inventory as inventory
from svmf._torch_private import arguments_of

ops = torch.ops.svmf


def _contiguous_like(t: Tensor) -> Tensor:
    return torch.empty_like(t, memory_format=torch.contiguous_format)


def _bessel(name: str) -> Callable[[float, Tensor], Tensor]:
    def fake(order: float, x: Tensor) -> Tensor:
        check.check_floating(name, "x", x)
        check.check_order(name, order)
        return _contiguous_like(x)

    return fake


def _bessel_orders(name: str) -> Callable[[Tensor, Tensor], Tensor]:
    def fake(order: Tensor, x: Tensor) -> Tensor:
        check.check_floating(name, "x", x)
        check.check_pair(name, "order", order, "x", x)
        check.check_same_shape(name, "order", order, "x", x)
        return _contiguous_like(x)

    return fake


def _of_kappa(name: str, argument: str) -> Callable[[Tensor, int], Tensor]:
    def fake(kappa: Tensor, dim: int) -> Tensor:
        check.check_floating(name, argument, kappa)
        check.check_dim(name, dim)
        return _contiguous_like(kappa)

    return fake


def _pathwise(w: Tensor, kappa: Tensor, dim: int) -> Tensor:
    op = inventory.PATHWISE
    check.check_floating(op, "w", w)
    check.check_pair(op, "kappa", kappa, "w", w)
    check.check_same_shape(op, "kappa", kappa, "w", w)
    check.check_dim(op, dim)
    return _contiguous_like(w)


def _of_rows(op: inventory.OfRows) -> Callable[..., Any]:
    names = [a.name for a in arguments_of(getattr(ops, op.name).default)]
    first = op.first
    others = [*range(first + 1, len(names)), *range(first)]

    def fake(*tensors: Tensor) -> Any:
        rows, rows_name = tensors[first], names[first]
        check.check_floating(op.name, rows_name, rows)
        check.check_vectors(op.name, rows_name, rows)
        for i in others:
            check.check_pair(op.name, names[i], tensors[i], rows_name, rows)
            fits = check.check_same_shape if op.arguments[i] == "vector" else check.check_row_shape
            fits(op.name, names[i], tensors[i], rows_name, rows)
        made = tuple(_contiguous_like(tensors[op.arguments.index(kind)]) for kind in op.results)
        return made if len(made) > 1 else made[0]

    return fake


def _sampler(
    op: str, results: Sequence[str], parameter: str = "kappa", rows: str = "loc"
) -> Callable[..., Any]:
    """`results`: what comes between z and the state, "row" for one value per row of loc, "sample"
    for one per sample. `rows` and `parameter` are what the op calls its first arguments."""

    def fake(
        loc: Tensor, kappa: Tensor, seed: Tensor, sample_shape: list[int], *options: Any
    ) -> tuple[Tensor, ...]:
        check.check_floating(op, rows, loc)
        check.check_vectors(op, rows, loc)
        check.check_pair(op, parameter, kappa, rows, loc)
        check.check_row_shape(op, parameter, kappa, rows, loc)
        if op == inventory.FEATURE_SAMPLER:
            check.check_offset(op, options[1])
        check.check_seed(op, seed, loc, rows)
        check.check_sample_shape(op, sample_shape)
        keep_state = options[-1]
        compute = torch.float64 if loc.dtype == torch.float64 else torch.float32
        per_sample = (*sample_shape, *kappa.shape)
        z = loc.new_empty((*sample_shape, *loc.shape))
        state = loc.new_empty((2 if keep_state else 0, *per_sample), dtype=compute)
        shapes = {"row": kappa.shape, "sample": per_sample}
        return z, *(kappa.new_empty(shapes[result]) for result in results), state

    return fake


def _sampler_backward(*arguments: Any) -> tuple[Tensor, Tensor]:
    # Only our own backward pass calls it, with what the forward pass returned: no checks here.
    loc, kappa = [a for a in arguments if isinstance(a, Tensor)][-2:]
    return _contiguous_like(loc), _contiguous_like(kappa)


def _register(name: str, fake: Callable[..., Any]) -> None:
    for namespace in ("svmf", "svmf_kernels"):  # with and without derivatives
        torch.library.register_fake(f"{namespace}::{name}")(fake)


for _name in inventory.BESSEL:
    _register(_name, _bessel(_name))
    _register(f"{_name}.tensor", _bessel_orders(_name))
for _op in inventory.OF_KAPPA:
    _register(_op.name, _of_kappa(_op.name, _op.argument))
_register(inventory.PATHWISE, _pathwise)
for _rows in inventory.OF_ROWS:
    _register(_rows.name, _of_rows(_rows))
for _name, _results in zip(inventory.SAMPLERS, ((), ("row",), ("sample",)), strict=True):
    _register(_name, _sampler(_name, _results))
_register(inventory.SAMPLER_BACKWARD, _sampler_backward)
_register(
    inventory.FEATURE_SAMPLER,
    _sampler(inventory.FEATURE_SAMPLER, ("row",), "raw_concentration", "features"),
)
_register(inventory.FEATURE_SAMPLER_BACKWARD, _sampler_backward)
for _family in inventory.FAMILIES:
    for _name, _results in zip(_family.samplers, ((), ("row",)), strict=True):
        _register(_name, _sampler(_name, _results, _family.parameter))
    _register(_family.backward, _sampler_backward)
