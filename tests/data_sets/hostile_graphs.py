# SPDX-License-Identifier: MIT
"""Graph archives that are wrong in one way each; what is not said is a small honest graph."""

from typing import Any

import numpy as np

NODES, COLUMNS, EDGES = 40, 5, 60


def honest_arrays(seed: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    pairs = np.stack(np.triu_indices(NODES, 1))
    chosen = np.sort(random.choice(pairs.shape[1], EDGES, replace=False))
    return {
        "edge_index": pairs[:, chosen].astype(np.int64),
        "feat_indptr": np.arange(NODES + 1, dtype=np.int64),
        "feat_indices": np.arange(NODES, dtype=np.int64) % COLUMNS,
        "feat_data": np.ones(NODES, np.float32),
        "feat_shape": np.array([NODES, COLUMNS]),
        "labels": np.arange(NODES, dtype=np.int64) % 3,
    }


def _hostile() -> dict[str, dict[str, Any]]:
    good = honest_arrays()
    edges, values = good["edge_index"], good["feat_data"]
    every_pair = np.stack(np.triu_indices(NODES, 1))
    nothing = {"feat_indices": np.empty(0, np.int64), "feat_data": np.empty(0, np.float32)}
    return {
        "no edge": {"edge_index": edges[:, :0]},
        "one edge": {"edge_index": edges[:, :1]},
        "nineteen edges": {"edge_index": edges[:, :19]},
        "every pair": {"edge_index": every_pair},
        "half of the pairs": {"edge_index": every_pair[:, ::2]},
        "edges twice": {"edge_index": np.repeat(edges, 2, axis=1)},
        "self-loops": {"edge_index": np.stack([np.arange(NODES)] * 2)},
        "edges upside down": {"edge_index": edges[::-1]},
        "float edges": {"edge_index": edges.astype(np.float64)},
        "nan edges": {"edge_index": np.full_like(edges, np.nan, np.float64)},
        "edges beyond int64": {"edge_index": edges.astype(np.uint64) + 2**63},
        "negative nodes": {"edge_index": edges - 1000},
        "complex values": {"feat_data": values.astype(np.complex64)},
        "nan values": {"feat_data": np.full_like(values, np.nan)},
        "infinite values": {"feat_data": np.full_like(values, np.inf)},
        "values beyond float32": {"feat_data": np.full(NODES, 1e300)},
        "text values": {"feat_data": np.full(NODES, "one")},
        "dates": {"labels": np.full(NODES, "2020-01-01", "datetime64[D]")},
        "float labels": {"labels": np.full(NODES, 0.5)},
        "labels beyond int64": {"labels": np.full(NODES, 2**64 - 1, np.uint64)},
        "records": {"labels": np.zeros(NODES, [("a", "<i8")])},
        "no node": {
            "feat_shape": np.array([0, COLUMNS]), "feat_indptr": np.zeros(1, np.int64),
            "edge_index": edges[:, :0], "labels": np.empty(0, np.int64), **nothing,
        },
        "no column": {
            "feat_shape": np.array([NODES, 0]), "feat_indptr": np.zeros(NODES + 1, np.int64),
            **nothing,
        },
        "columns for a terabyte": {"feat_shape": np.array([NODES, 2**40])},
        "columns beyond int64": {"feat_shape": np.array([NODES, 2**64 - 1], np.uint64)},
        "float shape": {"feat_shape": np.array([NODES, COLUMNS + 0.5])},
        "three sizes": {"feat_shape": np.array([NODES, COLUMNS, 1])},
        "rows that go back": {"feat_indptr": np.arange(NODES + 1)[::-1]},
        "rows that wrap around": {
            "feat_indptr": np.concatenate([[0], np.full(NODES - 1, -(2**63)), [NODES]])
        },
        "a matrix of values": {"feat_data": np.ones((NODES, 2), np.float32)},
    }  # fmt: skip


HOSTILE_GRAPHS = {name: {**honest_arrays(), **wrong} for name, wrong in _hostile().items()}
