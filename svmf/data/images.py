# SPDX-License-Identifier: MIT
"""Image sets as bytes in memory, split into training, validation and test rows.

MNIST has the usual 50k/10k/10k split: the last sixth of the training file validates. Any folder
of idx files with MNIST's names is read the same way. The digits are scikit-learn's and need no
download.
"""

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from svmf.data.idx import read_idx
from svmf.data.locate import find_folder
from svmf.errors import DataError

_VALIDATION_SHARE = 6  # one row in six of the training file: 10k of MNIST's 60k
_SPLIT_SEED = 0  # of the digits, which come as one block


@dataclass(frozen=True)
class ImageSplit:
    """Rows of grey bytes [n, pixels] and their labels [n]; labels of -1 are unknown."""

    images: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return self.images.shape[0]


@dataclass(frozen=True)
class ImageSet:
    """Images with labels, split into training, validation and test."""

    name: str
    height: int
    width: int
    train: ImageSplit
    validation: ImageSplit
    test: ImageSplit

    @property
    def pixels(self) -> int:
        return self.height * self.width

    @property
    def classes(self) -> int:
        return int(self.train.labels.max()) + 1


def load_mnist(root: str | os.PathLike[str] | None = None) -> ImageSet:
    """MNIST from `root/mnist`, $SVMF_DATA/mnist or the download cache."""
    return load_idx_folder(find_folder("mnist", ["mnist"], "train-images*", root), name="mnist")


def load_idx_folder(folder: Path, name: str | None = None) -> ImageSet:
    """A folder of idx files with MNIST's names, gzipped or not. Labels and test files may be
    absent; without test files the last seventh of the training rows tests."""
    images = read_images(folder, "train")
    if images is None:
        raise DataError(f"{folder}: no train-images-idx3-ubyte[.gz] in this folder")
    rows, height, width = images.shape
    labels = read_labels(folder, "train", rows)
    test_images = read_images(folder, "t10k")
    if test_images is None:
        held = max(rows // (_VALIDATION_SHARE + 1), 1)
        test_images, test_labels = images[-held:], labels[-held:]
        images, labels = images[:-held], labels[:-held]
    else:
        if test_images.shape[1:] != (height, width):
            raise DataError(
                f"{folder}: training images are {height}x{width}, "
                f"test images {test_images.shape[1]}x{test_images.shape[2]}"
            )
        test_labels = read_labels(folder, "t10k", len(test_images))
    held = max(len(images) // _VALIDATION_SHARE, 1)
    if len(images) < 2 or len(test_images) < 1:
        raise DataError(f"{folder}: {rows} training images are too few to split")
    return ImageSet(
        name or folder.resolve().name,
        height,
        width,
        train=_split(images[:-held], labels[:-held]),
        validation=_split(images[-held:], labels[-held:]),
        test=_split(test_images, test_labels),
    )


def load_digits() -> ImageSet:
    """scikit-learn's 1,797 digits of 8x8 pixels: 1,297 train, 250 validate, 250 test."""
    from sklearn.datasets import load_digits as read  # type: ignore[import-untyped]

    images, labels = read(return_X_y=True)
    grey = np.rint(images * (255 / 16)).astype(np.uint8)
    order = np.random.default_rng(_SPLIT_SEED).permutation(len(grey))
    train, validation, test = np.split(order, [len(grey) - 500, len(grey) - 250])
    return ImageSet(
        "digits",
        8,
        8,
        train=_split(grey[train], labels[train]),
        validation=_split(grey[validation], labels[validation]),
        test=_split(grey[test], labels[test]),
    )


def with_validation_rows(images: ImageSet, rows: int) -> ImageSet:
    """The same set, the last `rows` of training and validation together held out to validate."""
    both = [
        torch.cat([getattr(images.train, part), getattr(images.validation, part)])
        for part in ("images", "labels")
    ]
    total = len(both[0])
    if not 1 <= rows < total:
        raise DataError(
            f"validation rows: expected from 1 to {total - 1} of the {total} that "
            f"{images.name!r} has for training and validation, got {rows}"
        )
    train, validation = zip(*(part.split([total - rows, rows]) for part in both), strict=True)
    return dataclasses.replace(images, train=ImageSplit(*train), validation=ImageSplit(*validation))


def read_images(folder: Path, part: str) -> np.ndarray | None:
    path = _find(folder, f"{part}-images", "idx3-ubyte")
    if path is None:
        return None
    images = read_idx(path)
    if images.ndim != 3:
        raise DataError(f"{path}: expected images [n, height, width], got shape {images.shape}")
    if not images.size:
        raise DataError(f"{path}: holds no image")
    return images


def read_labels(folder: Path, part: str, rows: int) -> np.ndarray:
    path = _find(folder, f"{part}-labels", "idx1-ubyte")
    if path is None:
        return np.full(rows, -1, np.int64)
    labels = read_idx(path)
    if labels.shape != (rows,):
        raise DataError(f"{path}: expected {rows} labels, got shape {labels.shape}")
    return labels.astype(np.int64)


def _find(folder: Path, stem: str, kind: str) -> Path | None:
    """Mirrors disagree on `-` or `.` before the kind, and on compression."""
    names = [f"{stem}{mark}{kind}{suffix}" for mark in "-." for suffix in ("", ".gz")]
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _split(images: np.ndarray, labels: np.ndarray) -> ImageSplit:
    rows = np.ascontiguousarray(images.reshape(len(images), -1))
    return ImageSplit(
        # a copy, because an array over file bytes is read-only and torch wants to own its memory
        torch.from_numpy(rows.copy()),
        torch.from_numpy(labels.astype(np.int64)),
    )
