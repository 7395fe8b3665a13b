# SPDX-License-Identifier: MIT
"""One's own rows: files, folders of images, arrays; what they are, and what is refused."""

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from svmf.data.arrays import is_array_path, kind_of, load_array_set, make_array_set, read_array
from svmf.errors import DataError

RANDOM = np.random.default_rng(0)
REAL = RANDOM.normal(size=(40, 6))
UNIT = REAL / np.linalg.norm(REAL, axis=1, keepdims=True)
GREY = RANDOM.integers(0, 256, (40, 4, 5)).astype(np.uint8)


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (GREY, "grey"),
        (GREY / 255, "grey"),
        ((REAL > 0).astype(np.float32), "binary"),
        ((REAL > 0), "binary"),
        ((REAL > 0).astype(np.uint8), "binary"),
        (UNIT, "unit"),
        (np.abs(UNIT), "unit"),
        (UNIT.astype(np.float16), "unit"),
        (REAL, "real"),
        (RANDOM.integers(-5, 5, (9, 3)), "real"),
    ],
)
def test_kinds(rows, kind):
    found = make_array_set(rows)
    assert found.kind == kind
    assert found.shape == rows.shape[1:]
    assert found.train.dtype == (torch.uint8 if kind == "grey" else torch.float32)
    total = sum(len(part) for part in (found.train, found.validation, found.test))
    assert total == len(rows)


def test_the_split_is_one_and_has_every_row_once():
    rows = torch.arange(100.0).reshape(50, 2)
    first, second = make_array_set(rows), make_array_set(rows.numpy())
    assert torch.equal(first.train, second.train)
    together = torch.cat([first.train, first.validation, first.test])
    assert sorted(together[:, 0].tolist()) == rows[:, 0].tolist()
    assert len(make_array_set(rows, validation_rows=20).validation) == 20


def test_tables_of_other_libraries():
    class Table:
        def __array__(self, dtype=None, copy=None):
            return REAL

    assert make_array_set(Table()).kind == "real"


@pytest.mark.parametrize("dtype", ["<f4", "<f8", "<i8", "|u1", "|b1", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path, dtype, order):
    rows = np.array(REAL * 10, order=order).astype(dtype)
    np.save(tmp_path / "x.npy", rows)
    assert np.array_equal(read_array(tmp_path / "x.npy"), rows)
    assert is_array_path(str(tmp_path / "x.npy"))


def test_npz(tmp_path):
    np.savez_compressed(tmp_path / "one.npz", anything=REAL)
    np.savez(tmp_path / "named.npz", x=REAL, y=np.zeros(40))
    np.savez(tmp_path / "several.npz", a=REAL, b=REAL)
    for name in ("one", "named"):
        assert np.array_equal(read_array(tmp_path / f"{name}.npz"), REAL)
    with pytest.raises(DataError, match="expected an array named x, data or images"):
        read_array(tmp_path / "several.npz")
    np.savez(tmp_path / "graph.npz", edge_index=REAL)
    with pytest.raises(DataError, match="holds a graph"):
        read_array(tmp_path / "graph.npz")


@pytest.mark.parametrize(
    "text",
    [
        "1,2.5\n3,4\n",
        "a,b\n1,2.5\n3,4\n",
        "1;2.5\n3;4",
        "1\t2.5\r\n3\t4\r\n",
        "x y\n1 2.5\n\n3 4\n",
    ],
)
def test_csv(tmp_path, text):
    (tmp_path / "x.csv").write_text(text)
    assert read_array(tmp_path / "x.csv").tolist() == [[1, 2.5], [3, 4]]


def test_a_folder_of_images(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for number, grey in enumerate(GREY):
        image.fromarray(grey).save(tmp_path / f"{number:02}.png")
    (tmp_path / "notes.txt").write_text("not an image")
    assert is_array_path(str(tmp_path))
    found = load_array_set(str(tmp_path))
    assert (found.kind, found.shape) == ("grey", (4, 5))
    assert np.array_equal(read_array(tmp_path), GREY)
    image.fromarray(GREY[0, :2]).save(tmp_path / "99.png")
    with pytest.raises(DataError, match="images of one set have one size"):
        read_array(tmp_path)
    (tmp_path / "99.png").write_bytes(b"garbage")
    with pytest.raises(DataError, match=r"99\.png: not a readable image"):
        read_array(tmp_path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(5), r"expected rows of values, got shape \[5\]"),
        (np.zeros((0, 3)), "expected rows of values"),
        (np.array([["a", "b"]]), "expected numbers"),
        ([[1, 2], [3]], "not an array of numbers"),
        (np.array([[1.0, np.nan]] * 20), "row 0 has a value that is not finite"),
        (np.array([[1.0, 2.0]] * 5 + [[1.0, -1e39]] * 15), "row 5 has a value that float32 has no"),
        (torch.zeros(9, 2, dtype=torch.complex64), "expected real numbers"),
        (np.zeros((2, 3)), "2 rows are too few"),
        (torch.eye(20).to_sparse(), "expected a dense tensor"),
        (torch.zeros(20, 2, device="meta"), "expected a tensor with data"),
        (np.ma.array(np.ones((20, 2)), mask=[[True, False]] * 20), "has masked values"),
    ],
)
def test_what_is_no_data(values, message):
    with pytest.raises(DataError, match=message):
        make_array_set(values)


