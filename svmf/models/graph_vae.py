# SPDX-License-Identifier: MIT
"""N-VGAE and S-VGAE: variational graph auto-encoders (Kipf and Welling 2016) with any latent.

A two-layer graph convolution encodes the nodes, the dot product of two codes scores their link.
The loss sees the present edges and as many sampled absent ones, so nothing is N x N.
"""

import math
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from svmf.data.graph import SparseFeatures
from svmf.models.latents import Latent, with_correction
from svmf.models.sparse import SparseMatrix, normalized_adjacency


class GraphVAE(nn.Module):
    """`edges` are the training edges [2, E]. Unit vectors have dot products in [-1, 1]: with a
    spherical latent they are multiplied by a learnable exp(t), started at `multiplier`."""

    terms: ClassVar[tuple[str, ...]] = ("re", "kl", "spread")

    def __init__(
        self,
        features: SparseFeatures,
        edges: Tensor,
        latent: Latent[Any],
        hidden: int = 32,
        dropout: float = 0.0,
        kl_weight: float | None = None,
        multiplier: float = 5.0,
    ) -> None:
        super().__init__()
        self.latent = latent
        self.dropout = dropout
        # Kipf and Welling weigh the mean KL of a node by 1/N beside the mean edge term
        self.kl_weight = 1 / features.rows if kl_weight is None else kl_weight
        self.features = SparseMatrix(features)
        self.adjacency = normalized_adjacency(edges, features.rows)
        self.input_weight = nn.Parameter(torch.empty(features.columns, hidden))
        self.head_weight = nn.Parameter(torch.empty(hidden, sum(latent.head_sizes)))
        nn.init.xavier_uniform_(self.input_weight)
        for block in torch.split(self.head_weight.data, list(latent.head_sizes), dim=1):
            nn.init.xavier_uniform_(block)
        self.log_multiplier = (
            nn.Parameter(torch.tensor(math.log(multiplier))) if latent.bounded else None
        )

    def posterior(self) -> Any:
        """The posterior of every node."""
        values = F.dropout(self.features.values, self.dropout, self.training)
        hidden = F.relu(self.adjacency(self.features(self.input_weight, values)))
        hidden = F.dropout(hidden, self.dropout, self.training)
        return self.latent.posterior(self.adjacency(hidden @ self.head_weight))

    def link_logits(self, z: Tensor, edges: Tensor) -> Tensor:
        """The log-odds of each edge [E] from node codes [N, coordinates]."""
        dots = (z.index_select(0, edges[0]) * z.index_select(0, edges[1])).sum(-1)
        return dots if self.log_multiplier is None else dots * self.log_multiplier.exp()

    def forward(
        self, present: Tensor, absent: Tensor, beta: Tensor | float = 1.0
    ) -> tuple[Tensor, Tensor]:
        """The loss for present and absent edges [2, E] each, and the means of `terms`."""
        posterior = self.posterior()
        z, kl, log_ratio = self.latent.draw(posterior)
        edges = torch.cat([present, absent], dim=1)
        logits = self.link_logits(z, edges)
        sign = torch.ones_like(logits)
        sign[present.shape[1] :] = -1
        log_p = F.logsigmoid(sign * logits)
        if log_ratio is not None:  # an edge depends on the draws of both of its nodes
            log_p = with_correction(log_p, log_ratio[edges].sum(0))
        # mean over present plus mean over absent edges: there are equally many
        re, kl = 2 * log_p.mean(), kl.mean()
        loss = beta * self.kl_weight * kl - re
        terms = [re, kl, self.latent.spread(posterior).mean()]
        return loss, torch.stack([term.detach() for term in terms])

    @torch.no_grad()
    def score(self, edges: Tensor) -> Tensor:
        """Scores of edges from the posterior means, in evaluation mode."""
        training = self.training
        self.eval()
        z = self.latent.mean(self.posterior())
        self.train(training)
        return self.link_logits(z, edges)
