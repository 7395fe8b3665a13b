# SPDX-License-Identifier: MIT
"""Links of a graph: an S-VGAE trained by hand on a graph that is made up here.

    python examples/graph_links.py             # on a citation graph: svmf train svgae --data cora

Four communities of 60 nodes; two nodes are linked with probability 0.15 inside a community and 0.01
across. Every node's only feature is its own number. A tenth of the edges is held out and must be
told from as many pairs without a link.
"""

import torch
from sklearn.metrics import roc_auc_score

from svmf.data import Graph, SparseFeatures, sample_absent_edges, split_edges
from svmf.models import GraphVAE, SphericalLatent

N, COMMUNITIES, EPOCHS = 240, 4, 200

torch.manual_seed(0)
torch.set_num_threads(1)
community = torch.arange(N) % COMMUNITIES
pairs = torch.triu_indices(N, N, 1)
together = community[pairs[0]] == community[pairs[1]]
edges = pairs[:, torch.rand(pairs.shape[1]) < torch.where(together, 0.15, 0.01)]
identity = SparseFeatures(torch.arange(N + 1), torch.arange(N), torch.ones(N), N, N)
graph = Graph("communities", N, edges, identity, community)

split = split_edges(graph, seed=0)
linked = (split.train[0] * N + split.train[1]).sort().values  # a pair's key is u N + v
model = GraphVAE(identity, split.train, SphericalLatent(8), hidden=32)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
generator, beta = torch.Generator().manual_seed(0), torch.tensor(1.0)
for epoch in range(1, EPOCHS + 1):
    absent = sample_absent_edges(linked, N, split.train.shape[1], generator)
    optimizer.zero_grad()
    loss, _ = model(split.train, absent, beta)
    loss.backward()
    optimizer.step()
    if epoch % 50 == 0:
        print(f"epoch {epoch}: loss {loss:.3f}")

held_out = torch.cat([split.test, split.test_absent], dim=1)
truth = torch.arange(held_out.shape[1]) < split.test.shape[1]
print(f"AUC of the held-out links: {roc_auc_score(truth, model.score(held_out)):.3f}")
