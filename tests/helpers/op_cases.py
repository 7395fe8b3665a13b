# SPDX-License-Identifier: MIT
"""The deterministic ops as the tests of tests/ops see them: one entry per function, with arguments
of every dtype, the call of the raw op, and the pure-Python reference."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

import svmf.functional as F
from helpers import exact
from svmf import _inventory as inventory
from svmf import reference

ops = torch.ops.svmf
Arguments = Callable[[torch.dtype], tuple[Tensor, ...]]


@dataclass(frozen=True)
class Case:
    name: str
    call: Callable[..., Tensor]  # of the tensors alone
    arguments: Arguments
    op: torch._ops.OpOverload
    op_arguments: Callable[..., tuple]  # the op's arguments from the tensors
    reference: Callable[..., Tensor] | None
    differentiable: tuple[bool, ...]  # for each tensor

    def tensors(self, dtype: torch.dtype = torch.float64, grad: bool = False) -> tuple[Tensor, ...]:
        tensors = self.arguments(dtype)
        if grad:
            for tensor, wanted in zip(tensors, self.differentiable, strict=True):
                tensor.requires_grad_(wanted)
        return tensors

    def __str__(self) -> str:
        return self.name


def kappas(dtype: torch.dtype) -> tuple[Tensor]:
    return (torch.tensor([0.05, 0.7, 3.0, 11.0, 42.0, 180.0, 1e3], dtype=dtype),)


def mean_lengths(dtype: torch.dtype) -> tuple[Tensor]:
    return (torch.tensor([0.01, 0.2, 0.45, 0.7, 0.85, 0.97, 0.995], dtype=dtype),)


def rhos(dtype: torch.dtype) -> tuple[Tensor]:
    return (torch.tensor([0.01, 0.2, 0.45, 0.7, 0.85, 0.97, 0.995], dtype=dtype),)


def orders_and_x(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    return (
        torch.tensor([0.0, 0.3, 0.5, 2.0, 5.5, 31.7, 50.2], dtype=dtype),
        torch.tensor([0.4, 2.0, 9.0, 30.0, 70.0, 33.0, 200.0], dtype=dtype),
    )


def cosines_and_kappas(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    return (
        torch.tensor([-0.3, 0.1, 0.5, 0.8, 0.9, 0.97, 0.99], dtype=dtype),
        torch.tensor([0.05, 0.7, 3.0, 11.0, 42.0, 80.0, 500.0], dtype=dtype),
    )


def directions(count: int, dim: int, dtype: torch.dtype, seed: int) -> Tensor:
    return exact.directions(count, dim, seed=seed, dtype=dtype)


def _function_of_kappa(name: str, dim: int, arguments: Arguments = kappas) -> Case:
    function = getattr(F, name)
    return Case(
        f"{name}-{dim}",
        lambda kappa: function(kappa, dim),
        arguments,
        getattr(ops, name).default,
        lambda kappa: (kappa, dim),
        lambda kappa: getattr(reference, name)(kappa, dim),
        (True,),
    )


def _bessel(name: str, order: float) -> Case:
    function = getattr(F, name)
    return Case(
        f"{name}-{order}",
        lambda x: function(order, x),
        kappas,
        getattr(ops, name).default,
        lambda x: (order, x),
        lambda x: getattr(reference, name)(order, x),
        (name not in inventory.BESSEL_WITHOUT_SLOPE,),
    )


def _bessel_orders(name: str) -> Case:
    return Case(
        f"{name}-orders",
        getattr(F, name),
        orders_and_x,
        getattr(ops, name).tensor,
        lambda order, x: (order, x),
        getattr(reference, name),
        (False, name not in inventory.BESSEL_WITHOUT_SLOPE),
    )


def _pathwise(dim: int) -> Case:
    return Case(
        f"vmf_pathwise_derivative-{dim}",
        lambda w, kappa: F.vmf_pathwise_derivative(w, kappa, dim),
        cosines_and_kappas,
        ops.vmf_pathwise_derivative.default,
        lambda w, kappa: (w, kappa, dim),
        lambda w, kappa: reference.vmf_pathwise_derivative(w, kappa, dim),
        (True, True),
    )


def _vectors(name: str, dim: int) -> Case:
    def two_distributions(dtype: torch.dtype) -> tuple[Tensor, ...]:
        (kappa,) = kappas(dtype)
        return (
            directions(7, dim, dtype, 1),
            kappa,
            directions(7, dim, dtype, 2),
            kappa.flip(0).contiguous(),
        )

    arguments: dict[str, Arguments] = {
        "vmf_kl": two_distributions,
        "householder": lambda dtype: (directions(7, dim, dtype, 1), directions(7, dim, dtype, 2)),
        **{
            name: lambda dtype, parameter=parameter: (
                directions(7, dim, dtype, 1),
                directions(7, dim, dtype, 2),
                *parameter(dtype),
            )
            for name, parameter in (
                ("vmf_log_prob", kappas),
                ("spherical_cauchy_log_prob", rhos),
                ("power_spherical_log_prob", kappas),
            )
        },
    }
    return Case(
        f"{name}-{dim}",
        getattr(F, name),
        arguments[name],
        getattr(ops, name).default,
        lambda *tensors: tensors,
        getattr(reference, name),
        (True,) * len(arguments[name](torch.float64)),
    )


OF_RHO = tuple(
    op.name for op in inventory.OF_KAPPA if inventory.is_public(op.name) and op.argument == "rho"
)
OF_KAPPA = tuple(op.name for op in inventory.public_of_kappa())
BESSEL = tuple(filter(inventory.is_public, inventory.BESSEL))
OF_VECTORS = tuple(op.name for op in inventory.OF_ROWS if inventory.is_public(op.name))

CASES = (
    *(_bessel(name, order) for name in BESSEL for order in (0.3, 1.0, 40.5)),
    *(_bessel_orders(name) for name in BESSEL),
    *(_function_of_kappa(name, dim) for name in OF_KAPPA for dim in (3, 10, 100)),
    *(_function_of_kappa(name, dim, rhos) for name in OF_RHO for dim in (3, 10, 100)),
    *(_function_of_kappa("vmf_concentration", dim, mean_lengths) for dim in (2, 10, 100)),
    *(_pathwise(dim) for dim in (2, 3, 10, 100)),
    *(_vectors(name, dim) for name in OF_VECTORS for dim in (2, 3, 10)),
)
DIFFERENTIABLE = tuple(case for case in CASES if any(case.differentiable))
