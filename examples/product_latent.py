# SPDX-License-Identifier: MIT
"""A VAE whose code is a point on two spheres and a line: a product latent.

python examples/product_latent.py        # scikit-learn's digits, no download; seconds
"""

import torch
from sklearn.datasets import load_digits

from svmf.models import VAE, Bernoulli, GaussianLatent, ProductLatent, SphericalLatent

torch.manual_seed(0)
torch.set_num_threads(1)  # these networks are too small for more
x = torch.from_numpy(load_digits().data).float() / 16
train, test = x[:1500], x[1500:]

latent = ProductLatent([SphericalLatent(3)] * 2 + [GaussianLatent(1)])  # S^3 x S^3 x R
model = VAE(64, latent, Bernoulli(), hidden=(128,))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for _ in range(40):
    for batch in train[torch.randperm(len(train))].split(64):
        optimizer.zero_grad()
        model(batch)[0].backward()
        optimizer.step()
re, kl, _ = model.elbo_terms(test).mean(1)
print(f"d = {latent.dim} in {latent.coordinates} coordinates: ELBO of test images {re - kl:.2f}")
