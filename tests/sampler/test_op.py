# SPDX-License-Identifier: MIT
"""The sampler as a citizen of torch: opcheck, compile, vmap, repeated use, memory, seeds."""

import os

import pytest
import torch
from torch import Tensor

import svmf.functional as F

PATHWISE, REJECTION = 0, 1


def inputs(directions, m: int = 5, rows: int = 7, dtype: torch.dtype = torch.float32):
    loc = directions(rows, m, seed=1, dtype=dtype).requires_grad_()
    kappa = torch.linspace(0.5, 40, rows, dtype=dtype).requires_grad_()
    return loc, kappa


def opcheck_arguments(loc: Tensor, kappa: Tensor, shape: list[int], state: bool) -> list:
    ops, seed = torch.ops.svmf, torch.tensor([11])
    return [
        (ops.vmf_rsample.default, (loc, kappa, seed, shape, PATHWISE, state)),
        (ops.vmf_rsample.default, (loc, kappa, seed, shape, REJECTION, state)),
        (ops.vmf_rsample_kl.default, (loc, kappa, seed, shape, PATHWISE, state)),
        (ops.vmf_rsample_with_correction.default, (loc, kappa, seed, shape, state)),
    ]


@pytest.mark.parametrize("m", [2, 3, 20])
@pytest.mark.parametrize("shape", [[], [3]])
def test_opcheck(directions, m, shape):
    loc, kappa = inputs(directions, m)
    for op, arguments in opcheck_arguments(loc, kappa, shape, True):
        torch.library.opcheck(op, arguments)
    for op, arguments in opcheck_arguments(loc.detach(), kappa.detach(), shape, False):
        torch.library.opcheck(op, arguments)


def test_opcheck_backward(directions):
    loc, kappa = inputs(directions)
    loc, kappa, seed = loc.detach(), kappa.detach(), torch.tensor([11])
    z, state = torch.ops.svmf.vmf_rsample.default(loc, kappa, seed, [3], PATHWISE, True)
    grads = torch.randn_like(z), torch.randn_like(kappa), torch.randn_like(z[..., 0])
    backward = torch.ops.svmf._vmf_rsample_backward.default
    torch.library.opcheck(backward, (*grads, z, state, loc, kappa, REJECTION))
    torch.library.opcheck(backward, (grads[0], None, None, z, state, loc, kappa, PATHWISE))


def step(loc: Tensor, kappa: Tensor) -> Tensor:
    z, kl = F.vmf_rsample_kl(loc, kappa, (2,))
    z2, log_ratio = F.vmf_rsample_with_correction(loc, kappa)
    value = z2[..., 0]
    return z.cos().sum() + kl.sum() + (value + value.detach() * log_ratio).sum()


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_compile_equals_eager(directions, backend):
    """Value and gradients, with the seed drawn from the global generator inside the compiled
    function."""
    results = []
    for function in (step, torch.compile(step, fullgraph=True, backend=backend)):
        loc, kappa = inputs(directions, 6)
        torch.manual_seed(3)
        losses = [function(loc, kappa) for _ in range(2)]
        assert losses[0] != losses[1]
        sum(losses).backward()
        results.append((*losses, loc.grad, kappa.grad))
    for eager, compiled in zip(*results, strict=True):
        torch.testing.assert_close(compiled, eager)


def test_compile_with_changing_batch(directions):
    compiled = torch.compile(F.vmf_rsample, fullgraph=True, backend="aot_eager", dynamic=True)
    for rows in (3, 8, 5):
        loc, kappa = inputs(directions, 4, rows)
        torch.manual_seed(rows)
        expected = F.vmf_rsample(loc, kappa, (2,))
        torch.manual_seed(rows)
        assert torch.equal(compiled(loc, kappa, (2,)), expected)


@pytest.mark.parametrize("m", [2, 3, 9])
def test_vmap_equals_a_loop(directions, m):
    loc = directions(4, 3, m, seed=2)
    kappa = torch.linspace(1, 30, 12, dtype=torch.float64).view(4, 3)

    def f(loc: Tensor, kappa: Tensor) -> tuple[Tensor, Tensor]:
        return F.vmf_rsample_kl(loc, kappa, (2,))

    torch.manual_seed(8)
    z, kl = torch.func.vmap(f, randomness="different")(loc, kappa)
    torch.manual_seed(8)
    loop = [f(*pair) for pair in zip(loc, kappa, strict=True)]
    assert torch.equal(z, torch.stack([pair[0] for pair in loop]))
    assert torch.equal(kl, torch.stack([pair[1] for pair in loop]))

    torch.manual_seed(8)
    z, _ = torch.func.vmap(f, randomness="same")(loc, kappa)
    for i in range(4):
        torch.manual_seed(8)
        assert torch.equal(z[i], f(loc[i], kappa[i])[0])
    with pytest.raises(RuntimeError, match="randomness"):
        torch.func.vmap(f)(loc, kappa)


