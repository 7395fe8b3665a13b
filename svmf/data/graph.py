# SPDX-License-Identifier: MIT
"""Citation graphs, their link-prediction split, and the sampling of absent edges.

Nothing here is N x N: edges are index pairs, a pair (u, v) with u < v has the key u*N + v, and
membership is a binary search among sorted keys.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from svmf.errors import DataError

_MIN_EDGES = 20  # one of twenty validates
_MIN_PAIRS_PER_EDGE = 4  # training draws as many absent pairs as it has edges, by rejection


@dataclass(frozen=True)
class SparseFeatures:
    """CSR matrix [rows, columns]: row r holds entries indptr[r] .. indptr[r+1]."""

    indptr: Tensor  # int64 [rows + 1]
    indices: Tensor  # int64 [entries]
    values: Tensor  # float32 [entries]
    rows: int
    columns: int


@dataclass(frozen=True)
class Graph:
    """An undirected graph with sparse features and, where the source has them, labels."""

    name: str
    nodes: int
    edges: Tensor  # int64 [2, E]: each undirected edge once, row 0 < row 1, sorted, no self-loop
    features: SparseFeatures
    labels: Tensor  # int64 [N], -1 where the source gives none


@dataclass(frozen=True)
class EdgeSplit:
    """Edges for training; edges and as many non-edges for validation and test. All int64 [2, .]."""

    train: Tensor
    validation: Tensor
    validation_absent: Tensor
    test: Tensor
    test_absent: Tensor


def split_edges(graph: Graph, seed: int) -> EdgeSplit:
    """The 85/5/10 split of Kipf and Welling (2016): a tenth of the edges tests, a twentieth
    validates. The absent edges are absent from the whole graph and differ from each other."""
    count, pairs = graph.edges.shape[1], graph.nodes * (graph.nodes - 1) // 2
    if count < _MIN_EDGES or pairs <= _MIN_PAIRS_PER_EDGE * count:
        raise DataError(
            f"graph {graph.name!r}: expected at least {_MIN_EDGES} edges to split, and more than "
            f"{_MIN_PAIRS_PER_EDGE} pairs of nodes for each, got {count} edges and {pairs} pairs"
        )
    generator = torch.Generator().manual_seed(seed)
    tests, validations = count // 10, count // 20
    order = torch.randperm(count, generator=generator)
    test, validation, train = torch.split(
        graph.edges[:, order], [tests, validations, count - tests - validations], dim=1
    )
    keys = edge_keys(graph.edges, graph.nodes).sort().values
    absent = sample_absent_edges(keys, graph.nodes, tests + validations, generator, distinct=True)
    return EdgeSplit(train, validation, absent[:, tests:], test, absent[:, :tests])


def edge_keys(edges: Tensor, nodes: int) -> Tensor:
    """One int64 per undirected edge, the same for (u, v) and (v, u)."""
    return edges.amin(0) * nodes + edges.amax(0)


def sample_absent_edges(
    sorted_keys: Tensor,
    nodes: int,
    count: int,
    generator: torch.Generator | None = None,
    distinct: bool = False,
) -> Tensor:
    """`count` pairs [2, count], uniform over pairs of two nodes whose key is not in `sorted_keys`.

    By rejection in bulk: in a sparse graph a round keeps nearly all of its draws. `distinct`
    also refuses repetitions.
    """
    if nodes * (nodes - 1) // 2 <= 2 * (len(sorted_keys) + count):
        raise ValueError(
            f"sample_absent_edges: expected a sparse graph, got {len(sorted_keys)} edges and "
            f"{count} pairs to draw among {nodes} nodes"
        )
    kept = sorted_keys.new_empty(0)
    while len(kept) < count:
        pairs = torch.randint(
            nodes, (2, count - len(kept)), generator=generator, device=sorted_keys.device
        )
        keys = edge_keys(pairs, nodes)
        place = torch.searchsorted(sorted_keys, keys).clamp_(max=max(len(sorted_keys) - 1, 0))
        present = sorted_keys[place] == keys if len(sorted_keys) else torch.zeros_like(keys).bool()
        fresh = keys[(pairs[0] != pairs[1]) & ~present]
        kept = torch.cat([kept, fresh])
        if distinct:
            kept = _without_repetition(kept)
    return torch.stack([kept // nodes, kept % nodes])


def _without_repetition(keys: Tensor) -> Tensor:
    """The first occurrence of each key, in the order of drawing."""
    ordered, order = keys.sort(stable=True)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return keys[order[first].sort().values]
