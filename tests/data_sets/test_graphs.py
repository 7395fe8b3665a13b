# SPDX-License-Identifier: MIT
"""Citation graphs: both sources give the same arrays; splits and absent edges are sound."""

import zipfile

import numpy as np
import pytest
import torch
from data_sets.hostile_graphs import HOSTILE_GRAPHS, honest_arrays

from svmf.data import (
    load_graph,
    load_graph_named,
    load_images_named,
    sample_absent_edges,
    split_edges,
)
from svmf.data.graph import Graph, SparseFeatures, edge_keys
from svmf.data.planetoid import load_npz, load_pickles
from svmf.errors import DataError

FACTS = {  # nodes, features, edges, classes
    "cora": (2708, 1433, 5278, 7),
    "citeseer": (3327, 3703, 4552, 6),
    "pubmed": (19717, 500, 44324, 3),
}


def small_graph(nodes=200, edges=400, seed=0):
    random = np.random.default_rng(seed)
    keys = set()
    while len(keys) < edges:
        u, v = sorted(random.integers(0, nodes, 2).tolist())
        if u != v:
            keys.add((u, v))
    pairs = torch.tensor(sorted(keys)).t().contiguous()
    features = SparseFeatures(
        torch.arange(nodes + 1), torch.arange(nodes) % 7, torch.ones(nodes), nodes, 7
    )
    return Graph("small", nodes, pairs, features, torch.zeros(nodes, dtype=torch.int64))


@pytest.mark.parametrize("name", FACTS)
def test_both_sources_agree(data_dir, name):
    pickled = load_pickles(data_dir / "planetoid", name)
    plain = load_npz(data_dir / "planetoid_npz" / f"{name}.npz")
    nodes, columns, edges, classes = FACTS[name]
    assert (pickled.nodes, pickled.features.columns, pickled.edges.shape[1]) == (
        nodes,
        columns,
        edges,
    )
    assert int(pickled.labels.max()) + 1 == classes
    assert torch.equal(pickled.edges, plain.edges)
    assert torch.equal(pickled.labels, plain.labels)
    for part in ("indptr", "indices", "values"):
        assert torch.equal(getattr(pickled.features, part), getattr(plain.features, part))


def test_graph_by_name_and_by_path(data_dir):
    by_name = load_graph("cora", data_dir)
    for path in ("planetoid/cora", "planetoid_npz/cora", "planetoid_npz/cora.npz"):
        assert torch.equal(load_graph_named(str(data_dir / path)).edges, by_name.edges)


def test_missing_graphs(tmp_path):
    with pytest.raises(DataError, match="svmf download planetoid"):
        load_graph("cora", tmp_path)
    with pytest.raises(DataError, match="neither"):
        load_graph_named(str(tmp_path / "cora"))
    with pytest.raises(DataError, match="is a folder"):
        load_graph_named(str(tmp_path))
    with pytest.raises(DataError, match="no graph 'nowhere'"):
        load_graph_named("nowhere")


def test_hostile_archives(tmp_path, data_dir):
    path = tmp_path / "graph.npz"
    path.write_bytes(b"PK but not a zip")
    with pytest.raises(DataError, match="not a graph archive"):
        load_npz(path)
    with np.load(data_dir / "planetoid_npz" / "cora.npz") as source:
        arrays = dict(source)
    for name, value in (
        ("feat_indices", arrays["feat_indices"] + 10**6),
        ("edge_index", arrays["edge_index"][::-1]),
        ("feat_indptr", arrays["feat_indptr"][:-1]),
        ("labels", np.array([{}], dtype=object)),
    ):
        np.savez(path, **{**arrays, name: value})
        with pytest.raises(DataError, match="not a graph archive"):
            load_npz(path)
    whole = (data_dir / "planetoid_npz" / "cora.npz").read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="not a graph archive"):
        load_npz(path)


@pytest.mark.parametrize("wrong", HOSTILE_GRAPHS)
def test_hostile_graph_ends_in_one_line(tmp_path, wrong):
    """Each is refused by the reader or by the split: none trains, none ends in a traceback."""
    path = tmp_path / "graph.npz"
    np.savez(path, **HOSTILE_GRAPHS[wrong])
    with pytest.raises(DataError, match="graph") as refusal:
        split_edges(load_npz(path), 0)
    assert len(str(refusal.value)) < 300
    assert "\n" not in str(refusal.value)


