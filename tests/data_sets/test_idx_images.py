# SPDX-License-Identifier: MIT
"""idx files and image folders: good ones are read, bad ones are refused with a reason."""

import gzip
import struct

import numpy as np
import pytest

from svmf.data import load_digits, load_idx_folder, load_images_named, load_mnist
from svmf.data.idx import read_idx
from svmf.errors import DataError


def idx_bytes(array):
    head = struct.pack(">BBBB", 0, 0, 8, array.ndim)
    return head + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def write_set(folder, rows=60, side=4, suffix="", mark="-"):
    random = np.random.default_rng(0)
    arrays = {}
    for part, count in (("train", rows), ("t10k", 10)):
        images = random.integers(0, 256, (count, side, side), dtype=np.uint8)
        labels = np.arange(count, dtype=np.uint8) % 10
        for kind, array in (("images", images), ("labels", labels)):
            name = f"{part}-{kind}{mark}idx{3 if kind == 'images' else 1}-ubyte{suffix}"
            content = idx_bytes(array)
            (folder / name).write_bytes(gzip.compress(content) if suffix else content)
            arrays[part, kind] = array
    return arrays


@pytest.mark.parametrize(("suffix", "mark"), [("", "-"), (".gz", "-"), ("", ".")])
def test_folder_is_split_five_to_one(tmp_path, suffix, mark):
    arrays = write_set(tmp_path, suffix=suffix, mark=mark)
    images = load_idx_folder(tmp_path)
    assert (len(images.train), len(images.validation), len(images.test)) == (50, 10, 10)
    assert (images.height, images.width, images.pixels, images.classes) == (4, 4, 16, 10)
    assert images.train.images.dtype.itemsize == 1
    np.testing.assert_array_equal(
        images.train.images.numpy(), arrays["train", "images"][:50].reshape(50, 16)
    )
    np.testing.assert_array_equal(images.validation.labels.numpy(), arrays["train", "labels"][50:])
    np.testing.assert_array_equal(
        images.test.images.numpy(), arrays["t10k", "images"].reshape(10, 16)
    )


def test_another_number_of_validation_rows(tmp_path):
    arrays = write_set(tmp_path)
    images = load_images_named(str(tmp_path), validation_rows=5)
    assert (len(images.train), len(images.validation), len(images.test)) == (55, 5, 10)
    np.testing.assert_array_equal(images.train.labels.numpy(), arrays["train", "labels"][:55])
    np.testing.assert_array_equal(
        images.validation.images.numpy(), arrays["train", "images"][55:].reshape(5, 16)
    )
    message = "validation rows: expected from 1 to 59 of the 60 .*60"
    with pytest.raises(DataError, match=message):
        load_images_named(str(tmp_path), validation_rows=60)


def test_labels_and_test_files_may_be_absent(tmp_path):
    write_set(tmp_path, rows=70)
    for path in tmp_path.glob("*labels*"):
        path.unlink()
    for path in tmp_path.glob("t10k*"):
        path.unlink()
    images = load_images_named(str(tmp_path))
    assert (len(images.train), len(images.validation), len(images.test)) == (50, 10, 10)
    assert int(images.train.labels.max()) == -1


HEADER = struct.pack(">BBBBI", 0, 0, 8, 1, 5)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "magic of an empty file"),
        (b"\0\0\x0d\x01" + bytes(8), "magic 00 00 0d 01"),
        (b"\0\0\x08\x03\0\0", "truncated inside the idx header"),
        (HEADER + b"1234", "expected 5 bytes for shape \\(5,\\), got 4"),
        (HEADER + b"123456", "got more"),
        (struct.pack(">BBBBII", 0, 0, 8, 2, 2**31, 2**31), "the header claims"),
        (struct.pack(">BBBBIII", 0, 0, 8, 3, 0, 2**32 - 1, 2**32 - 1), "the header claims"),
        (struct.pack(">BBBBIII", 0, 0, 8, 3, 2**32 - 1, 0, 2**32 - 1), "the header claims"),
        (struct.pack(">BBBBII", 0, 0, 8, 2, 2**16, 2**15), "more than 100 times"),
    ],
)
def test_bad_idx_is_refused(tmp_path, content, message):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_idx(path)


def test_bad_gzip_is_refused(tmp_path):
    path = tmp_path / "file.gz"
    whole = gzip.compress(HEADER + b"12345")
    for content in (b"not gzip", whole[:-9], whole[:12]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"cannot be read as an idx file|truncated"):
            read_idx(path)


def test_compression_bomb_is_not_expanded(tmp_path):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(HEADER + bytes(50_000_000)))
    with pytest.raises(DataError, match="got more"):
        read_idx(path)


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda f: (f / "train-images-idx3-ubyte").unlink(), "no train-images"),
        (
            lambda f: (f / "train-labels-idx1-ubyte").write_bytes(idx_bytes(np.zeros(3, np.uint8))),
            "expected 60 labels",
        ),
        (
            lambda f: (f / "train-images-idx3-ubyte").write_bytes(
                idx_bytes(np.zeros((4, 4), np.uint8))
            ),
            r"expected images \[n, height, width\]",
        ),
        (
            lambda f: (f / "t10k-images-idx3-ubyte").write_bytes(
                idx_bytes(np.zeros((10, 5, 5), np.uint8))
            ),
            "test images 5x5",
        ),
        (
            lambda f: (f / "train-images-idx3-ubyte").write_bytes(
                idx_bytes(np.zeros((0, 4, 4), np.uint8))
            ),
            "holds no image",
        ),
    ],
)
def test_inconsistent_folder_is_refused(tmp_path, break_it, message):
    write_set(tmp_path)
    break_it(tmp_path)
    with pytest.raises(DataError, match=message):
        load_idx_folder(tmp_path)


def test_unknown_name():
    with pytest.raises(DataError, match="no image set 'nowhere'"):
        load_images_named("nowhere")


def test_missing_mnist_says_what_to_do(tmp_path):
    with pytest.raises(DataError, match="svmf download mnist"):
        load_mnist(tmp_path)


def test_digits():
    digits = load_digits()
    assert (len(digits.train), len(digits.validation), len(digits.test)) == (1297, 250, 250)
    assert digits.pixels == 64
    assert int(digits.train.images.max()) == 255
    assert digits.classes == 10


def test_mnist(data_dir):
    mnist = load_mnist(data_dir)
    assert (len(mnist.train), len(mnist.validation), len(mnist.test)) == (50_000, 10_000, 10_000)
    assert (mnist.height, mnist.width, mnist.classes) == (28, 28, 10)
    # published facts of MNIST: the first labels, and the mean grey value .1307 of the training file
    assert mnist.train.labels[:5].tolist() == [5, 0, 4, 1, 9]
    assert mnist.test.labels[:5].tolist() == [7, 2, 1, 0, 4]
    total = sum(float(part.images.double().sum()) for part in (mnist.train, mnist.validation))
    assert total / (60_000 * 784 * 255) == pytest.approx(0.1307, abs=5e-5)
