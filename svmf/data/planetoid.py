# SPDX-License-Identifier: MIT
"""Cora, Citeseer and Pubmed, from the original Planetoid pickles or from plain .npz arrays.

Same handling as the graph auto-encoder of Kipf and Welling: undirected edges of weight one, no
self-loops, test rows put back at the ids of `test.index`, features as they are.
"""

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from svmf.data.graph import Graph, SparseFeatures
from svmf.data.locate import find_folder
from svmf.data.safe_pickle import load_pickle
from svmf.errors import DataError

GRAPHS = ("cora", "citeseer", "pubmed")
_MAX_ARCHIVE_BYTES = 1 << 29  # Pubmed, the largest, unpacks to 9 MB


def load_graph(name: str, root: str | os.PathLike[str] | None = None) -> Graph:
    """A graph by name from `root`, $SVMF_DATA or the download cache."""
    folder = find_folder(name, ["planetoid_npz", "planetoid", "."], f"*{name}[.]*", root)
    return load_graph_at(folder / name)


def load_graph_at(path: Path) -> Graph:
    """A graph from `path.npz`, or from `ind.NAME.*` beside it when `path` is FOLDER/NAME."""
    archive = path if path.suffix == ".npz" else path.with_name(path.name + ".npz")
    if archive.is_file():
        return load_npz(archive)
    if (path.parent / f"ind.{path.name}.graph").is_file():
        return load_pickles(path.parent, path.name)
    raise DataError(f"{path}: neither {archive.name} nor ind.{path.name}.graph is there")


def load_npz(path: Path) -> Graph:
    """Plain arrays; pickled objects inside the archive are refused."""
    try:
        with path.open("rb") as stream:
            with zipfile.ZipFile(stream) as listing:
                claimed = sum(entry.file_size for entry in listing.infolist())
            if claimed > _MAX_ARCHIVE_BYTES:
                raise ValueError(f"unpacks to {claimed:,} bytes")
            stream.seek(0)
            arrays = np.load(stream, allow_pickle=False)
            rows, columns = (int(n) for n in arrays["feat_shape"])
            return make_graph(
                path.stem,
                arrays["edge_index"],
                arrays["feat_indptr"],
                arrays["feat_indices"],
                arrays["feat_data"],
                (rows, columns),
                arrays["labels"],
            )
    except Exception as error:  # a hostile file can raise anything; none of it is a crash
        raise DataError(f"{path}: not a graph archive: {error}") from error


def load_pickles(folder: Path, name: str) -> Graph:
    """The files `ind.NAME.*` of the Planetoid repository, read without trusting them."""
    part = {
        kind: load_pickle(folder / f"ind.{name}.{kind}")
        for kind in ("tx", "ty", "allx", "ally", "graph")
    }
    tested = _read_test_index(folder / f"ind.{name}.test.index")
    try:
        return _join(name, part, tested)
    except (TypeError, KeyError, ValueError, IndexError, AttributeError) as error:
        raise DataError(f"{folder}: the files ind.{name}.* do not fit together: {error}") from error


def _join(name: str, part: dict[str, Any], tested: np.ndarray) -> Graph:
    """Puts the parts of a Planetoid graph in place; ValueError where they contradict each other."""
    known, columns = part["allx"]["shape"]
    adjacency: dict[int, list[int]] = part["graph"]
    nodes = len(adjacency)
    if (
        len(tested) != part["tx"]["shape"][0]
        or part["tx"]["shape"][1] != columns
        or len(np.unique(tested)) != len(tested)
        or tested.min() < known
        or tested.max() >= nodes
        or max(max(ends, default=0) for ends in adjacency.values()) >= nodes
        or set(adjacency) != set(range(nodes))
    ):
        raise ValueError("node ids out of place")

    source = np.concatenate([np.repeat(node, len(ends)) for node, ends in adjacency.items()])
    target = np.concatenate([np.asarray(ends, np.int64) for ends in adjacency.values()])
    low, high = np.minimum(source, target), np.maximum(source, target)
    keys = np.unique((low * nodes + high)[low != high])

    # rows of allx keep their place, row i of tx goes to test.index[i], the rest stay zero
    lengths = np.zeros(nodes, np.int64)
    lengths[:known] = np.diff(part["allx"]["indptr"])
    lengths[tested] = np.diff(part["tx"]["indptr"])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.empty(indptr[-1], np.int64)
    values = np.empty(indptr[-1], np.float32)
    for block, places in ((part["allx"], np.arange(known)), (part["tx"], tested)):
        entries = _ranges(indptr[places], np.diff(block["indptr"]))
        indices[entries] = block["indices"]
        values[entries] = block["data"]

    labels = np.full(nodes, -1, np.int64)
    for one_hot, places in ((part["ally"], np.arange(known)), (part["ty"], tested)):
        if one_hot.shape[0] != len(places):
            raise ValueError(f"{one_hot.shape[0]} labels for {len(places)} nodes")
        labels[places] = np.where(one_hot.any(1), one_hot.argmax(1), -1)
    edges = np.stack([keys // nodes, keys % nodes])
    return make_graph(name, edges, indptr, indices, values, (nodes, columns), labels)


def make_graph(
    name: str,
    edges: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    shape: tuple[int, int],
    labels: np.ndarray,
) -> Graph:
    """Checks that the arrays fit together: files come from strangers."""
    nodes, columns = shape
    sound = (
        edges.ndim == 2
        and edges.shape[0] == 2
        and bool(np.all(edges[0] < edges[1]))
        and (not edges.size or (edges.min() >= 0 and edges.max() < nodes))
        and indptr.shape == (nodes + 1,)
        and indptr[0] == 0
        and indptr[-1] == len(indices) == len(values)
        and bool(np.all(np.diff(indptr) >= 0))
        and (not len(indices) or (indices.min() >= 0 and indices.max() < columns))
        and labels.shape == (nodes,)
    )
    if not sound:
        raise ValueError("arrays do not fit together")
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
        torch.from_numpy(edges.astype(np.int64)),
        features,
        torch.from_numpy(labels.astype(np.int64)),
    )


def _read_test_index(path: Path) -> np.ndarray:
    try:
        return np.array([int(line) for line in path.read_text("ascii").split()], np.int64)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: expected one node id per line: {error}") from error


def _ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """starts[0], starts[0]+1, ... for each range, one after the other."""
    offsets = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(starts - offsets, lengths)