def test_honest_graph_in_other_types(tmp_path):
    """Other integer types, columns first, edges in any order: the same graph."""
    path, arrays = tmp_path / "graph.npz", honest_arrays()
    np.savez(path, **arrays)
    plain = load_npz(path)
    split_edges(plain, 0)
    arrays["edge_index"] = np.asfortranarray(arrays["edge_index"][:, ::-1].astype(np.uint16))
    arrays["feat_data"] = arrays["feat_data"].astype(bool)
    np.savez_compressed(path, **arrays)
    other = load_npz(path)
    assert torch.equal(plain.edges, other.edges)
    assert torch.equal(plain.features.values, other.features.values)


def test_huge_directory_is_refused_unread(tmp_path):
    path = tmp_path / "graph.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(2000):
            archive.writestr(f"{number}.npy", b"")
    with pytest.raises(DataError, match="its directory has more than"):
        load_npz(path)


def test_test_index_of_a_stranger(tmp_path, data_dir):
    for path in (data_dir / "planetoid").glob("ind.cora.*"):
        (tmp_path / path.name).symlink_to(path)
    index = tmp_path / "ind.cora.test.index"
    for content in (b"", b"1 2 x", b"9" * 30, b"-1\n", b"9" * 10_000, b"1708\n" * 1000, b"\xff"):
        index.unlink()
        index.write_bytes(content)
        with pytest.raises(DataError, match=r"one node id per line|do not fit together"):
            load_pickles(tmp_path, "cora")


@pytest.mark.parametrize("name", ["a" * 5000, "a/" * 3000 + "b.npz", "nul\0.npz", "~/\udcff.npz"])
def test_impossible_paths(name):
    with pytest.raises(DataError):
        load_graph_named(name)
    with pytest.raises(DataError):
        load_images_named(name)
    with pytest.raises(DataError):
        load_graph("cora", name)


def test_archive_bomb(tmp_path, data_dir, monkeypatch):
    monkeypatch.setattr("svmf.data.npz._MAX_UNPACKED_BYTES", 1000)
    with pytest.raises(DataError, match="unpacks to"):
        load_npz(data_dir / "planetoid_npz" / "cora.npz")


@pytest.mark.parametrize(
    ("target", "source"), [("graph", "ally"), ("tx", "allx"), ("ty", "graph"), ("allx", "ty")]
)
def test_swapped_pickles(tmp_path, data_dir, target, source):
    for path in (data_dir / "planetoid").glob("ind.cora.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    swapped = (data_dir / "planetoid" / f"ind.cora.{source}").read_bytes()
    (tmp_path / f"ind.cora.{target}").write_bytes(swapped)
    with pytest.raises(DataError, match=r"do not fit together|does not hold what its name says"):
        load_pickles(tmp_path, "cora")


def test_split_is_85_5_10_and_disjoint():
    graph = small_graph()
    split = split_edges(graph, seed=3)
    assert split.test.shape[1] == split.test_absent.shape[1] == 40
    assert split.validation.shape[1] == split.validation_absent.shape[1] == 20
    present = torch.cat([split.train, split.validation, split.test], dim=1)
    keys = edge_keys(present, graph.nodes)
    assert torch.equal(keys.sort().values, edge_keys(graph.edges, graph.nodes).sort().values)
    absent = torch.cat([split.validation_absent, split.test_absent], dim=1)
    absent_keys = edge_keys(absent, graph.nodes)
    assert len(absent_keys.unique()) == 60
    assert not set(absent_keys.tolist()) & set(keys.tolist())
    assert bool((absent[0] < absent[1]).all())
    again = split_edges(graph, seed=3)
    assert torch.equal(split.train, again.train)
    assert not torch.equal(split.train, split_edges(graph, seed=4).train)


def test_absent_edges_are_uniform():
    """Chi-square over all absent pairs; false alarm 1e-6."""
    from scipy import stats

    graph = small_graph(nodes=30, edges=60, seed=1)
    keys = edge_keys(graph.edges, 30).sort().values
    draw = torch.Generator().manual_seed(5)
    counts: dict[int, int] = {}
    for _ in range(1000):
        for key in edge_keys(sample_absent_edges(keys, 30, 100, draw), 30).tolist():
            counts[key] = counts.get(key, 0) + 1
    absent = 30 * 29 // 2 - 60
    assert len(counts) == absent
    assert not set(counts) & set(keys.tolist())
    assert stats.chisquare(list(counts.values())).pvalue > 1e-6


def test_dense_graph_is_refused():
    keys = torch.arange(10)
    with pytest.raises(ValueError, match="expected a sparse graph"):
        sample_absent_edges(keys, 5, 3)
