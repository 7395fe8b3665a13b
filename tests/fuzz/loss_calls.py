# SPDX-License-Identifier: MIT
"""Losses, statistics and transforms on tensors of any size, type and shape: right, or an error that
names the function."""

import math
from collections.abc import Callable

import torch
from fuzz import values
from fuzz.checks import require, require_documented
from fuzz.values import Chance
from torch import Tensor

import svmf.functional as F
from svmf import losses, statistics
from svmf.constraints import StereographicTransform, UnitVectorTransform

DTYPES = (torch.float32, torch.float64)
NORMS = (0.0, 1e-45, 1e-30, 1e-20, 1e-12, 1e-3, 0.5, 1.0, 30.0, 1e6, 1e19, 1e30, 1e33)
ROUNDING = {torch.float32: 1e-4, torch.float64: 1e-9}


def unit(chance: Chance, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    drawn = chance.normal(shape)
    return (drawn / torch.linalg.vector_norm(drawn, dim=-1, keepdim=True)).to(dtype)


def of_any_length(chance: Chance, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    norms = [chance.pick(NORMS) for _ in range(math.prod(shape[:-1]))]
    sizes = torch.tensor(norms, dtype=torch.float64).reshape(*shape[:-1], 1)
    return (unit(chance, shape, torch.float64) * sizes).to(dtype)


def spoiled(chance: Chance, tensor: Tensor) -> object:
    """Something else in the place of an argument."""
    others = (None, 1.0, [1.0], tensor.to(torch.int64), tensor.to(torch.complex64))
    narrow = tensor.narrow(-1, 0, 1) if tensor.numel() and tensor.dim() else None
    shapes = (narrow, tensor[..., None], tensor.new_ones(7), tensor.new_ones(()))
    return chance.pick((*others, *shapes, tensor.to_sparse()))


def expected_error(chance: Chance, name: str, call: Callable, given: list) -> bool:
    """One time in four an argument is another one; whether that was an error, and documented."""
    if not chance.one_in(4):
        return False
    i = chance.random.randrange(len(given))
    given[i] = spoiled(chance, given[i])
    try:
        call(*given)
    except Exception as error:
        require_documented(error, name, "vmf_log_prob")
    return True


def nll(chance: Chance, dtype: torch.dtype, dim: int) -> str:
    """Value, gradient and, by one product, the Hessian of the loss of raw vectors."""
    batch = chance.pick(((), (1,), (4,), (2, 3), (0,)))
    vectors = of_any_length(chance, (*batch, dim), dtype)
    target = unit(chance, (*batch, dim), dtype)
    given = [values.laid_out(chance, t).detach() for t in (vectors, target)]
    if expected_error(chance, "vmf_nll_loss", losses.vmf_nll_loss, given):
        return "nll.mistake"
    leaf = given[0].requires_grad_()
    loss = losses.vmf_nll_loss(leaf, given[1], reduction="none")
    require(loss.shape == batch, f"a loss of shape {list(loss.shape)}")
    (slope,) = torch.autograd.grad(loss.sum(), leaf, create_graph=True)
    wide, kappa = vectors.double(), torch.linalg.vector_norm(vectors.double(), dim=-1)
    mu = wide / kappa.clamp(min=1e-300).unsqueeze(-1)
    exact = F.vmf_mean_length(kappa, dim).unsqueeze(-1) * mu - target.double()
    off = (slope.detach().double() - exact).abs()
    require(bool((off <= ROUNDING[dtype]).all()), f"a gradient is off at {kappa.tolist()}")
    (bend,) = torch.autograd.grad((slope * mu.to(dtype)).sum(), leaf)
    # Along the vector the second derivative is A'(kappa) <= 1/m; rounding is that of A times 1.
    require(bool((bend.abs() <= 1 / dim + 0.1).all()), f"a Hessian at {kappa.tolist()}")
    return "nll.right"


def classes(chance: Chance, dtype: torch.dtype, dim: int) -> str:
    batch, count = chance.pick(((1,), (4,), (2, 3), ())), chance.pick((1, 2, 5))
    features = of_any_length(chance, (*batch, dim), dtype)
    prototypes = of_any_length(chance, (count, dim), dtype)
    kappa = (chance.uniform(chance.pick(((), (1,), (count,)))) * 12 - 4).exp().to(dtype)
    labels = torch.tensor(chance.random.choices(range(count), k=math.prod(batch)))
    labels = labels.reshape(batch)
    given = [values.laid_out(chance, t).detach() for t in (features, prototypes, kappa)]

    def call(x: Tensor, mu: Tensor, kappa: Tensor) -> Tensor:
        return losses.vmf_classification_loss(x, labels, mu, kappa, likelihood=0.5)

    if expected_error(chance, "vmf_classification_loss", call, given):
        return "classes.mistake"
    if chance.one_in(4):
        wrong = labels.new_zeros(chance.pick(((9,), (2, 2), (3, 2))))
        try:
            losses.vmf_classification_loss(given[0], wrong, *given[1:])
        except Exception as error:
            require_documented(error, "vmf_classification_loss")
        else:
            require(wrong.shape == labels.shape, "labels of another shape were taken")
    leaves = [t.requires_grad_() for t in given]
    for gradient in torch.autograd.grad(call(*leaves), leaves):
        require(bool(gradient.isfinite().all()), "a gradient of a class is not finite")
    posterior = losses.vmf_class_logits(*leaves).softmax(-1)
    require(posterior.shape == (*batch, count), f"logits of shape {list(posterior.shape)}")
    return "classes.right"


def tests_of_uniformity(chance: Chance, dtype: torch.dtype, dim: int) -> str:
    count, batch = chance.pick((1, 2, 3, 10, 200)), chance.pick(((), (2,), (0,)))
    data = unit(chance, (count, *batch, dim), dtype)
    if chance.one_in(3):  # all alike, or in pairs
        data = data[:1].expand(data.shape) * chance.pick((1, -1))
    function = chance.pick(
        (statistics.rayleigh_test, statistics.bingham_test, statistics.concentration_interval)
    )
    given = [values.laid_out(chance, data)]
    if expected_error(chance, function.__name__, function, given):
        return "statistics.mistake"
    try:
        first, second = function(*given)
    except ValueError as error:
        require_documented(error, function.__name__)
        alike = count == 1 or bool((data == data[:1]).all())
        require(alike, f"right observations were refused: {error}")
        return "statistics.refused"
    require(first.shape == second.shape == batch, f"a statistic of shape {list(first.shape)}")
    require(bool((first.isfinite() & second.isfinite()).all()), "a statistic is not finite")
    if function is statistics.concentration_interval:
        require(bool(((first >= 0) & (first <= second)).all()), "an interval from high to low")
    else:
        require(bool(((second >= 0) & (second <= 1)).all()), f"a p-value of {second.tolist()}")
    return "statistics.right"


def transforms(chance: Chance, dtype: torch.dtype, dim: int) -> str:
    x = of_any_length(chance, (3, dim), dtype).requires_grad_()
    transform = chance.pick((UnitVectorTransform(), StereographicTransform()))
    y = transform(x)
    length = torch.linalg.vector_norm(y.detach().double(), dim=-1)
    require(bool(((length - 1).abs() <= 1e-5).all()), f"images of length {length.tolist()}")
    if isinstance(transform, StereographicTransform):
        back = transform._inverse(y.detach())
        size = torch.linalg.vector_norm(x.detach().double(), dim=-1, keepdim=True)
        off = (back - x.detach()).double().abs() - 1e-3 * size
        require(bool((off <= 1e-44).all()), f"not the inverse at lengths {size.tolist()}")
        y = transform.log_abs_det_jacobian(x, y)
        require(bool(y.isfinite().all()), "a Jacobian is not finite")
    (gradient,) = torch.autograd.grad(y.sum(), x)
    require(not bool(gradient.isnan().any()), "a gradient of a transform is nan")
    return f"transform.{type(transform).__name__}"


KINDS = (nll, nll, classes, tests_of_uniformity, transforms)


def random_loss(chance: Chance) -> str:
    return chance.pick(KINDS)(chance, chance.pick(DTYPES), chance.pick(values.SMALL_DIMS))
