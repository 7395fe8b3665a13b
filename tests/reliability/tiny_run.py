# SPDX-License-Identifier: MIT
"""A training run so small that it can be repeated a hundred times: 4x4 images, ten hidden units."""

from pathlib import Path
from typing import Any

import numpy
from training.conftest import write_idx

from svmf.training import make_config


def write_images(folder: Path) -> Path:
    """An image set of 240 + 40 images."""
    folder.mkdir()
    generator = numpy.random.default_rng(0)
    for part, count in (("train", 240), ("t10k", 40)):
        images = generator.integers(0, 256, (count, 4, 4)).astype(numpy.uint8)
        write_idx(folder / f"{part}-images-idx3-ubyte.gz", images)
        labels = (numpy.arange(count) % 2).astype(numpy.uint8)
        write_idx(folder / f"{part}-labels-idx1-ubyte.gz", labels)
    return folder


def tiny_config(images: Path, epochs: int) -> Any:
    return make_config(
        "svae", data=str(images), dim=2, hidden=(10,), batch_size=20, epochs=epochs, threads=1,
        look_ahead=0,
    )  # fmt: skip
