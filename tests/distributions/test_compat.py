# SPDX-License-Identifier: MIT
"""A script for the documented interface of `hyperspherical_vae` runs after changing its import."""

import scipy.special
import torch
from torch.distributions import kl_divergence

from svmf.compat.hyperspherical_vae.distributions import HypersphericalUniform, VonMisesFisher
from svmf.compat.hyperspherical_vae.ops.ive import Ive, ive

OLD_SCRIPT = """
import torch
from hyperspherical_vae.distributions import VonMisesFisher
from hyperspherical_vae.distributions import HypersphericalUniform


class Encoder(torch.nn.Module):
    def __init__(self, z_dim):
        super().__init__()
        self.z_dim = z_dim
        self.hidden = torch.nn.Linear(12, 16)
        self.mean = torch.nn.Linear(16, z_dim)
        self.concentration = torch.nn.Linear(16, 1)
        self.decoder = torch.nn.Linear(z_dim, 12)

    def posterior(self, x):
        h = self.hidden(x).relu()
        z_mean = self.mean(h)
        z_mean = z_mean / z_mean.norm(dim=-1, keepdim=True)
        z_var = torch.nn.functional.softplus(self.concentration(h)) + 1
        return VonMisesFisher(z_mean, z_var), HypersphericalUniform(self.z_dim - 1)


torch.manual_seed(0)
data = (torch.rand(64, 12) > 0.5).float()
model = Encoder(z_dim=4)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
losses = []
for step in range(40):
    q_z, p_z = model.posterior(data)
    z = q_z.rsample()
    logits = model.decoder(z)
    error = torch.nn.functional.binary_cross_entropy_with_logits(logits, data, reduction="none")
    loss = error.sum(-1).mean() + torch.distributions.kl.kl_divergence(q_z, p_z).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

n = 10
q_z, p_z = model.posterior(data)
z = q_z.rsample(torch.Size([n]))
log_p_x_z = -torch.nn.functional.binary_cross_entropy_with_logits(
    model.decoder(z), data.repeat((n, 1, 1)), reduction="none"
).sum(-1)
log_likelihood = (log_p_x_z + p_z.log_prob(z) - q_z.log_prob(z)).logsumexp(0).mean()
spread = q_z.scale, q_z.stddev, q_z.mean, q_z.entropy(), p_z.sample(3), p_z.entropy()
"""


def test_an_old_script_runs():
    script = OLD_SCRIPT.replace("from hyperspherical_vae", "from svmf.compat.hyperspherical_vae")
    names: dict = {}
    exec(compile(script, "old_script.py", "exec"), names)
    assert names["losses"][-1] < names["losses"][0]
    assert names["log_likelihood"].isfinite()
    scale, stddev, mean, entropy, points, area = names["spread"]
    assert scale.shape == stddev.shape == (64, 1)
    assert mean.shape == (64, 4)
    assert entropy.shape == (64,)
    assert points.shape == (3, 4)
    assert area.shape == (1,)


def test_signatures(exact):
    loc = exact.directions(5, 3)
    q = VonMisesFisher(loc, scale=torch.full((5, 1), 2.0, dtype=torch.float64), validate_args=True)
    assert q.rsample().shape == q.sample().shape == (5, 3)
    assert q.sample(4).shape == q.rsample(shape=4).shape == (4, 5, 3)
    assert q.sample(torch.Size([2, 4])).shape == (2, 4, 5, 3)
    assert q.dtype == torch.float64
    assert q.device == loc.device
    assert q.expand((2, 5)).scale.shape == (2, 5, 1)
    p = HypersphericalUniform(dim=2, validate_args=True, device="cpu")
    assert p.dim == 2
    assert p.device == torch.device("cpu")
    p.device = "cpu"
    assert p.sample().shape == (3,)
    assert p.sample(4).shape == p.sample(torch.Size([4])).shape == (4, 3)
    assert p.expand((2,)).sample().shape == (2, 3)
    assert p.entropy().shape == (1,)
    assert p.expand((2,)).entropy().shape == (2,)
    assert kl_divergence(q, p).shape == (5,)
    expected = exact.log_area(3) - q.entropy()
    torch.testing.assert_close(kl_divergence(q, p), expected)


def test_ive():
    z = torch.tensor([0.5, 3.0, 40.0], dtype=torch.float64, requires_grad=True)
    for order in (0, 1, 2.5):
        expected = torch.as_tensor(scipy.special.ive(order, z.detach().numpy()))
        torch.testing.assert_close(ive(order, z), expected, rtol=1e-13, atol=0)
        torch.testing.assert_close(Ive(order)(z), expected, rtol=1e-13, atol=0)
        assert torch.autograd.gradcheck(lambda x, v=order: ive(v, x), z)
