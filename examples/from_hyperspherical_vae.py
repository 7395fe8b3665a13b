# SPDX-License-Identifier: MIT
"""Moving from the package hyperspherical_vae: one import line changes, and nothing else.

python examples/from_hyperspherical_vae.py
"""

import torch
import torch.nn.functional as F

# from hyperspherical_vae.distributions import HypersphericalUniform, VonMisesFisher
from svmf.compat.hyperspherical_vae.distributions import HypersphericalUniform, VonMisesFisher

torch.manual_seed(0)
for m in (3, 20, 100):
    mean = F.normalize(torch.randn(64, m), dim=-1).requires_grad_()
    scale = torch.full((64, 1), 11.0, requires_grad=True)  # one column, as that package wants it

    q = VonMisesFisher(mean, scale)
    p = HypersphericalUniform(m - 1)  # that package counts the sphere's own dimension
    z = q.rsample()
    kl = torch.distributions.kl_divergence(q, p)
    (z.square().sum() + kl.mean()).backward()

    cosine = (q.sample((2000,)) * mean).sum(-1).mean()
    print(f"m = {m:3d}: E[mu.z] = {cosine:.3f}, KL = {kl.mean():.4f}")

# What differs: the gradient in `scale` is unbiased, samples are right for every m and scale, and
# nothing becomes nan from m = 80 on. See docs/distributions/compat.md.
