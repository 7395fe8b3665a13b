# SPDX-License-Identifier: MIT
"""A hyperspherical VAE by hand: your networks, your loop, svmf's distribution in the middle.

python examples/svae_by_hand.py        # scikit-learn's digits, no download; seconds
"""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.distributions import kl_divergence

from svmf import HypersphericalUniform, VonMisesFisher

M, EPOCHS, BATCH = 6, 40, 64  # codes are unit vectors in R^M

torch.manual_seed(0)
torch.set_num_threads(1)  # these networks are too small for more
images, classes = load_digits(return_X_y=True)
x = torch.from_numpy(images).float() / 16
train, test = x[:1500], x[1500:]

encoder = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, M + 1))
decoder = nn.Sequential(nn.Linear(M, 128), nn.ReLU(), nn.Linear(128, 64))
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
prior = HypersphericalUniform(M)


def posterior(rows: torch.Tensor) -> VonMisesFisher:
    raw = encoder(rows)
    return VonMisesFisher(F.normalize(raw[:, :M], dim=-1), F.softplus(raw[:, M]) + 1)


def bound(rows: torch.Tensor) -> torch.Tensor:
    """The ELBO of each row."""
    q = posterior(rows)
    log_p = -F.binary_cross_entropy_with_logits(decoder(q.rsample()), rows, reduction="none")
    return log_p.sum(-1) - kl_divergence(q, prior)


for epoch in range(1, EPOCHS + 1):
    for batch in train[torch.randperm(len(train))].split(BATCH):
        optimizer.zero_grad()
        (-bound(batch).mean()).backward()
        optimizer.step()
    if epoch % 10 == 0:
        with torch.no_grad():
            print(f"epoch {epoch:3d}: ELBO of the test images {bound(test).mean():.2f}")

with torch.no_grad():
    codes, labels = posterior(x).mean, torch.from_numpy(classes)
    nearest = (F.normalize(codes[1500:], dim=-1) @ F.normalize(codes[:1500], dim=-1).T).argmax(1)
    print(
        f"nearest neighbour in the codes: {(labels[nearest] == labels[1500:]).float().mean():.1%}"
    )
