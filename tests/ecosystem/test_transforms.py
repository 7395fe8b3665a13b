# SPDX-License-Identifier: MIT
"""torch.func, autocast, activation checkpointing and deterministic mode."""

import pytest
import torch
from ecosystem.svae import SphericalVAE, binary_data
from torch.distributions import kl_divergence
from torch.func import functional_call, grad, vmap
from torch.utils.checkpoint import checkpoint

import svmf.functional as F
from svmf import _torch_private
from svmf.distributions import HypersphericalUniform, VonMisesFisher


def test_vmap_equals_batching():
    loc = torch.nn.functional.normalize(torch.randn(5, 3, 4), dim=-1)
    kappa = torch.rand(5, 3) * 20
    value = torch.nn.functional.normalize(torch.randn(5, 3, 4), dim=-1)

    def quantities(loc, kappa, value):
        q = VonMisesFisher(loc, kappa)
        return q.log_prob(value), q.entropy(), q.mean, kl_divergence(q, HypersphericalUniform(4))

    torch.testing.assert_close(vmap(quantities)(loc, kappa, value), quantities(loc, kappa, value))


@pytest.mark.parametrize("randomness", ["different", "same"])
def test_vmap_of_samples(randomness):
    loc = torch.nn.functional.normalize(torch.ones(6, 4), dim=-1)

    def draw(loc, kappa):
        return VonMisesFisher(loc, kappa).rsample()

    z = vmap(draw, randomness=randomness)(loc, torch.full((6,), 3.0))
    torch.testing.assert_close(z.norm(dim=-1), torch.ones(6))
    assert torch.equal(z[0], z[1]) == (randomness == "same")


def test_per_sample_gradients():
    """grad of a functional_call under vmap, as for differentially private training."""
    model = SphericalVAE()
    data = binary_data(8)
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def kl_of_row(parameters, row):
        q = functional_call(_Posterior(model), parameters, (row[None],))
        return q.sum()

    parameters = {f"vae.{name}": p for name, p in parameters.items()}
    rows = vmap(grad(kl_of_row), in_dims=(None, 0))(parameters, data)
    total = torch.autograd.grad(
        kl_divergence(model.posterior(data), model.prior).sum(), model.spread.weight
    )[0]
    torch.testing.assert_close(rows["vae.spread.weight"].sum(0), total)


class _Posterior(torch.nn.Module):
    def __init__(self, vae):
        super().__init__()
        self.vae = vae

    def forward(self, x):
        return kl_divergence(self.vae.posterior(x), self.vae.prior)


def test_grad_through_a_sample():
    loc = torch.nn.functional.normalize(torch.randn(4), dim=-1)

    def objective(kappa):
        q = VonMisesFisher(loc, kappa)
        return (q.rsample() * loc).sum() - kl_divergence(q, HypersphericalUniform(4))

    torch.manual_seed(2)
    transformed = grad(objective)(torch.tensor(5.0))
    kappa = torch.tensor(5.0, requires_grad=True)
    torch.manual_seed(2)
    objective(kappa).backward()
    torch.testing.assert_close(transformed, kappa.grad)


def test_autocast_trains():
    model = SphericalVAE()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(binary_data())
        q = model.posterior(binary_data())
        assert q.sample().isfinite().all()
    loss.backward()
    assert loss.isfinite()
    assert all(p.grad.isfinite().all() for p in model.parameters())


def test_autocast_mixes_types():
    loc = torch.nn.functional.normalize(torch.randn(3, 4), dim=-1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        q = VonMisesFisher(loc.bfloat16(), torch.ones(3))
    assert q.loc.dtype == q.concentration.dtype == torch.float32


MIXED_CALLS = {
    "log_iv": lambda x, loc, kappa: F.log_iv(kappa, x[..., 0].abs()),
    "vmf_pathwise_derivative": lambda x, loc, kappa: F.vmf_pathwise_derivative(x[..., 0], kappa, 4),
    "householder": lambda x, loc, kappa: F.householder(x, loc.float()),
    "vmf_kl": lambda x, loc, kappa: F.vmf_kl(loc, kappa, x, kappa),
    "vmf_log_prob": lambda x, loc, kappa: F.vmf_log_prob(x, loc, kappa),
    "vmf_rsample": lambda x, loc, kappa: F.vmf_rsample(loc, kappa),
    "vmf_rsample_kl": lambda x, loc, kappa: F.vmf_rsample_kl(loc, kappa)[0],
    "vmf_rsample_with_correction": lambda x, loc, kappa: F.vmf_rsample_with_correction(loc, kappa)[
        0
    ],
}


@pytest.mark.parametrize("name", MIXED_CALLS)
def test_autocast_mixes_types_in_functions(name):
    x, loc = torch.nn.functional.normalize(torch.randn(2, 3, 4), dim=-1).bfloat16()
    arguments = x, loc, torch.ones(3)
    with pytest.raises(RuntimeError, match="of the dtype of"):
        MIXED_CALLS[name](*arguments)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = MIXED_CALLS[name](*arguments)
    assert result.dtype == torch.float32
    assert result.isfinite().all()


def test_nothing_is_read_while_a_graph_is_captured(monkeypatch):
    """What tests/cuda does with a real device."""

    class OnDevice:
        is_meta, is_cuda = False, True

    monkeypatch.setattr(_torch_private, "PLAIN_TYPES", (OnDevice,))
    monkeypatch.setattr(_torch_private, "PUBLIC_ONLY", False)
    for capturing in (False, True):
        monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda now=capturing: now)
        assert _torch_private.readable(OnDevice()) is not capturing


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpointing_draws_the_same_samples_again(use_reentrant):
    torch.manual_seed(0)
    model, data = SphericalVAE(), binary_data()
    seen = []

    def step(x):
        z = model.posterior(x).rsample()
        seen.append(z.detach().clone())
        return model.decoder(z).square().sum()

    x = data.clone().requires_grad_()
    torch.manual_seed(4)
    checkpoint(step, x, use_reentrant=use_reentrant).backward()
    assert len(seen) == 2
    assert torch.equal(*seen)
    y = data.clone().requires_grad_()
    torch.manual_seed(4)
    step(y).backward()
    torch.testing.assert_close(x.grad, y.grad)


def test_deterministic_mode():
    torch.use_deterministic_algorithms(True)
    try:
        gradients = []
        for _ in range(2):
            torch.manual_seed(0)
            model = SphericalVAE()
            model(binary_data()).backward()
            gradients.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
        assert torch.equal(*gradients)
    finally:
        torch.use_deterministic_algorithms(False)
