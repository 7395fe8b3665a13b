# SPDX-License-Identifier: MIT
"""What a compiled step calls: ops without derivatives, one for the sample with its KL, one back."""

import pytest
import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd

import svmf.functional as F
from svmf._torch_private import PUBLIC_ONLY

pytestmark = pytest.mark.skipif(PUBLIC_ONLY, reason="needs torch's private names")


def ops_of(graph: torch.fx.GraphModule) -> list[str]:
    called = (str(node.target) for node in graph.graph.nodes if node.op == "call_function")
    return [name.removesuffix(".default") for name in called if name.startswith("svmf")]


def parameters() -> tuple[torch.Tensor, torch.Tensor]:
    loc = torch.nn.functional.normalize(torch.randn(6, 5), dim=-1)
    return loc.requires_grad_(), torch.full((6,), 9.0, requires_grad=True)


def test_a_step_calls_ops_without_derivatives():
    graphs = []

    def keep(graph, _):
        graphs.append(ops_of(graph))
        return make_boxed_func(graph.forward)

    @torch.compile(backend=aot_autograd(fw_compiler=keep), fullgraph=True)
    def step(loc, kappa):
        z, kl = F.vmf_rsample_kl(loc, kappa)
        return z[..., 0].sum() + kl.sum()

    loc, kappa = parameters()
    torch.manual_seed(3)
    compiled = torch.autograd.grad(step(loc, kappa), (loc, kappa))
    torch.manual_seed(3)
    z, kl = F.vmf_rsample_kl(loc, kappa)
    eager = torch.autograd.grad(z[..., 0].sum() + kl.sum(), (loc, kappa))
    assert all(map(torch.equal, compiled, eager))
    assert graphs == [
        ["svmf_kernels.draw_seed", "svmf_kernels.vmf_rsample_kl"],
        ["svmf_kernels._vmf_rsample_backward"],
    ]


def test_an_exported_program_keeps_its_derivatives():
    class Model(torch.nn.Module):
        def forward(self, loc, kappa):
            return F.vmf_rsample_kl(loc, kappa)

    program = torch.export.export(Model(), parameters())
    assert ops_of(program.graph_module) == ["svmf._draw_seed", "svmf.vmf_rsample_kl"]


def test_the_seed_of_a_graph_is_the_one_that_torch_draws():
    torch.manual_seed(11)
    empty = torch.empty(1, dtype=torch.int64)
    drawn = [torch.ops.svmf_kernels.draw_seed(empty) for _ in range(3)]
    torch.manual_seed(11)
    assert drawn == [torch.empty_like(empty).random_(2**63 - 1) for _ in range(3)]
    assert len({seed.item() for seed in drawn}) == 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("rows", [0, 1, 70])
def test_one_gradient_for_every_kl_equals_the_same_number_in_each_row(rows, dtype):
    loc = torch.nn.functional.normalize(torch.randn(rows, 4), dim=-1).to(dtype)
    kappa = torch.full((rows,), 7.0, dtype=dtype)
    seed = torch.tensor([5])
    z, _, state = torch.ops.svmf.vmf_rsample_kl(loc, kappa, seed, [], 0, True)
    number = torch.tensor(0.3, dtype=dtype).expand(rows)
    for grad_kl in (number, number.contiguous()):
        found = torch.ops.svmf._vmf_rsample_backward(
            torch.ones_like(z), grad_kl, None, z, state, loc, kappa, 0
        )
        if grad_kl is number:
            first = found
    assert all(map(torch.equal, first, found))
