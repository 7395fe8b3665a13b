# SPDX-License-Identifier: MIT
"""Folders of images from strangers: no program is started, nothing blocks, no small file becomes a
large array."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from svmf.data.arrays import read_array
from svmf.errors import DataError

Image = pytest.importorskip("PIL.Image")

EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\n(/tmp/x) (w) file\n"


def test_a_name_does_not_choose_the_decoder(tmp_path: Path, monkeypatch: Any) -> None:
    """Pillow takes PostScript for what it is, whatever its name, and starts Ghostscript with it."""
    from PIL import EpsImagePlugin

    started: list[Any] = []
    monkeypatch.setattr(EpsImagePlugin, "gs_binary", "gs")
    monkeypatch.setattr(subprocess, "check_call", lambda *a, **_: started.append(a))
    (tmp_path / "a.png").write_bytes(EPS)
    with pytest.raises(DataError, match=r"a\.png: not a readable image"):
        read_array(tmp_path)
    assert started == []


def test_a_pipe_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.png")
    with pytest.raises(DataError, match=r"a\.png: not a regular file"):
        read_array(tmp_path)


def test_a_device_and_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.png").symlink_to("/dev/zero")
    with pytest.raises(DataError, match="not a regular file"):
        read_array(tmp_path)
    (tmp_path / "a.png").unlink()
    (tmp_path / "a.png").mkdir()
    with pytest.raises(DataError, match=r"a\.png"):
        read_array(tmp_path)


@pytest.mark.parametrize("side", [8_200, 13_000])
def test_an_image_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: Any, side: int) -> None:
    Image.new("1", (side, side)).save(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size < 30_000

    def unpack(*_: Any, **__: Any) -> None:
        raise AssertionError("unpacked")

    monkeypatch.setattr(Image.Image, "convert", unpack)
    with pytest.raises(DataError, match="times"):
        read_array(tmp_path)


def test_many_small_bombs(tmp_path: Path) -> None:
    """Each is too small to hurt; together they would."""
    Image.new("1", (4000, 4000)).save(tmp_path / "00.png")
    for number in range(1, 20):
        os.link(tmp_path / "00.png", tmp_path / f"{number:02}.png")
    with pytest.raises(DataError, match="times"):
        read_array(tmp_path)


def test_names_of_a_stranger_stay_on_one_line(tmp_path: Path) -> None:
    Image.new("L", (1, 1)).save(tmp_path / "a\nb.png")
    Image.new("L", (1, 2)).save(tmp_path / "b\nb.png")
    with pytest.raises(DataError, match="images of one set have one size") as caught:
        read_array(tmp_path)
    assert "\n" not in str(caught.value)
