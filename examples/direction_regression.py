# SPDX-License-Identifier: MIT
"""Regression of directions with uncertainty: a network that says where, and how sure it is.

    python examples/direction_regression.py

Winds over a year, made up: the direction turns with the day, and in summer it is anybody's guess.
The network ends in a head that predicts a direction and its concentration. The loss is the vMF's
negative log likelihood.
"""

import math

import torch
from torch import nn

from svmf.distributions import VonMisesFisher
from svmf.losses import VonMisesFisherHead, vmf_nll_loss

torch.manual_seed(0)
torch.set_num_threads(1)
day = torch.rand(4000) * 365
angle = 2 * math.pi * day / 365
truth = torch.stack([angle.cos(), angle.sin(), 0.5 * (2 * angle).sin()], dim=-1)
truth = torch.nn.functional.normalize(truth, dim=-1)
kappa = 5 + 195 * torch.cos(angle / 2).square()  # 200 in winter, 5 in summer
wind = VonMisesFisher(truth, kappa).sample()

features = torch.stack([angle.cos(), angle.sin(), (2 * angle).cos(), (2 * angle).sin()], dim=-1)
network = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), VonMisesFisherHead(64, dim=3))
optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
for step in range(1, 1001):
    optimizer.zero_grad()
    loc, concentration = network(features)
    loss = vmf_nll_loss(loc, wind, concentration)
    loss.backward()
    optimizer.step()
    if step % 500 == 0:
        print(f"step {step}: negative log likelihood {loss:.3f}")

best = -VonMisesFisher(truth, kappa).log_prob(wind).mean()
print(f"of the truth itself: {best:.3f}")
print(f"{'day':>5} {'true kappa':>11} {'predicted':>10}")
for shown in (0, 60, 120, 180):
    nearest = (day - shown).abs().argmin()
    _, predicted = network(features[nearest])
    print(f"{shown:5d} {kappa[nearest]:11.0f} {predicted:10.0f}")
