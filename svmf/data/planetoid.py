# SPDX-License-Identifier: MIT
"""Cora, Citeseer and Pubmed, from the original Planetoid pickles or from plain .npz arrays.

Same handling as the graph auto-encoder of Kipf and Welling: undirected edges of weight one, no
self-loops, test rows put back at the ids of `test.index`, features as they are.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from svmf.catalogue import PLANETOID
from svmf.data.files import read_bounded
from svmf.data.graph import Graph, SparseFeatures
from svmf.data.locate import find_folder
from svmf.data.npz import read_npz
from svmf.data.pickle_objects import CsrMatrix
from svmf.data.safe_pickle import load_pickle
from svmf.errors import DataError

GRAPHS = tuple(PLANETOID)
_ARRAYS = ("feat_shape", "edge_index", "feat_indptr", "feat_indices", "feat_data", "labels")
_FILES = {"tx": CsrMatrix, "ty": np.ndarray, "allx": CsrMatrix, "ally": np.ndarray, "graph": dict}
_MAX_INDEX_BYTES = 1 << 23  # of test.index (Citeseer's, Cora's and Pubmed's have 6 KB or less)
# Keys of edges are nodes^2 and must fit an int64; a weight of the model has a row for each column.
_MAX_NODES = 1 << 27
_MAX_COLUMNS = 1 << 20


def load_graph(name: str, root: str | os.PathLike[str] | None = None) -> Graph:
    """A graph by name from `root`, $SVMF_DATA or the download cache."""
    folder = find_folder(name, ["planetoid_npz", "planetoid", "."], f"*{name}[.]*", root)
    return load_graph_at(folder / name)


def load_graph_at(path: Path) -> Graph:
    """A graph from `path.npz`, or from `ind.NAME.*` beside it when `path` is FOLDER/NAME."""
    archive = path if path.suffix == ".npz" else path.with_name(path.name + ".npz")
    if os.path.isfile(archive):
        return load_npz(archive)
    if os.path.isfile(path.parent / f"ind.{path.name}.graph"):
        return load_pickles(path.parent, path.name)
    raise DataError(f"{path}: neither {archive.name} nor ind.{path.name}.graph is there")


def load_npz(path: Path) -> Graph:
    """Plain arrays; pickled objects inside the archive are refused."""
    shape, edges, indptr, indices, values, labels = read_npz(path, _ARRAYS)
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise DataError(f"{path}: not a graph archive: expected two sizes in 'feat_shape'")
    try:
        sizes = int(shape[0]), int(shape[1])
        return make_graph(path.stem, edges, indptr, indices, values, labels, sizes)
    except DataError as error:
        raise DataError(f"{path}: not a graph archive: {error}") from None


def load_pickles(folder: Path, name: str) -> Graph:
    """The files `ind.NAME.*` of the Planetoid repository, read without trusting them."""
    part = {}
    for file, kind in _FILES.items():
        path = folder / f"ind.{name}.{file}"
        part[file] = load_pickle(path)
        if not isinstance(part[file], kind):
            raise DataError(f"{path}: does not hold what its name says")
    tested = _read_test_index(folder / f"ind.{name}.test.index")
    try:
        return _join(name, part, tested)
    except DataError as error:
        raise DataError(f"{folder}: the files ind.{name}.* do not fit together: {error}") from None


def _join(name: str, part: dict[str, Any], tested: np.ndarray) -> Graph:
    """Puts the parts of a Planetoid graph in place; DataError where they contradict each other."""
    adjacency: dict[int, list[int]] = part["graph"]
    (known, columns), nodes = part["allx"].shape, len(adjacency)
    source = np.repeat(
        np.fromiter(adjacency, np.int64), np.fromiter(map(len, adjacency.values()), np.int64)
    )
    target = np.fromiter((end for ends in adjacency.values() for end in ends), np.int64)
    if (
        part["tx"].shape != (len(tested), columns)
        or len(np.unique(tested)) != len(tested)
        or not _within(tested, known, nodes)
        or not _within(target, 0, nodes)
        or known > nodes
        or max(adjacency, default=0) >= nodes  # the keys differ, so they are 0 to nodes - 1
    ):
        raise DataError("node ids out of place")
    low, high = np.minimum(source, target), np.maximum(source, target)
    keys = np.unique((low * nodes + high)[low != high])

    # rows of allx keep their place, row i of tx goes to test.index[i], the rest stay zero
    lengths = np.zeros(nodes, np.int64)
    lengths[:known] = np.diff(part["allx"].indptr)
    lengths[tested] = np.diff(part["tx"].indptr)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.empty(indptr[-1], np.int64)
    values = np.empty(indptr[-1], np.float64)
    for block, places in ((part["allx"], np.arange(known)), (part["tx"], tested)):
        entries = _ranges(indptr[places], np.diff(block.indptr))
        indices[entries] = block.indices
        values[entries] = block.data

    labels = np.full(nodes, -1, np.int64)
    for one_hot, places in ((part["ally"], np.arange(known)), (part["ty"], tested)):
        if one_hot.ndim != 2 or len(one_hot) != len(places) or not one_hot.shape[1]:
            raise DataError(f"labels of shape {one_hot.shape} for {len(places)} nodes")
        labels[places] = np.where(one_hot.any(1), one_hot.argmax(1), -1)
    edges = np.stack([keys // nodes, keys % nodes]) if len(keys) else np.empty((2, 0), np.int64)
    return make_graph(name, edges, indptr, indices, values, labels, (nodes, columns))


def make_graph(
    name: str,
    edges: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    labels: np.ndarray,
    shape: tuple[int, int],
) -> Graph:
    """Checks that the arrays are a graph, for files come from strangers, and sorts its edges."""
    nodes, columns = shape
    if not (1 <= nodes <= _MAX_NODES and 1 <= columns <= _MAX_COLUMNS):
        raise DataError(
            f"expected 1 to {_MAX_NODES:,} nodes with 1 to {_MAX_COLUMNS:,} features, got {shape}"
        )
    whole = [part.dtype.kind in "iu" for part in (edges, indptr, indices, labels)]
    if not all(whole) or values.dtype.kind not in "iufb":
        raise DataError("expected integers in all arrays but the features' values")
    if not (edges.ndim == 2 and len(edges) == 2 and _within(edges, 0, nodes)):
        raise DataError(f"expected edges [2, count] between {nodes} nodes")
    if not (
        indptr.shape == (nodes + 1,)
        and indices.shape == values.shape == (indptr[-1],)
        and indptr[0] == 0
        and bool(np.all(indptr[:-1] <= indptr[1:]))
        and _within(indices, 0, columns)
    ):
        raise DataError("the rows of the features do not fit together")
    if not bool(np.all(np.abs(values.astype(np.float64)) <= np.finfo(np.float32).max)):
        raise DataError("a feature is nan, infinite or too large for float32")
    # labels are stored as int64: a larger uint64 would become a negative one
    if labels.shape != (nodes,) or not _within(labels, -1, nodes):
        raise DataError(f"expected {nodes} labels from -1 to {nodes - 1}")
    low, high = edges.astype(np.int64)
    keys = np.unique(low * nodes + high)
    if not bool(np.all(low < high)) or len(keys) != len(low):
        raise DataError("expected each edge once, from the lower to the higher node")
    features = SparseFeatures(
        torch.from_numpy(indptr.astype(np.int64)),
        torch.from_numpy(indices.astype(np.int64)),
        torch.from_numpy(values.astype(np.float32)),
        nodes,
        columns,
    )
    return Graph(
        name,
        nodes,
        torch.from_numpy(np.stack([keys // nodes, keys % nodes])),
        features,
        torch.from_numpy(labels.astype(np.int64)),
    )


def _within(values: np.ndarray, low: int, high: int) -> bool:
    return not values.size or bool(values.min() >= low and values.max() < high)


def _read_test_index(path: Path) -> np.ndarray:
    try:
        text = read_bounded(path, _MAX_INDEX_BYTES).decode("ascii")
        return np.array([int(line) for line in text.split()], np.int64)
    except (OverflowError, ValueError) as error:
        raise DataError(f"{path}: expected one node id per line: {error}") from error


def _ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """starts[0], starts[0]+1, ... for each range, one after the other."""
    offsets = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(starts - offsets, lengths)
