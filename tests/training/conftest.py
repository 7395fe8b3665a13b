# SPDX-License-Identifier: MIT
"""A tiny image set on disk, so that every model trains in a moment without a download."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest


def write_idx(path: Path, array: np.ndarray) -> None:
    head = struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    path.write_bytes(gzip.compress(head + array.tobytes()))


@pytest.fixture(scope="session")
def tiny_images(tmp_path_factory) -> str:
    """240 training and 40 test images of 4x4 pixels in two classes: bright above or below."""
    folder = tmp_path_factory.mktemp("tiny")
    random = np.random.default_rng(0)
    for part, count in (("train", 240), ("t10k", 40)):
        labels = np.arange(count) % 2
        images = random.integers(0, 60, (count, 4, 4))
        images[labels == 0, :2] += 180
        images[labels == 1, 2:] += 180
        write_idx(folder / f"{part}-images-idx3-ubyte.gz", images.astype(np.uint8))
        write_idx(folder / f"{part}-labels-idx1-ubyte.gz", labels.astype(np.uint8))
    return str(folder)


@pytest.fixture(scope="session")
def tiny_graph(tmp_path_factory) -> str:
    """A ring of 120 nodes with chords, one-hot features."""
    path = tmp_path_factory.mktemp("graph") / "ring.npz"
    nodes = 120
    pairs = {tuple(sorted((i, (i + step) % nodes))) for i in range(nodes) for step in (1, 2)}
    np.savez(
        path,
        edge_index=np.array(sorted(pairs)).T,
        feat_data=np.ones(nodes, np.float32),
        feat_indices=np.arange(nodes),
        feat_indptr=np.arange(nodes + 1),
        feat_shape=np.array([nodes, nodes]),
        labels=np.zeros(nodes, np.int64),
    )
    return str(path)


@pytest.fixture
def options(tiny_images, tiny_graph):
    """Options that make any model tiny."""

    def make(model: str, **more):
        common = {"epochs": 2, "dim": 2, "threads": 1}
        if model.endswith("vgae"):
            return {**common, "data": tiny_graph, **more}
        return {
            **common,
            "data": tiny_images,
            "batch_size": 20,
            "hidden": (8,),
            "labels": 20,
            **more,
        }

    return make
