# SPDX-License-Identifier: MIT
"""Fake kernels: shapes and dtypes of every op, with the checks of the real kernels. In the order
of csrc/common/ops.inc.
"""

import torch
from torch import Tensor

from svmf import _checks as check

ops = torch.ops.svmf


def _contiguous_like(t: Tensor) -> Tensor:
    return torch.empty_like(t, memory_format=torch.contiguous_format)


def _register_bessel(name: str) -> None:
    packet = getattr(ops, name)

    @torch.library.register_fake(packet.default)
    def one_order(order: float, x: Tensor) -> Tensor:
        check.check_floating(name, "x", x)
        check.check_order(name, order)
        return _contiguous_like(x)

    @torch.library.register_fake(packet.tensor)
    def order_per_element(order: Tensor, x: Tensor) -> Tensor:
        check.check_floating(name, "x", x)
        check.check_pair(name, "order", order, "x", x)
        check.check_same_shape(name, "order", order, "x", x)
        return _contiguous_like(x)


def _register_kappa(name: str, argument: str = "kappa") -> None:
    @torch.library.register_fake(getattr(ops, name).default)
    def function_of_kappa(kappa: Tensor, dim: int) -> Tensor:
        check.check_floating(name, argument, kappa)
        check.check_dim(name, dim)
        return _contiguous_like(kappa)


for _name in ("log_iv", "log_ive", "iv_ratio", "_iv_ratio_grad"):
    _register_bessel(_name)

for _name in (
    "vmf_log_norm",
    "vmf_log_partition",
    "vmf_mean_length",
    "vmf_mean_length_complement",
    "_vmf_mean_length_grad",
    "_vmf_mean_length_grad2",
    "vmf_kl_uniform",
    "_vmf_kl_uniform_grad",
    "_vmf_kl_uniform_grad2",
    "vmf_entropy",
):
    _register_kappa(_name)
_register_kappa("vmf_concentration", "mean_length")


@torch.library.register_fake(ops.vmf_pathwise_derivative.default)
def _vmf_pathwise_derivative(w: Tensor, kappa: Tensor, dim: int) -> Tensor:
    op = "vmf_pathwise_derivative"
    check.check_floating(op, "w", w)
    check.check_pair(op, "kappa", kappa, "w", w)
    check.check_same_shape(op, "kappa", kappa, "w", w)
    check.check_dim(op, dim)
    return _contiguous_like(w)


@torch.library.register_fake(ops.vmf_kl.default)
def _vmf_kl(loc1: Tensor, kappa1: Tensor, loc2: Tensor, kappa2: Tensor) -> Tensor:
    op = "vmf_kl"
    check.check_floating(op, "loc1", loc1)
    check.check_vectors(op, "loc1", loc1)
    check.check_pair(op, "kappa1", kappa1, "loc1", loc1)
    check.check_row_shape(op, "kappa1", kappa1, "loc1", loc1)
    check.check_pair(op, "loc2", loc2, "loc1", loc1)
    check.check_same_shape(op, "loc2", loc2, "loc1", loc1)
    check.check_pair(op, "kappa2", kappa2, "loc1", loc1)
    check.check_row_shape(op, "kappa2", kappa2, "loc1", loc1)
    return _contiguous_like(kappa1)


def _check_householder(op: str, x: Tensor, loc: Tensor) -> None:
    check.check_floating(op, "x", x)
    check.check_vectors(op, "x", x)
    check.check_pair(op, "loc", loc, "x", x)
    check.check_same_shape(op, "loc", loc, "x", x)


@torch.library.register_fake(ops.householder.default)
def _householder(x: Tensor, loc: Tensor) -> Tensor:
    _check_householder("householder", x, loc)
    return _contiguous_like(x)


@torch.library.register_fake(ops._householder_backward.default)
def _householder_backward(grad: Tensor, x: Tensor, loc: Tensor) -> tuple[Tensor, Tensor]:
    op = "_householder_backward"
    _check_householder(op, x, loc)
    check.check_pair(op, "grad", grad, "x", x)
    check.check_same_shape(op, "grad", grad, "x", x)
    return _contiguous_like(x), _contiguous_like(x)


@torch.library.register_fake(ops.vmf_log_prob.default)
def _vmf_log_prob(value: Tensor, loc: Tensor, kappa: Tensor) -> Tensor:
    op = "vmf_log_prob"
    check.check_floating(op, "value", value)
    check.check_vectors(op, "value", value)
    check.check_pair(op, "loc", loc, "value", value)
    check.check_same_shape(op, "loc", loc, "value", value)
    check.check_pair(op, "kappa", kappa, "value", value)
    check.check_row_shape(op, "kappa", kappa, "value", value)
    return _contiguous_like(kappa)


def _sample(
    op: str, loc: Tensor, kappa: Tensor, seed: Tensor, sample_shape: list[int], keep_state: bool
) -> tuple[Tensor, Tensor]:
    check.check_floating(op, "loc", loc)
    check.check_vectors(op, "loc", loc)
    check.check_pair(op, "kappa", kappa, "loc", loc)
    check.check_row_shape(op, "kappa", kappa, "loc", loc)
    check.check_seed(op, seed, loc)
    check.check_sample_shape(op, sample_shape)
    compute = torch.float64 if loc.dtype == torch.float64 else torch.float32
    state = loc.new_empty((2 if keep_state else 0, *sample_shape, *kappa.shape), dtype=compute)
    return loc.new_empty((*sample_shape, *loc.shape)), state


@torch.library.register_fake(ops.vmf_rsample.default)
def _vmf_rsample(
    loc: Tensor,
    kappa: Tensor,
    seed: Tensor,
    sample_shape: list[int],
    gradient: int,
    keep_state: bool,
) -> tuple[Tensor, Tensor]:
    return _sample("vmf_rsample", loc, kappa, seed, sample_shape, keep_state)


@torch.library.register_fake(ops.vmf_rsample_kl.default)
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


@torch.library.register_fake(ops.vmf_rsample_with_correction.default)
def _vmf_rsample_with_correction(
    loc: Tensor, kappa: Tensor, seed: Tensor, sample_shape: list[int], keep_state: bool
) -> tuple[Tensor, Tensor, Tensor]:
    op = "vmf_rsample_with_correction"
    z, state = _sample(op, loc, kappa, seed, sample_shape, keep_state)
    return z, kappa.new_empty((*sample_shape, *kappa.shape)), state


@torch.library.register_fake(ops._vmf_rsample_backward.default)
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
