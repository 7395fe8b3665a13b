# SPDX-License-Identifier: MIT
"""Data sets: MNIST and other idx images, scikit-learn's digits, the synthetic circle, and the
citation graphs Cora, Citeseer and Pubmed. `load_images_named` and `load_graph_named` find one by
name or by path."""

import os
from pathlib import Path

from svmf.data.binarize import Binarizer
from svmf.data.circle import CircleSet, make_circle
from svmf.data.graph import EdgeSplit, Graph, SparseFeatures, sample_absent_edges, split_edges
from svmf.data.images import (
    ImageSet,
    ImageSplit,
    load_digits,
    load_idx_folder,
    load_mnist,
    with_validation_rows,
)
from svmf.data.planetoid import GRAPHS, load_graph, load_graph_at
from svmf.errors import DataError

IMAGE_SETS = ("mnist", "digits")

__all__ = [
    "GRAPHS",
    "IMAGE_SETS",
    "Binarizer",
    "CircleSet",
    "EdgeSplit",
    "Graph",
    "ImageSet",
    "ImageSplit",
    "SparseFeatures",
    "load_digits",
    "load_graph",
    "load_graph_at",
    "load_graph_named",
    "load_idx_folder",
    "load_images_named",
    "load_mnist",
    "make_circle",
    "sample_absent_edges",
    "split_edges",
]


def load_images_named(
    name: str, root: str | os.PathLike[str] | None = None, validation_rows: int | None = None
) -> ImageSet:
    """An image set by name, or a folder of idx files by path. `validation_rows` holds out so many
    rows instead of the set's usual share."""
    path = Path(name)
    if name == "digits":
        images = load_digits()
    elif name == "mnist":
        images = load_mnist(root)
    elif os.path.isdir(path):  # False, not an error, for an impossible path
        images = load_idx_folder(path)
    else:
        raise DataError(
            f"no image set {name!r}: expected one of {', '.join(IMAGE_SETS)}, "
            "a folder of idx files or of images, or a .npy, .npz or .csv file"
        )
    return images if validation_rows is None else with_validation_rows(images, validation_rows)


def load_graph_named(name: str, root: str | os.PathLike[str] | None = None) -> Graph:
    """A graph by name, a .npz archive by path, or FOLDER/NAME with Planetoid's files in FOLDER."""
    if name in GRAPHS:
        return load_graph(name, root)
    path = Path(name)
    if os.path.isdir(path):
        raise DataError(f"{path} is a folder: name a graph in it, for instance {path / 'cora'}")
    if path.suffix == ".npz" or path.parent != Path("."):
        return load_graph_at(path)
    raise DataError(
        f"no graph {name!r}: expected one of {', '.join(GRAPHS)}, a .npz archive or FOLDER/NAME"
    )
