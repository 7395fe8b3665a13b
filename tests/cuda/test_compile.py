# SPDX-License-Identifier: MIT
"""torch.compile without graph breaks gives the eager result on the device."""

import pytest
import torch
from helpers.device_calls import gradients, place
from helpers.op_cases import CASES, Case, directions
from torch import Tensor

import svmf.functional as F

# torch's own: the compiler still imports the deprecated torch.jit.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
ONE_EACH = tuple({case.op: case for case in CASES}.values())


@pytest.mark.parametrize("case", ONE_EACH, ids=str)
def test_equals_eager(case: Case, device: torch.device) -> None:
    torch.compiler.reset()
    compiled = torch.compile(case.call, fullgraph=True, backend="aot_eager")
    results = []
    for call in (compiled, case.call):
        tensors = place(case.tensors(grad=True), device)
        value = call(*tensors)
        results.append([value.detach(), *gradients(value.sum(), tensors)])
    for ours, eager in zip(*results, strict=True):
        torch.testing.assert_close(ours, eager, rtol=1e-14, atol=1e-14)


def latent_loss(x: Tensor, raw: Tensor) -> Tensor:
    loc = torch.nn.functional.normalize(x, dim=-1)
    z, kl = F.vmf_rsample_kl(loc, torch.nn.functional.softplus(raw) + 1)
    return (z[:, 0] ** 2).mean() + kl.mean()


@pytest.mark.parametrize(
    "options",
    [
        {"backend": "aot_eager"},
        pytest.param({"backend": "inductor"}, marks=pytest.mark.slow),
        pytest.param({"mode": "reduce-overhead"}, marks=pytest.mark.slow),  # with CUDA graphs
    ],
    ids=lambda options: "-".join(options.values()),
)
def test_a_latent_step(options: dict, device: torch.device) -> None:
    torch.compiler.reset()
    compiled = torch.compile(latent_loss, fullgraph=True, **options)
    results = []
    # A CUDA graph is recorded in the second call and replayed in the third.
    for call in (latent_loss, compiled, compiled, compiled):
        torch.manual_seed(2)
        x = directions(64, 8, torch.float32, 1).to(device).requires_grad_()
        raw = torch.linspace(-1, 9, 64, device=device, requires_grad=True)
        loss = call(x, raw)
        # the next replay writes where this one did
        results.append([t.detach().clone() for t in (loss, *torch.autograd.grad(loss, (x, raw)))])
    eager, *runs = results
    for run in runs:
        for ours, theirs in zip(run, eager, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
