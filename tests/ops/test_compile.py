# SPDX-License-Identifier: MIT
"""torch.compile(fullgraph=True) gives the eager result, value and gradient."""

import sys
from types import FrameType

import pytest
import torch
from helpers.op_cases import DIFFERENTIABLE, Case

import svmf.functional as F


def value_and_gradients(call, case: Case) -> list[torch.Tensor]:
    tensors = case.tensors(grad=True)
    value = call(*tensors)
    wanted = [tensor for tensor in tensors if tensor.requires_grad]
    return [value.detach(), *torch.autograd.grad(value.sum(), wanted)]


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_equals_eager(case: Case) -> None:
    torch.compiler.reset()
    compiled = torch.compile(case.call, fullgraph=True, backend="aot_eager")
    for ours, eager in zip(
        value_and_gradients(compiled, case), value_and_gradients(case.call, case), strict=True
    ):
        torch.testing.assert_close(ours, eager, rtol=1e-14, atol=1e-14)


@pytest.mark.slow
def test_all_in_one_graph_with_the_default_backend() -> None:
    """Inductor compiles the ops between others, and their backward passes."""

    def loss(kappa: torch.Tensor) -> torch.Tensor:
        kappa = torch.nn.functional.softplus(kappa) + 0.1
        total = F.vmf_kl_uniform(kappa, 10) * 2 + F.vmf_log_norm(kappa, 10).sin()
        return (total + F.log_iv(2.5, kappa) * F.iv_ratio(3, kappa)).mean()

    kappa = torch.linspace(-1, 40, 100, dtype=torch.float64, requires_grad=True)
    compiled = torch.compile(loss, fullgraph=True)
    torch.testing.assert_close(compiled(kappa), loss(kappa))
    torch.testing.assert_close(
        torch.autograd.grad(compiled(kappa), kappa), torch.autograd.grad(loss(kappa), kappa)
    )


def test_one_graph_serves_several_sizes() -> None:
    torch.compiler.reset()
    compiled = torch.compile(
        lambda k: F.vmf_kl_uniform(k, 7), fullgraph=True, backend="aot_eager", dynamic=True
    )
    for size in (3, 5, 17):
        kappa = torch.rand(size, dtype=torch.float64) * 50
        assert torch.equal(compiled(kappa), F.vmf_kl_uniform(kappa, 7))


def test_a_call_without_derivatives_keeps_no_graph() -> None:
    # Every op of a compiled graph is called so: autograd's bookkeeping cost four times the kernel.
    kappa = torch.linspace(1, 9, 5, requires_grad=True)
    entered: list[str] = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            entered.append(frame.f_code.co_name)

    for without in (torch.no_grad, torch.inference_mode):
        with without():
            sys.setprofile(note)
            torch.ops.svmf.vmf_kl_uniform.default(kappa, 7)
            sys.setprofile(None)
    assert entered
    assert "setup" not in entered
    assert torch.ops.svmf.vmf_kl_uniform.default(kappa, 7).requires_grad
