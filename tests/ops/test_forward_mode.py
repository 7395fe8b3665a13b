# SPDX-License-Identifier: MIT
"""Forward-mode derivatives: every way of asking for them gives those of the backward pass, and none
gives zeros. Samplers with a fixed seed, first order."""

import pytest
import torch
from helpers.op_cases import DIFFERENTIABLE, Case, directions
from torch import Tensor
from torch.autograd import forward_ad
from torch.func import hessian, jacfwd, jacrev, jvp, linearize, vmap

import svmf.functional as F

# Deprecations inside torch, and its own warning about constants of a linearised graph.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node:UserWarning"),
]
SMALL = [case for case in DIFFERENTIABLE if case.name.endswith(("-0.3", "orders", "-2", "-10"))]


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_gradcheck_in_forward_mode(case: Case) -> None:
    tensors = case.tensors(grad=True)
    assert torch.autograd.gradcheck(
        case.call, tensors, check_forward_ad=True, check_backward_ad=False
    )


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_forward_over_reverse(case: Case) -> None:
    assert torch.autograd.gradgradcheck(
        case.call,
        case.tensors(grad=True),
        check_fwd_over_rev=True,
        check_rev_over_rev=False,
        check_undefined_grad=False,
    )


LOC, OTHER = (directions(3, 4, torch.float64, seed) for seed in (1, 2))
COSINE = torch.tensor([0.1, -0.3, 0.8], dtype=torch.float64)


def kl_and_more(kappa: Tensor) -> Tensor:
    """Ops of each kind in one function of kappa."""
    return (
        F.vmf_kl_uniform(kappa, 4)
        + F.vmf_kl(LOC, kappa, OTHER, kappa.flip(0))
        + F.vmf_log_prob(OTHER, LOC, kappa)
        + F.log_iv(1.5, kappa) * F.vmf_pathwise_derivative(COSINE, kappa, 4)
        + F.householder(kappa, LOC[:, :3])[0]
    )


KAPPA = torch.tensor([0.7, 4.0, 30.0], dtype=torch.float64)
TANGENT = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)


def with_dual_tensors(function, x: Tensor, tangent: Tensor) -> Tensor:
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(function(forward_ad.make_dual(x, tangent))).tangent


