# SPDX-License-Identifier: MIT
"""Fake kernels: shapes and types of every op, with the checks of the real kernels (_checks.py)."""

from collections.abc import Callable
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


def _sample(
    op: str,
    loc: Tensor,
    kappa: Tensor,
    seed: Tensor,
    sample_shape: list[int],
    keep_state: bool,
    name: str = "kappa",
) -> tuple[Tensor, Tensor]:
    check.check_floating(op, "loc", loc)
    check.check_vectors(op, "loc", loc)
    check.check_pair(op, name, kappa, "loc", loc)
    check.check_row_shape(op, name, kappa, "loc", loc)
    check.check_seed(op, seed, loc)
    check.check_sample_shape(op, sample_shape)
    compute = torch.float64 if loc.dtype == torch.float64 else torch.float32
    state = loc.new_empty((2 if keep_state else 0, *sample_shape, *kappa.shape), dtype=compute)
    return loc.new_empty((*sample_shape, *loc.shape)), state


def _vmf_rsample(
    loc: Tensor,
    kappa: Tensor,
    seed: Tensor,
    sample_shape: list[int],
    gradient: int,
    keep_state: bool,
) -> tuple[Tensor, Tensor]:
    return _sample("vmf_rsample", loc, kappa, seed, sample_shape, keep_state)


def _vmf_rsample_kl(
    loc: Tensor,
    kappa: Tensor,
    seed: Tensor,
    sample_shape: list[int],
    gradient: int,
    keep_state: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    z, state = _sample("vmf_rsample_kl", loc, kappa, seed, sample_shape, keep_state)
    return z, _contiguous_like(kappa), state


def _vmf_rsample_with_correction(
    loc: Tensor, kappa: Tensor, seed: Tensor, sample_shape: list[int], keep_state: bool
) -> tuple[Tensor, Tensor, Tensor]:
    op = "vmf_rsample_with_correction"
    z, state = _sample(op, loc, kappa, seed, sample_shape, keep_state)
    return z, kappa.new_empty((*sample_shape, *kappa.shape)), state


def _vmf_rsample_backward(
    grad_z: Tensor,
    grad_kl: Tensor | None,
    grad_log_ratio: Tensor | None,
    z: Tensor,
    state: Tensor,
    loc: Tensor,
    kappa: Tensor,
    gradient: int,
) -> tuple[Tensor, Tensor]:
    # only our own backward pass calls it, with what the forward pass returned: no checks here
    return _contiguous_like(loc), _contiguous_like(kappa)


def _family_sample(family: inventory.OfFamily, with_kl: bool) -> Callable[..., Any]:
    op, parameter = family.samplers[with_kl], family.parameter

    def fake(
        loc: Tensor, kappa: Tensor, seed: Tensor, sample_shape: list[int], keep_state: bool
    ) -> Any:
        z, state = _sample(op, loc, kappa, seed, sample_shape, keep_state, parameter)
        return (z, _contiguous_like(kappa), state) if with_kl else (z, state)

    return fake


def _family_backward(
    grad_z: Tensor, grad_kl: Tensor | None, z: Tensor, state: Tensor, loc: Tensor, kappa: Tensor
) -> tuple[Tensor, Tensor]:
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
_samplers: tuple[Callable[..., Any], ...] = (
    _vmf_rsample,
    _vmf_rsample_kl,
    _vmf_rsample_with_correction,
    _vmf_rsample_backward,
)
for _name, _fake in zip((*inventory.SAMPLERS, inventory.SAMPLER_BACKWARD), _samplers, strict=True):
    _register(_name, _fake)
for _family in inventory.FAMILIES:
    for _name, _with_kl in zip(_family.samplers, (False, True), strict=True):
        _register(_name, _family_sample(_family, _with_kl))
    _register(_family.backward, _family_backward)
