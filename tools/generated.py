# SPDX-License-Identifier: MIT
"""What a script does with the files of the tree that it makes: writes them, or with --check
compares."""

import argparse
import gzip
import io
from collections.abc import Iterable
from pathlib import Path


def options(description: str, processes: bool = False) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the files in the tree")
    if processes:
        parser.add_argument("--processes", type=int, default=2, help="worker processes (2)")
    return parser.parse_args()


def settle(files: Iterable[tuple[Path, str]], check: bool) -> int:
    """The script's exit code: 1 if a file differs from what it should be."""
    stale = 0
    for path, text in files:
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_bytes_of(path, text))
            print(f"wrote {path.name}: {path.stat().st_size // 1024} kB")
        elif not path.exists() or _text_in(path) != text:
            print(f"{path} differs from what the script makes")
            stale = 1
        else:
            print(f"{path.name} is up to date")
    return stale


def _text_in(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()


def _bytes_of(path: Path, text: str) -> bytes:
    if path.suffix != ".gz":
        return text.encode()
    buffer = io.BytesIO()  # without a time stamp, so that the same text gives the same bytes
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=9, mtime=0) as stream:
        stream.write(text.encode())
    return buffer.getvalue()
