# SPDX-License-Identifier: MIT
"""Sparse products against dense ones, and the graph VAE against its dense definition."""

import pytest
import torch
import torch.nn.functional as F

from svmf.data import SparseFeatures
from svmf.models import GaussianLatent, GraphVAE, SphericalLatent
from svmf.models.sparse import SparseMatrix, normalized_adjacency

ONE = torch.tensor(1.0)


def random_sparse():
    rows, columns = 9, 5
    draw = torch.Generator().manual_seed(0)
    dense = torch.rand(rows, columns, generator=draw)
    dense[torch.rand(rows, columns, generator=draw) < 0.6] = 0
    dense[3] = 0  # an empty row
    dense[:, 2] = 0  # an empty column
    csr = dense.to_sparse_coo().coalesce()
    counts = torch.bincount(csr.indices()[0], minlength=rows)
    indptr = F.pad(counts.cumsum(0), (1, 0))
    return SparseFeatures(indptr, csr.indices()[1], csr.values(), rows, columns), dense


def ring(nodes):
    edges = torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])
    return torch.cat([edges, torch.tensor([[0], [nodes - 1]])], dim=1)


def test_product_and_gradient():
    sparse, dense = random_sparse()
    matrix = SparseMatrix(sparse)
    right = torch.randn(5, 4, requires_grad=True)
    weights = torch.randn(9, 4)
    torch.testing.assert_close(matrix(right), dense @ right)
    (ours,) = torch.autograd.grad((matrix(right) * weights).sum(), right)
    torch.testing.assert_close(ours, dense.t() @ weights)


def test_replaced_values():
    sparse, dense = random_sparse()
    matrix = SparseMatrix(sparse)
    right = torch.randn(5, 4, requires_grad=True)
    product = matrix(right, matrix.values * 2)
    torch.testing.assert_close(product, 2 * dense @ right)
    (ours,) = torch.autograd.grad(product.sum(), right)
    torch.testing.assert_close(ours, 2 * dense.t() @ torch.ones(9, 4))


def test_data_are_not_in_the_checkpoint():
    assert SparseMatrix(random_sparse()[0]).state_dict() == {}


def dense_adjacency(edges, nodes):
    adjacency = torch.eye(nodes)
    adjacency[edges[0], edges[1]] = 1
    adjacency[edges[1], edges[0]] = 1
    scale = adjacency.sum(1).rsqrt()
    return scale[:, None] * adjacency * scale


def test_normalized_adjacency():
    edges = torch.tensor([[0, 0, 2, 3], [1, 4, 3, 4]])
    matrix = normalized_adjacency(edges, 6)
    torch.testing.assert_close(matrix(torch.eye(6)), dense_adjacency(edges, 6))


@pytest.mark.parametrize("latent", [GaussianLatent(3), SphericalLatent(3)])
def test_scores_are_the_dense_definition(latent):
    features, dense = random_sparse()
    edges = ring(9)
    model = GraphVAE(features, edges, latent, hidden=4, multiplier=3.0)
    adjacency = dense_adjacency(edges, 9)
    hidden = F.relu(adjacency @ dense @ model.input_weight)
    raw = adjacency @ hidden @ model.head_weight
    z = raw[:, : latent.coordinates]
    if latent.on_sphere:
        z = F.normalize(z, dim=-1)
    logits = z @ z.t() * (3.0 if latent.on_sphere else 1.0)
    pairs = torch.tensor([[0, 1, 5], [1, 7, 2]])
    torch.testing.assert_close(model.score(pairs), logits[pairs[0], pairs[1]].detach())


def test_loss_terms():
    features, _ = random_sparse()
    model = GraphVAE(features, ring(9), GaussianLatent(3), hidden=4)
    loss, terms = model(ring(9), torch.tensor([[0] * 9, [4] * 9]), ONE)
    re, kl, _ = terms.tolist()
    assert float(loss.detach()) == pytest.approx(kl / 9 - re, rel=1e-5)


@pytest.mark.parametrize("gradient", ["pathwise", "corrected", "rejection"])
def test_every_estimator_learns_a_ring(gradient):
    torch.manual_seed(0)
    nodes = 60
    identity = SparseFeatures(
        torch.arange(nodes + 1), torch.arange(nodes), torch.ones(nodes), nodes, nodes
    )
    edges = ring(nodes)
    model = GraphVAE(identity, edges, SphericalLatent(4, gradient), hidden=16)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(150):
        optimizer.zero_grad()
        loss, _ = model(edges, torch.randint(nodes, (2, nodes)), ONE)
        loss.backward()
        optimizer.step()
    far = torch.stack([torch.arange(nodes), (torch.arange(nodes) + 20) % nodes])
    # the area under the ROC curve, as the share of rightly ordered pairs
    ordered = model.score(edges)[:, None] > model.score(far)
    assert float(ordered.float().mean()) > 0.9


def test_dropout_acts_in_training_only():
    features, _ = random_sparse()
    model = GraphVAE(features, ring(9), GaussianLatent(3), hidden=4, dropout=0.5)
    assert torch.equal(model.score(ring(9)), model.score(ring(9)))
    assert model.training
    assert not torch.equal(model.posterior().loc, model.posterior().loc)