def test_vmap_of_grad_equals_a_loop(directions):
    loc = directions(4, 5, seed=2)
    kappa = torch.linspace(1, 30, 4, dtype=torch.float64)

    def first(loc: Tensor, kappa: Tensor) -> Tensor:
        z, log_ratio = F.vmf_rsample_with_correction(loc, kappa)
        return z[0] + z[0].detach() * log_ratio

    torch.manual_seed(8)
    mapped = torch.func.vmap(torch.func.grad(first, (0, 1)), randomness="different")(loc, kappa)
    torch.manual_seed(8)
    loop = [torch.func.grad(first, (0, 1))(*pair) for pair in zip(loc, kappa, strict=True)]
    for i in range(2):
        torch.testing.assert_close(mapped[i], torch.stack([pair[i] for pair in loop]))


def test_double_use_in_one_graph(directions):
    """Two samples of one distribution, and one sample used twice: gradients add."""
    loc, kappa = inputs(directions, 6, dtype=torch.float64)
    torch.manual_seed(4)
    parts = []
    for _ in range(2):
        z = F.vmf_rsample(loc, kappa)
        parts.append(torch.autograd.grad(z.sum() + z.square()[:, 0].sum(), (loc, kappa)))
    torch.manual_seed(4)
    first, second = F.vmf_rsample(loc, kappa), F.vmf_rsample(loc, kappa)
    loss = first.sum() + first.square()[:, 0].sum() + second.sum() + second.square()[:, 0].sum()
    for total, a, b in zip(torch.autograd.grad(loss, (loc, kappa)), *parts, strict=True):
        torch.testing.assert_close(total, a + b)


def test_backward_twice_and_second_derivative(directions):
    loc, kappa = inputs(directions)
    loss = F.vmf_rsample(loc, kappa).sum()
    once = torch.autograd.grad(loss, kappa, retain_graph=True)[0]
    assert torch.equal(torch.autograd.grad(loss, kappa, retain_graph=True)[0], once)
    (slope,) = torch.autograd.grad(loss, kappa, create_graph=True)
    with pytest.raises(NotImplementedError, match="differentiable once"):
        torch.autograd.grad(slope.sum(), kappa)


@pytest.mark.parametrize("needs", [(True, False), (False, True)])
def test_one_input_without_gradient(directions, needs):
    loc, kappa = inputs(directions)
    both = []
    for flags in ((True, True), needs):
        loc, kappa = loc.detach().requires_grad_(flags[0]), kappa.detach().requires_grad_(flags[1])
        torch.manual_seed(1)
        F.vmf_rsample(loc, kappa).sum().backward()
        both.append((loc.grad, kappa.grad))
    for wanted, full, alone in zip(needs, *both, strict=True):
        assert torch.equal(alone, full) if wanted else alone is None


def test_seeds(directions):
    loc, kappa = inputs(directions)
    torch.manual_seed(5)
    first, second = F.vmf_rsample(loc, kappa), F.vmf_rsample(loc, kappa)
    assert not torch.equal(first, second)
    torch.manual_seed(5)
    assert torch.equal(F.vmf_rsample(loc, kappa), first)
    draws = [
        F.vmf_rsample(loc, kappa, generator=torch.Generator().manual_seed(9)) for _ in range(2)
    ]
    assert torch.equal(*draws)
    # A private generator leaves the global one alone.
    torch.manual_seed(5)
    F.vmf_rsample(loc, kappa, generator=torch.Generator().manual_seed(9))
    assert torch.equal(F.vmf_rsample(loc, kappa), first)
    # Asking for a gradient does not change the sample.
    torch.manual_seed(5)
    with torch.no_grad():
        assert torch.equal(F.vmf_rsample(loc, kappa), first)


def test_gradient_name_is_checked(directions):
    loc, kappa = inputs(directions)
    with pytest.raises(ValueError, match=r"`gradient`.*'score'"):
        F.vmf_rsample(loc, kappa, gradient="score")


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
@pytest.mark.parametrize("calls", [5_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_no_memory_growth(directions, calls):
    loc, kappa = inputs(directions, 16, 16)

    def call() -> None:
        z, kl = F.vmf_rsample_kl(loc, kappa)
        torch.autograd.grad(z.sum() + kl.sum(), (loc, kappa))

    for _ in range(1000):
        call()
    before = resident_bytes()
    for _ in range(calls):
        call()
    assert (
        resident_bytes() - before < 4 * 2**20
    )  # a leak of one small tensor per call would be 6 to 100 MB
