# SPDX-License-Identifier: MIT
"""Every op against the CPU, or the CPU's float32 against its float64."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from svmf import _inventory as inventory
from svmf.selftest.step import M, directions, ops

ROWS = 257
# Sums are added in another order on a GPU.
UNITS = 64


def calls() -> Iterator[tuple[str, Callable[..., Any], tuple, int]]:
    """Every op: its name, the op, float64 arguments on the CPU, and how many are differentiated."""
    kappa = torch.logspace(-2, 3, ROWS, dtype=torch.float64)
    loc, other = directions(ROWS, M, 1), directions(ROWS, M, 2)
    seed = torch.tensor([1])
    rho = kappa / (kappa + 1)
    given = {"vector": (loc, other, loc.flip(0)), "kappa": (kappa, kappa.flip(0)), "rho": (rho,)}
    for name in inventory.BESSEL:
        has_slope = inventory.is_public(name) and name not in inventory.BESSEL_WITHOUT_SLOPE
        yield name, getattr(ops, name).default, (2.5, kappa), 1 if has_slope else 0
        order = torch.linspace(0, 40, ROWS, dtype=torch.float64)
        yield f"{name}.tensor", getattr(ops, name).tensor, (order, kappa), 0
    for of_kappa in inventory.OF_KAPPA:
        argument = kappa if of_kappa.argument == "kappa" else rho
        derivatives = 1 if inventory.is_public(of_kappa.name) else 0
        yield of_kappa.name, getattr(ops, of_kappa.name).default, (argument, M), derivatives
    w = torch.linspace(-0.5, 0.9, ROWS, dtype=torch.float64)
    yield inventory.PATHWISE, getattr(ops, inventory.PATHWISE).default, (w, kappa / 100, M), 0
    for of_rows in inventory.OF_ROWS:
        taken = {kind: iter(tensors) for kind, tensors in given.items()}
        arguments = tuple(next(taken[kind]) for kind in of_rows.arguments)
        derivatives = len(arguments) if inventory.is_public(of_rows.name) else 0
        yield of_rows.name, getattr(ops, of_rows.name).default, arguments, derivatives
    for name in inventory.SAMPLERS:
        options = ([2], 0, True) if name != inventory.SAMPLERS[-1] else ([2], True)
        yield name, getattr(ops, name).default, (loc, kappa, seed, *options), 2
    feature_sampler = getattr(ops, inventory.FEATURE_SAMPLER).default
    raw = torch.linspace(-10, 40, ROWS, dtype=torch.float64)
    yield inventory.FEATURE_SAMPLER, feature_sampler, (2 * loc, raw, seed, [2], 0, 1.0, True), 2
    for family in inventory.FAMILIES:
        (parameter,) = given[family.parameter][:1]
        for name in family.samplers:
            yield name, getattr(ops, name).default, (loc, parameter, seed, [2], True), 2


def place(values: tuple, device: str, dtype: torch.dtype, derivatives: int) -> list:
    placed = []
    for value in values:
        if isinstance(value, Tensor):
            value = value.to(device, dtype if value.is_floating_point() else value.dtype)
            if derivatives > 0 and value.is_floating_point():
                value = value.clone().requires_grad_()
                derivatives -= 1
        placed.append(value)
    return placed


def evaluate(
    op: Callable, values: tuple, derivatives: int, device: str, dtype: torch.dtype
) -> list:
    """Results and gradients of the sum of all results, on the CPU in float64."""
    placed = place(values, device, dtype, derivatives)
    results = op(*placed)
    results = [results] if isinstance(results, Tensor) else list(results)
    wanted = [t for t in placed if isinstance(t, Tensor) and t.requires_grad]
    gradients: list[Tensor] = []
    if wanted:
        weights = [torch.linspace(0.5, 1.5, r.numel(), device=device, dtype=dtype) for r in results]
        total = sum(
            (r.flatten() * w).sum()
            for r, w in zip(results, weights, strict=True)
            if r.requires_grad
        )
        gradients = list(torch.autograd.grad(total, wanted))
    return [t.detach().cpu().double() for t in (*results, *gradients)]


def compare(ours: list, theirs: list, units: float, eps: float) -> float:
    """The largest difference, in eps of the largest value of each result."""
    worst = 0.0
    for one, other in zip(ours, theirs, strict=True):
        if one.shape != other.shape or not one.isfinite().all():
            raise AssertionError(f"shape {list(one.shape)} or values are wrong")
        scale = other.abs().max().item() if other.numel() else 0.0
        if scale > 0:
            worst = max(worst, (one - other).abs().max().item() / (eps * scale))
    if worst > units:
        raise AssertionError(f"differs by {worst:.3g} eps of the largest value, allowed {units:g}")
    return worst


def check_ops(device: str) -> str:
    count, worst = 0, 0.0
    for name, op, values, derivatives in calls():
        for dtype in (torch.float32, torch.float64):
            eps = torch.finfo(dtype).eps
            try:
                ours = evaluate(op, values, derivatives, device, dtype)
                if device == "cuda":
                    theirs, units = evaluate(op, values, derivatives, "cpu", dtype), UNITS
                elif dtype == torch.float32:
                    # Rounded arguments and, in samplers, words of another length.
                    if "_rsample" in name:
                        continue
                    rounded = tuple(
                        v.float().double() if isinstance(v, Tensor) and v.is_floating_point() else v
                        for v in values
                    )
                    theirs = evaluate(op, rounded, derivatives, "cpu", torch.float64)
                    units = 4096
                else:
                    count += 1
                    continue
                worst = max(worst, compare(ours, theirs, units, eps))
            except AssertionError as error:
                raise AssertionError(f"{name}, {dtype}: {error}") from None
            count += 1
    return f"{count} calls with gradients, at most {worst:.2g} eps apart"


def check_half_types(device: str) -> str:
    """Computed in float32 and rounded once: the bits of the float32 result in the type."""
    count = 0
    for name, op, values, _ in calls():
        for dtype in (torch.bfloat16, torch.float16):
            placed = place(values, device, dtype, 0)
            wide = [t.float() if isinstance(t, Tensor) and t.dtype == dtype else t for t in placed]
            ours, theirs = op(*placed), op(*wide)
            if isinstance(ours, Tensor):
                ours, theirs = (ours,), (theirs,)
            for one, other in zip(ours, theirs, strict=True):
                if not torch.equal(one.nan_to_num(), other.to(one.dtype).nan_to_num()):
                    raise AssertionError(f"{name}, {dtype}: not the float32 result, rounded")
            count += 1
    return f"{count} calls give the bits of float32, rounded once"
