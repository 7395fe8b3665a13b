# SPDX-License-Identifier: MIT
"""Hostile graph archives and idx images by grammar: an honest file in which arrays, headers, the
zip directory or single bytes are replaced."""

import gzip
import io
import math
import struct
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from data_sets.hostile_graphs import HOSTILE_GRAPHS, honest_arrays
from fuzz.checks import require
from fuzz.strangers import damaged, read_hostile
from fuzz.values import Chance

from svmf.data import ImageSet, load_idx_folder, split_edges
from svmf.data.graph import Graph
from svmf.data.planetoid import load_npz

DTYPES = (
    "<i4",
    "<i8",
    "<f4",
    "<f8",
    "|u1",
    "|b1",
    "<u8",
    ">i8",
    "<c8",
    "|O",
    "<M8[D]",
    "|S3",
    "<U2",
)
SIZES = (0, 1, 2, 3, 39, 40, 41, 1000, 2**31 - 1, 2**40, 2**62, -1)
# deflate packs zeros 1000 times, and arrays become int64 several times over
NPZ_BYTES_PER_BYTE, IDX_BYTES_PER_BYTE = 40_000, 4_000


def other_array(chance: Chance, honest: np.ndarray) -> np.ndarray:
    """The array with other values, another shape or another type."""
    if not honest.size or honest.dtype.kind not in "iufb":
        return honest
    kind = chance.random.randrange(6)
    with np.errstate(all="ignore"):
        if kind == 0:
            return honest.astype(chance.pick(("<i1", "<u2", "<f2", "<f8", "<u8", "<c16", "|b1")))
        if kind == 1:
            return honest + honest.dtype.type(chance.pick((1, 40, 2**20)))
        if kind == 2:
            return honest.reshape(-1)[: chance.random.randrange(honest.size + 1)]
        if kind == 3:
            return np.zeros((chance.pick((0, 1, 3, 200_000)), chance.pick((0, 1, 2))), honest.dtype)
    changed = honest.copy()
    wild = (0, 1, -1, 39, 40, 2**31 - 1, -(2**31), math.nan, math.inf)
    value = np.array(chance.pick(wild if changed.dtype.kind == "f" else wild[:-2]))
    changed.reshape(-1)[chance.random.randrange(changed.size)] = value.astype(changed.dtype)
    return changed