WAYS = {
    "dual": lambda f: with_dual_tensors(f, KAPPA, TANGENT),
    "jvp": lambda f: jvp(f, (KAPPA,), (TANGENT,))[1],
    "jacfwd": lambda f: jacfwd(f)(KAPPA) @ TANGENT,
    "linearize": lambda f: linearize(f, KAPPA)[1](TANGENT),
    "jacobian": lambda f: (
        torch.autograd.functional.jacobian(f, KAPPA, strategy="forward-mode", vectorize=True)
        @ TANGENT
    ),
    "vmap": lambda f: vmap(lambda t: jvp(f, (KAPPA,), (t,))[1])(torch.diag(TANGENT)).sum(0),
    "compiled": lambda f: torch.compile(
        lambda k: jvp(f, (k,), (TANGENT,))[1], backend="aot_eager", fullgraph=True
    )(KAPPA),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_gives_the_jacobian(way: str) -> None:
    expected = jacrev(kl_and_more)(KAPPA) @ TANGENT
    torch.testing.assert_close(WAYS[way](kl_and_more), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("way", ["dual", "jvp", "compiled"])
def test_the_ops_themselves(way: str) -> None:
    """torch.ops.svmf, without svmf.functional."""
    tangent = WAYS[way](lambda k: torch.ops.svmf.vmf_kl_uniform(k, 5))
    expected = TANGENT * torch.ops.svmf._vmf_kl_uniform_grad(KAPPA, 5)
    torch.testing.assert_close(tangent, expected)


def test_second_order_in_every_nesting() -> None:
    def total(kappa: Tensor) -> Tensor:
        return kl_and_more(kappa).square().sum()

    expected = jacrev(jacrev(total))(KAPPA)
    for nested in (hessian(total), jacfwd(jacfwd(total)), jacrev(jacfwd(total))):
        torch.testing.assert_close(nested(KAPPA), expected, rtol=1e-10, atol=1e-10)
    both = torch.autograd.functional.hessian(
        total, KAPPA, outer_jacobian_strategy="forward-mode", vectorize=True
    )
    torch.testing.assert_close(both, expected, rtol=1e-10, atol=1e-10)


SEED = torch.tensor([5])
ops = torch.ops.svmf
SAMPLERS = {
    "pathwise": lambda loc, k: ops.vmf_rsample(loc, k, SEED, [3], 0, True)[0],
    "rejection": lambda loc, k: ops.vmf_rsample(loc, k, SEED, [3], 1, True)[0],
    "kl": lambda loc, k: ops.vmf_rsample_kl(loc, k, SEED, [3], 0, True)[:2],
    "cauchy": lambda loc, k: ops.spherical_cauchy_rsample(loc, k / (k + 1), SEED, [3], True)[0],
    "cauchy kl": lambda loc, k: ops.spherical_cauchy_rsample_kl(loc, k / (k + 1), SEED, [3], True)[
        :2
    ],
    "power": lambda loc, k: ops.power_spherical_rsample(loc, k, SEED, [3], True)[0],
    "power kl": lambda loc, k: ops.power_spherical_rsample_kl(loc, k, SEED, [3], True)[:2],
    "correction": lambda loc, k: ops.vmf_rsample_with_correction(loc, k, SEED, [3], True)[:2],
}


@pytest.mark.parametrize("m", [2, 3, 10])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_samplers_have_the_transposed_derivative(sampler: str, m: int) -> None:
    """<g, J t> = <J^T g, t> for random g and t."""
    loc = directions(6, m, torch.float64, 1)
    loc[0], loc[1] = torch.eye(m)[0], -torch.eye(m)[0]
    kappa = torch.tensor([0.0, 0.3, 2.0, 9.0, 80.0, 1e4], dtype=torch.float64)
    tangents = torch.randn_like(loc), torch.randn_like(kappa)
    made, moved = jvp(SAMPLERS[sampler], (loc, kappa), tangents)
    made, moved = ((t,) if isinstance(t, Tensor) else t for t in (made, moved))
    leaves = loc.requires_grad_(), kappa.requires_grad_()
    again = SAMPLERS[sampler](*leaves)
    again = (again,) if isinstance(again, Tensor) else again
    weights = [torch.randn_like(t) for t in again]
    for one, two in zip(made, again, strict=True):
        assert torch.equal(one, two)
    loss = sum((w * t).sum() for w, t in zip(weights, again, strict=True))
    backward = sum(
        (g * t).sum() for g, t in zip(torch.autograd.grad(loss, leaves), tangents, strict=True)
    )
    forward = sum((w * t).sum() for w, t in zip(weights, moved, strict=True))
    torch.testing.assert_close(forward, backward, rtol=1e-10, atol=1e-10)


def test_samplers_by_functional_and_in_half_types() -> None:
    loc = directions(4, 5, torch.float64, 3)
    kappa = torch.tensor([1.0, 5.0, 20.0, 300.0], dtype=torch.float64)
    torch.manual_seed(1)
    z, along = jvp(lambda k: F.vmf_rsample(loc, k), (kappa,), (torch.ones_like(kappa),))
    torch.manual_seed(1)
    with torch.no_grad():  # forward mode does not need gradients to be on
        same = with_dual_tensors(lambda k: F.vmf_rsample(loc, k), kappa, torch.ones_like(kappa))
    assert torch.equal(along, same)
    # dz/dkappa is tangential and moves mu.z by the pathwise derivative.
    torch.testing.assert_close((z * along).sum(-1), torch.zeros(4).double(), atol=1e-14, rtol=0)
    expected = F.vmf_pathwise_derivative((z * loc).sum(-1), kappa, 5)
    torch.testing.assert_close((along * loc).sum(-1), expected, rtol=1e-10, atol=0)
    half = loc.bfloat16(), kappa.bfloat16()
    _, along = jvp(F.vmf_rsample, half, tuple(torch.ones_like(t) for t in half))
    assert along.dtype == torch.bfloat16
    assert along.isfinite().all()


def test_second_order_through_samples_raises() -> None:
    loc = directions(2, 4, torch.float64, 3)
    kappa = torch.tensor([1.0, 5.0], dtype=torch.float64)

    def first(k: Tensor) -> Tensor:
        return ops.vmf_rsample(loc, k, SEED, [], 0, True)[0].sum()

    for nested in (hessian(first), jacfwd(jacfwd(first)), jacrev(jacfwd(first))):
        with pytest.raises(NotImplementedError, match="differentiable once"):
            nested(kappa)


@pytest.mark.parametrize("name", ["vmf_mean_length", "vmf_kl_uniform", "vmf_log_norm"])
def test_a_derivative_that_is_not_offered_raises(name: str) -> None:
    order = 4 if name == "vmf_log_norm" else 3
    for transform in (jacfwd, jacrev):
        nested = lambda k: getattr(F, name)(k, 5)  # noqa: E731
        for _ in range(order):
            nested = transform(nested)
        with pytest.raises(NotImplementedError, match="third derivatives"):
            nested(torch.tensor(3.0, dtype=torch.float64))
    kappa = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    derivative = getattr(F, name)(kappa, 5)
    for _ in range(order - 1):
        (derivative,) = torch.autograd.grad(derivative, kappa, create_graph=True)
    with pytest.raises(NotImplementedError, match="third derivatives"):
        torch.autograd.grad(derivative, kappa)


def test_order_of_the_ratio_has_no_derivative() -> None:
    order, x = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0])
    with pytest.raises(NotImplementedError, match="`order`"):
        jvp(lambda v: F.iv_ratio(v, x), (order,), (order,))
    with pytest.raises(NotImplementedError, match="`order`"):
        F.iv_ratio(order.requires_grad_(), x).sum().backward()
