# SPDX-License-Identifier: MIT
"""Whole files from strangers: regular files only, and of a bounded size."""

import os
import stat
from pathlib import Path

from svmf.errors import DataError

# MNIST packs 5 times, features of zeros and ones 15 times; deflate can do 1000 times
_MAX_RATIO = 100
_SURELY_HONEST_BYTES = 64 << 20  # a small bomb hurts nobody


def read_bounded(path: Path, limit: int) -> bytes:
    """The content of a file. A pipe or a device is refused unread: it could block, or never end."""
    try:
        # without O_NONBLOCK the opening of a pipe waits for a writer
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as stream:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise DataError(f"{path}: not a regular file")
            # one more, to see a file that is too long; the memory is reserved at once
            content = stream.read(min(limit, status.st_size) + 1)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a nul character in the name
        raise DataError(f"{path}: cannot be read: {error}") from error
    if len(content) > limit:
        raise DataError(f"{path}: larger than {limit >> 20} MiB")
    return content


def refuse_bomb(packed: int, unpacked: int, limit: int) -> None:
    """Raises if so many packed bytes claim to hold more than any honest data."""
    if unpacked > limit:
        raise DataError(f"unpacks to {unpacked:,} bytes, more than {limit:,}")
    if unpacked > _SURELY_HONEST_BYTES and unpacked > _MAX_RATIO * packed:
        raise DataError(f"{packed:,} bytes unpack to {unpacked:,}: more than {_MAX_RATIO} times")