def npy(chance: Chance, array: np.ndarray) -> bytes:
    """NumPy's format; one time in eight with a header that lies or is no header."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
    if not chance.one_in(8):
        return stream.getvalue()
    shape = tuple(chance.pick(SIZES) for _ in range(chance.random.randrange(4)))
    text = chance.pick((
        f"{{'descr': '{chance.pick(DTYPES)}', 'fortran_order': False, 'shape': {shape}, }}",
        "{'descr': '<i8', 'fortran_order': True, 'shape': (", "__import__('os').abort()",
        "(" * 5000, "-" * 9000, "{}", "", "{'descr': [('a', '<i8')], 'fortran_order': False}",
    ))  # fmt: skip
    header = text.encode() + b" " * 8 + b"\n"
    claimed = len(header) if not chance.one_in(4) else chance.pick((0, 1, 65535))
    version = chance.pick((b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\xff\xff"))
    length = struct.pack("<H" if version == b"\1\0" else "<I", claimed)
    return b"\x93NUMPY" + version + length + header + array.tobytes()


def graph_archive(chance: Chance) -> bytes:
    arrays = honest_arrays(chance.random.randrange(5))
    if chance.one_in(4):
        arrays = dict(HOSTILE_GRAPHS[chance.pick(tuple(HOSTILE_GRAPHS))])
    for name in arrays:
        if chance.one_in(10):
            arrays[name] = other_array(chance, arrays[name])
    out = io.BytesIO()
    method = chance.pick((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, array in arrays.items():
            if array.dtype.kind == "O":
                continue
            entry = f"{name}.npy" if not chance.one_in(100) else f"../{name}"
            other = (
                chance.pick((zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)) if chance.one_in(50) else None
            )
            archive.writestr(entry, npy(chance, array), other)
        if chance.one_in(20):
            archive.writestr("bomb.npy", bytes(1 << 22))
    content = out.getvalue()
    if chance.one_in(6):  # a field of a local header, of the directory or of its end
        mark = chance.pick((b"PK\3\4", b"PK\1\2", b"PK\5\6"))
        changed = bytearray(content)
        start = changed.find(mark) + 4
        place = start + chance.random.randrange(26)
        changed[place : place + 4] = chance.pick(
            (bytes(4), b"\xff" * 4, chance.random.randbytes(4))
        )
        content = bytes(changed)
    return damaged(chance, content) if chance.one_in(6) else content


def require_graph(graph: Graph) -> None:
    """A graph that passes can be split, and its indices stay inside."""
    split = split_edges(graph, 0)
    low, high = graph.edges
    features = graph.features
    sound = (
        bool((low < high).all())
        and int(low.min()) >= 0
        and int(high.max()) < graph.nodes
        and features.indptr.shape == (graph.nodes + 1,)
        and int(features.indptr[-1]) == len(features.indices) == len(features.values)
        and bool(((features.indices >= 0) & (features.indices < features.columns)).all())
        and bool(features.values.isfinite().all())
        and graph.labels.shape == (graph.nodes,)
    )
    require(sound, "an unsound graph was read")
    require(split.validation.shape[1] > 0, "a split without validation")


def random_graph_file(chance: Chance) -> str:
    content = graph_archive(chance)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.npz"
        path.write_bytes(content)
        outcome = read_hostile(
            lambda: load_npz(path), require_graph, len(content), NPZ_BYTES_PER_BYTE
        )
    return f"npz.{outcome} bytes={len(content)}"


def idx(chance: Chance, shape: tuple[int, ...]) -> bytes:
    """An idx file; one time in six its header or its body is another."""
    body = chance.random.randbytes(math.prod(shape))
    code, rank, sizes = 8, len(shape), list(shape)
    if chance.one_in(6):
        kind = chance.random.randrange(5)
        if kind == 0:
            code = chance.pick((0, 9, 11, 13, 255))
        elif kind == 1:
            rank = chance.pick((0, 1, 2, 4, 5, 255))
            sizes = (sizes * 100)[:rank]
        elif kind == 2:
            sizes[chance.random.randrange(rank)] = chance.pick((0, 1, 2**31, 2**32 - 1))
        elif kind == 3:
            sizes = [chance.pick((0, 1, 2**16, 2**32 - 1, 2**32 - 1)) for _ in sizes]
            body = b"" if 0 in sizes else body
        else:
            body = chance.pick((body[:-1], body + b"x", bytes(1 << 20)))
    head = bytes([0, 0, code, rank]) + b"".join(struct.pack(">I", size) for size in sizes)
    return head + body


def random_image_folder(chance: Chance) -> str:
    """A folder of up to four idx files."""
    rows, side = chance.pick((1, 2, 3, 14, 60)), chance.pick((1, 4, 7))
    files = {
        "train-images-idx3-ubyte": idx(chance, (rows, side, side)),
        "train-labels-idx1-ubyte": idx(chance, (rows,)),
        "t10k-images-idx3-ubyte": idx(chance, (5, side, side)),
        "t10k-labels-idx1-ubyte": idx(chance, (5,)),
    }
    size = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            if chance.one_in(20):
                continue
            packed = chance.one_in(2)
            stored = gzip.compress(content, 1) if packed else content
            if chance.one_in(10):
                stored = chance.pick((damaged(chance, stored), stored + stored, stored + b"\0" * 9))
            (Path(folder) / (name + ".gz" * packed)).write_bytes(stored)
            size += len(stored)
        outcome = read_hostile(
            lambda: load_idx_folder(Path(folder)), require_images, size, IDX_BYTES_PER_BYTE
        )
    return f"idx.{outcome} bytes={size}"


def require_images(images: ImageSet) -> None:
    for part in (images.train, images.validation, images.test):
        require(len(part) > 0, "an empty part")
        require(part.images.shape == (len(part), images.pixels), "images of another shape")
        require(part.labels.shape == (len(part),), "labels of another shape")
    require(images.classes >= 0, "a negative number of classes")
