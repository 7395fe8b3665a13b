# SPDX-License-Identifier: MIT
"""Derivatives of every kind: forward mode against reverse mode, and derivatives of derivatives
against differences. An order that an op does not have must be an error, never a zero."""

import warnings

import torch
from fuzz.checks import Finding, require
from fuzz.ops import OPS, Op, Setting
from fuzz.values import Chance
from torch import Tensor

DIMS = (2, 3, 4, 5, 8, 10, 17, 33, 64, 100)
FORWARD_ERROR = 1e-9  # relative, float64; the two modes differ by rounding only
DIFFERENCE_ERROR = 2e-3  # relative, of a difference of steps of 1e-3
STEP = 1e-3
CANCELLING = 1e-9  # of the terms of a derivative in w, which are as large as kappa^order

with (
    warnings.catch_warnings()
):  # torch's first forward mode imports something deprecated of its own
    warnings.simplefilter("ignore")
    torch.func.jvp(torch.sin, (torch.ones(1),), (torch.ones(1),))


def tame(chance: Chance, setting: Setting, kind: str) -> Tensor:
    """Arguments inside of the domain, where derivatives are of ordinary size."""
    shape = setting.batch
    if kind == "vector":
        values = chance.normal((*shape, setting.dim))
        return values / torch.linalg.vector_norm(values, dim=-1, keepdim=True)
    uniform = chance.uniform(shape)
    return {
        "kappa": (uniform * 8 - 2).exp(),
        "order": uniform * 20,
        "mean_length": 0.05 + 0.85 * uniform,
        "rho": 0.05 + 0.85 * uniform,
        "raw": 6 * uniform - 3,
        "cosine": 1.6 * uniform - 0.8,
    }[kind]


def random_derivative(chance: Chance) -> str:
    op = chance.pick(OPS)
    setting = Setting(torch.float64, chance.pick(DIMS), (chance.random.randrange(1, 6),))
    setting.order, setting.seed = chance.pick((0.5, 1.0, 2.5, 30.0)), chance.seed()
    arguments = [tame(chance, setting, kind) for kind in op.kinds]
    both_modes(chance, op, setting, arguments)
    scalar = [
        i
        for i, kind in enumerate(op.kinds)
        if op.differentiable[i] and kind != "vector" and i not in op.once
    ]
    if op.twice and scalar:
        higher_orders(op, setting, arguments, chance.pick(scalar))
    return f"derivatives.{op.name} dim={setting.dim}"


def both_modes(chance: Chance, op: Op, setting: Setting, arguments: list[Tensor]) -> None:
    """<u, J v> by forward mode equals <J' u, v> by reverse mode."""
    moved = [i for i, yes in enumerate(op.differentiable) if yes]
    if not moved:
        return

    def call(*tensors: Tensor) -> tuple[Tensor, ...]:
        full = list(arguments)
        for place, tensor in zip(moved, tensors, strict=True):
            full[place] = tensor
        return tuple(op.call(setting, full))

    inputs = tuple(arguments[i] for i in moved)
    tangents = tuple(chance.normal(tensor.shape) for tensor in inputs)
    results, forward = torch.func.jvp(call, inputs, tangents)
    pullback = torch.func.vjp(call, *inputs)[1]
    weights = tuple(chance.normal(result.shape) for result in results)
    gradients = pullback(weights)
    one = sum((u * jv).sum() for u, jv in zip(weights, forward, strict=True))
    other = sum((g * v).sum() for g, v in zip(gradients, tangents, strict=True))
    size = sum((g * v).abs().sum() for g, v in zip(gradients, tangents, strict=True))
    off = float(abs(one - other))  # type: ignore[arg-type]
    require(off <= FORWARD_ERROR * (1 + float(size)), f"{op.name}: the two modes differ by {off}")


def higher_orders(op: Op, setting: Setting, arguments: list[Tensor], place: int) -> None:
    """Second and third derivatives of each row in one argument against central differences."""

    def derivative(values: Tensor, order: int) -> Tensor:
        """By reverse mode, `order` times."""
        x = values.detach().clone().requires_grad_()
        full = [x if i == place else tensor for i, tensor in enumerate(arguments)]
        result = op.call(setting, full)[0].sum()
        for _ in range(order):
            (result,) = torch.autograd.grad(result.sum(), x, create_graph=True)
        return result.detach()

    x = arguments[place]
    step = STEP * x.abs().clamp(min=1e-2)
    if {"cosine", "mean_length", "rho"} & set(op.kinds):
        step = torch.full_like(x, STEP / 10)
    for order in (2, 3):
        try:
            ours = derivative(x, order)
        except (RuntimeError, NotImplementedError) as error:
            if order == 2:
                raise Finding(f"{op.name}: no second derivative: {str(error)[:200]}") from error
            return  # said, not silently zero
        below, above = derivative(x - step, order - 1), derivative(x + step, order - 1)
        difference = (above - below) / (2 * step)
        rounding = 1e-9 * (above.abs() + below.abs()) / step
        size = difference.abs() + ours.abs()
        if op.kinds[place] == "cosine":
            kappa = arguments[op.kinds.index("kappa")]
            rounding += CANCELLING * derivative(x, 1).abs() * kappa ** (order - 1)
        wrong = (ours - difference).abs() > DIFFERENCE_ERROR * size + rounding + 1e-9
        require(
            not bool(wrong.any()),
            f"{op.name}: derivative {order} is {ours[wrong][:1].tolist()}, "
            f"by differences {difference[wrong][:1].tolist()}",
        )
