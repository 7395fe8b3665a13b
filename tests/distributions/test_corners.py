# SPDX-License-Identifier: MIT
"""Where a class once gave a wrong number, or failed, in silence: other dimensions, modes of torch
that leave traces, inference tensors, meta tensors, empty maps."""

import pytest
import torch
from helpers.commands import python
from torch.distributions import kl_divergence
from torch.func import vmap

from svmf.distributions import HypersphericalUniform, PowerSpherical, VonMisesFisher

E1 = torch.tensor([1.0, 0.0, 0.0])


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_log_prob_of_another_dimension_is_refused(size, validate):
    value = torch.nn.functional.normalize(torch.ones(5, size), dim=-1)
    for q in (
        HypersphericalUniform(3, validate_args=validate),
        PowerSpherical(E1, 2.0, validate_args=validate),
        VonMisesFisher(E1, torch.tensor(2.0), validate_args=validate),
    ):
        with pytest.raises((ValueError, RuntimeError), match=r"log_prob: expected|vmf_log_prob"):
            q.log_prob(value)


FIRST_CALL = """
import torch
from svmf.distributions import VonMisesFisher
def cdf(device="cpu"):
    loc = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64, device=device)
    kappa = torch.tensor(3.0, dtype=torch.float64, device=device, requires_grad=True)
    q = VonMisesFisher(loc, kappa)
    return q.marginal_cdf(torch.tensor([0.2], dtype=torch.float64, device=device)), kappa
"""
MODES = {
    "inference": "with torch.inference_mode(): cdf()",
    "meta": "cdf('meta')",
    "fake": "with __import__('torch._subclasses')._subclasses.FakeTensorMode(): cdf()",
}


@pytest.mark.parametrize("mode", MODES)
def test_first_call_in_a_mode_leaves_no_trace(mode):
    program = f"{FIRST_CALL}\n{MODES[mode]}\nvalue, kappa = cdf()\nvalue.sum().backward()\n"
    program += "print(float(value), float(kappa.grad))"
    found = python("-c", program)
    value, slope = (float(number) for number in found.stdout.split())
    # On S^2 the cdf is (e^(k w) - e^-k) / (e^k - e^-k).
    k, w = torch.tensor(3.0, dtype=torch.float64, requires_grad=True), 0.2
    exact = ((k * w).exp() - (-k).exp()) / (k.exp() - (-k).exp())
    assert value == pytest.approx(exact.item(), rel=1e-13)
    assert slope == pytest.approx(torch.autograd.grad(exact, k)[0].item(), rel=1e-12)


def test_variance_under_vmap_and_of_inference_tensors():
    loc = torch.nn.functional.normalize(torch.randn(5, 4, dtype=torch.float64), dim=-1)
    kappa = torch.linspace(0, 20, 5, dtype=torch.float64)
    expected = VonMisesFisher(loc, kappa).variance
    mapped = vmap(lambda loc, k: VonMisesFisher(loc, k).variance)(loc, kappa)
    assert torch.equal(mapped, expected)
    with torch.inference_mode():
        inside = VonMisesFisher(loc.clone(), kappa.clone())
        assert torch.equal(inside.variance, expected)
    assert torch.equal(inside.variance, expected)
    assert torch.equal(inside.covariance_matrix.diagonal(dim1=-2, dim2=-1), expected)
    leaf = (kappa + 0.1).requires_grad_()
    assert torch.autograd.gradcheck(lambda k: VonMisesFisher(loc, k).variance, leaf)


@pytest.mark.parametrize("draw", ["rsample", "rsample_kl"])
def test_samples_under_vmap_of_an_empty_batch(draw):
    def sample(loc, kappa):
        return getattr(VonMisesFisher(loc, kappa), draw)((2,))

    made = vmap(sample, randomness="different")(torch.ones(0, 3, 4), torch.ones(0, 3))
    z = made if draw == "rsample" else made[0]
    assert z.shape == (0, 2, 3, 4)
    if draw == "rsample_kl":
        assert made[1].shape == (0, 3)


def test_meta_tensors_have_shapes():
    loc, kappa = torch.empty(5, 3, device="meta"), torch.empty(5, device="meta")
    uniform = HypersphericalUniform(3, device="meta")
    for q in (VonMisesFisher(loc, kappa), PowerSpherical(loc, kappa)):
        z = q.rsample((2,))
        assert z.shape == (2, 5, 3)
        assert z.is_meta
        assert q.log_prob(z).shape == (2, 5)
        assert q.entropy().shape == kl_divergence(q, uniform).shape == (5,)
        assert q.mean.shape == q.variance.shape == (5, 3)
    assert VonMisesFisher(loc, kappa).marginal_cdf(kappa).shape == (5,)
    assert uniform.sample((4,)).shape == (4, 3)
    assert uniform.log_prob(z).shape == (2, 5)
    z, kl = VonMisesFisher(loc, kappa).rsample_kl()
    assert (z.shape, kl.shape) == ((5, 3), (5,))
