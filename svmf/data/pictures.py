# SPDX-License-Identifier: MIT
"""A folder of images as rows of grey bytes. The images may be a stranger's: they are read by the
decoders of a few formats alone, and only where their size is in proportion to their file."""

import io
import warnings
from pathlib import Path

import numpy as np

from svmf.data.files import read_bounded, refuse_bomb
from svmf.errors import DataError, one_line

# What Pillow may take a file for, whatever its name: others, EPS for one, start programs.
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
_MAX_FILE_BYTES = 1 << 28
_MAX_PIXELS = 1 << 28  # of one image


def pictures_in(folder: Path) -> list[Path]:
    """The files of a folder that are named like images, in the order of their names."""
    try:
        return sorted(p for p in folder.iterdir() if p.suffix.lower() in _SUFFIXES)
    except OSError as error:
        raise DataError(f"{folder}: cannot be read: {error.strerror}") from error


def read_pictures(folder: Path) -> np.ndarray:
    """All images of a folder as grey bytes [n, height, width]."""
    paths = pictures_in(folder)
    if not paths:
        raise DataError(f"{folder}: no images in this folder ({', '.join(_SUFFIXES)})")
    images: list[np.ndarray] = []
    packed = unpacked = 0
    for path in paths:
        content = read_bounded(path, _MAX_FILE_BYTES)
        shape = images[0].shape if images else None
        images.append(_read_picture(path, content, shape, paths[0].name))
        packed, unpacked = packed + len(content), unpacked + images[-1].size
        refuse_bomb(packed, unpacked, 1 << 62)
    return np.stack(images)


def _read_picture(
    path: Path, content: bytes, shape: tuple[int, ...] | None, first: str
) -> np.ndarray:
    """One image; its size is checked before its pixels are unpacked."""
    try:
        from PIL import Image
    except ImportError:
        raise DataError("a folder of images needs the package pillow: pip install pillow") from None
    shown = one_line(str(path), 200)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # ours is stricter
            image = Image.open(io.BytesIO(content), formats=_FORMATS)
        with image:
            width, height = image.size
            if shape is not None and shape != (height, width):
                raise DataError(
                    f"{shown}: is {width}x{height}, but {one_line(first)} is "
                    f"{shape[1]}x{shape[0]}: images of one set have one size"
                )
            refuse_bomb(len(content), width * height, _MAX_PIXELS)
            return np.asarray(image.convert("L"))
    except DataError as error:
        known = str(error).startswith(shown)
        raise DataError(str(error) if known else f"{shown}: {error}") from None
    except Exception as error:  # many kinds for a damaged file
        raise DataError(f"{shown}: not a readable image: {type(error).__name__}") from error
