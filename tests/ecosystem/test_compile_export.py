# SPDX-License-Identifier: MIT
"""torch.compile of a training step without graph breaks equals eager; export of an encoder."""

import pytest
import torch
from ecosystem.svae import Sampler, SphericalVAE, binary_data
from torch.distributions import Distribution

from svmf.distributions import HypersphericalUniform, PowerSpherical, VonMisesFisher

# torch's own: the compiler still imports the deprecated torch.jit, and makes an object of the
# function behind Dirichlet.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def _fresh_compiler():
    validate = Distribution._validate_args
    torch.compiler.reset()
    yield
    torch.compiler.reset()
    Distribution.set_default_validate_args(validate)  # dynamo turns it off for good


def train(step, model, steps=3):
    """Losses and weights after a few steps of Adam from the same seed."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    data = binary_data()
    torch.manual_seed(7)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = step(data)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses), torch.cat([p.detach().flatten() for p in model.parameters()])


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_training_equals_eager(backend):
    torch.manual_seed(0)
    eager, compiled = SphericalVAE(), SphericalVAE()
    compiled.load_state_dict(eager.state_dict())
    expected = train(eager, eager)
    actual = train(torch.compile(compiled, fullgraph=True, backend=backend), compiled)
    for ours, theirs in zip(actual, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_every_method_compiles_without_graph_breaks():
    loc = torch.nn.functional.normalize(torch.randn(4, 6), dim=-1)
    kappa = torch.rand(4) * 10

    def everything(loc, kappa):
        q, p = VonMisesFisher(loc, kappa), HypersphericalUniform(6)
        r = PowerSpherical(loc, kappa)
        z = q.rsample((3,))
        kl = torch.distributions.kl_divergence
        return (
            z,
            q.log_prob(z),
            q.entropy(),
            q.mean,
            kl(q, p),
            kl(p, q),
            kl(q, q.expand((2, 4))),
            p.log_prob(z),
            r.log_prob(z),
            r.entropy(),
            torch.linalg.vector_norm(r.rsample((2,)), dim=-1),
            kl(r, p),
            q[1:].mean,
        )

    torch.manual_seed(1)
    expected = everything(loc, kappa)
    torch.manual_seed(1)
    actual = torch.compile(everything, fullgraph=True, backend="aot_eager")(loc, kappa)
    torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("count", [20, 1025])
@pytest.mark.parametrize("strict", [False, True])
def test_export_of_an_encoder_that_samples(strict, count):
    torch.manual_seed(0)
    sampler = Sampler(SphericalVAE()).eval()
    rows = torch.export.Dim("rows", min=2)
    program = torch.export.export(
        sampler, (binary_data(8),), dynamic_shapes=({0: rows},), strict=strict
    )
    module = program.module()
    data = binary_data(count)
    torch.manual_seed(5)
    first = module(data)
    second = module(data)
    torch.testing.assert_close(first.norm(dim=-1), torch.ones(count))
    assert not torch.equal(first, second)  # it draws anew
    torch.manual_seed(5)
    torch.testing.assert_close(sampler(data), first)


def test_one_dynamic_graph_trains_on_batches_of_any_size():
    torch.manual_seed(0)
    model = SphericalVAE()
    graphs = 0

    def count_graphs(graph, example):
        nonlocal graphs
        graphs += 1
        return torch._dynamo.lookup_backend("aot_eager")(graph, example)

    step = torch.compile(model, fullgraph=True, backend=count_graphs, dynamic=True)
    for rows in (40, 1024, 1025, 3000):
        torch.manual_seed(rows)
        expected = model(binary_data(rows))
        torch.manual_seed(rows)
        torch.testing.assert_close(step(binary_data(rows)), expected)
    assert graphs == 1