@pytest.mark.parametrize(
    ("rows", "kind", "message"),
    [
        (REAL * 3, "unit", "expected unit vectors, got a row of norm"),
        (REAL, "binary", "expected zeros and ones"),
        (REAL, "grey", r"expected grey values in \[0, 1\]"),
    ],
)
def test_a_wrong_kind(rows, kind, message):
    with pytest.raises(DataError, match=message):
        make_array_set(rows, kind=kind)


def npy(header: str, body: bytes = b"\0" * 8) -> bytes:
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


HOSTILE = {
    "huge": npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000, 2)}"),
    "negative": npy("{'descr': '<i8', 'fortran_order': False, 'shape': (-1, -1)}"),
    "objects": npy("{'descr': '|O', 'fortran_order': False, 'shape': (1, 1)}"),
    "code": npy("__import__('os').abort()"),
    "half": b"\x93NUMPY\x01\x00",
    "empty": b"",
    "text": b"hello, world",
    "deep": npy("[" * 100),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_arrays(tmp_path, content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x.npy", content)
    (tmp_path / "x.npy").write_bytes(content)
    (tmp_path / "x.npz").write_bytes(buffer.getvalue())
    (tmp_path / "y.npz").write_bytes(content)
    (tmp_path / "x.csv").write_bytes(content)
    for name in ("x.npy", "x.npz", "y.npz", "x.csv"):
        with pytest.raises(DataError) as caught:
            read_array(tmp_path / name)
        assert "\n" not in str(caught.value)
        assert name in str(caught.value)


def test_a_bomb_is_not_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(1 << 28))
    with pytest.raises(DataError, match="times"):
        read_array(tmp_path / "x.npz")


def test_archives_of_a_stranger_have_one_line_and_one_compression(tmp_path):
    content = io.BytesIO()
    np.save(content, REAL)
    for names, method, message in (
        (("a\nb\x1b", "q" * 60_000), zipfile.ZIP_STORED, "expected an array named x"),
        (("a\nb\x1b" + "q" * 60_000,), zipfile.ZIP_LZMA, "another compression than deflate"),
    ):
        with zipfile.ZipFile(tmp_path / "x.npz", "w", method) as archive:
            for name in names:
                archive.writestr(f"{name}.npy", content.getvalue())
        with pytest.raises(DataError, match=message) as caught:
            read_array(tmp_path / "x.npz")
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 500


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("text", ["a,b\n", "# 1,2\n", "a,b\n# 1,2\n\n"])
def test_tables_without_rows(tmp_path, text):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(DataError, match=r"x\.csv: (empty|has a line of names and no rows)"):
        read_array(tmp_path / "x.csv")


def test_a_spreadsheet_s_mark_is_no_name(tmp_path):
    (tmp_path / "x.csv").write_text("1,2\n3,4\n", encoding="utf-8-sig")
    assert read_array(tmp_path / "x.csv").tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.csv"])
def test_pipes_and_absent_files(tmp_path, name):
    with pytest.raises(DataError, match="no such file"):
        read_array(tmp_path / name)
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match="not a regular file"):
        read_array(tmp_path / name)
    with pytest.raises(DataError):
        read_array(Path("y" * 5000 + name))


def test_kind_of_is_the_narrowest():
    assert kind_of(torch.eye(3)) == "binary"
    assert kind_of(torch.tensor([[0.6, 0.8]])) == "unit"
