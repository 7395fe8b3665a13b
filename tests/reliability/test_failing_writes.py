# SPDX-License-Identifier: MIT
"""Every write of a training run fails once, in turn: a full disk, a lost permission, a disk that
became read-only, an input/output error; at opening, in the middle of a write, at fsync, at the
renaming. One clear line of error, no broken file, nothing lost."""

import builtins
import errno
import io
import os
import pathlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reliability.test_killed_runs import require_whole_files
from reliability.tiny_run import tiny_config, write_images
from training.test_resume import assert_same_run

from svmf.errors import RunError
from svmf.training import RunFolder, continue_run, start_run

ERRORS = (errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO)
WRITING = ("w", "wb", "xb", "a", "ab", "r+b")


class FailingDisk:
    """Below `folder`, write operation number `fail_at` raises; all are counted."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path, fail_at: int, number: int) -> None:
        self.folder, self.fail_at, self.number, self.count = folder, fail_at, number, 0
        opener = io.open

        def open_file(file: Any, mode: str = "r", *rest: Any, **options: Any) -> Any:
            if mode not in WRITING or not self._below(file):
                return opener(file, mode, *rest, **options)
            self.operation()
            return self._watched(opener(file, mode, *rest, **options))

        patch.setattr(io, "open", open_file)
        patch.setattr(builtins, "open", open_file)
        for name in ("fsync", "replace", "truncate"):
            patch.setattr(os, name, self._failing(getattr(os, name)))
        # Python 3.10's paths hold functions of their own
        accessor = getattr(pathlib, "_NormalAccessor", None)
        if accessor is not None:
            patch.setattr(accessor, "open", staticmethod(open_file))
            patch.setattr(accessor, "replace", staticmethod(os.replace))

    def operation(self) -> None:
        self.count += 1
        if self.count == self.fail_at:
            raise OSError(self.number, os.strerror(self.number))

    def _below(self, file: Any) -> bool:
        return isinstance(file, (str, Path)) and Path(file).is_relative_to(self.folder)

    def _failing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.operation()
            return function(*arguments)

        return call

    def _watched(self, stream: Any) -> Any:
        """A stream that keeps half of what it is given when the disk is full."""
        write = stream.write

        def half_written(content: Any) -> int:
            self.count += 1
            if self.count == self.fail_at:
                write(content[: len(content) // 2])
                stream.flush()
                raise OSError(self.number, os.strerror(self.number))
            return write(content)

        return _Stream(stream, half_written)


class _Stream:
    def __init__(self, stream: Any, write: Callable[[Any], int]) -> None:
        self._stream, self.write = stream, write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __enter__(self) -> "_Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_images(tmp_path_factory.mktemp("tiny") / "images")


def test_every_write_fails_once(images: Path, tmp_path: Path) -> None:
    config = tiny_config(images, 3)
    start_run(config, tmp_path / "whole", checkpoint_seconds=1000.0)
    with pytest.MonkeyPatch.context() as patch:
        disk = FailingDisk(patch, tmp_path, 0, errno.ENOSPC)
        start_run(config, tmp_path / "counted", checkpoint_seconds=1000.0)
    operations = disk.count
    assert operations > 20
    for fail_at in range(1, operations + 1):
        run, number = tmp_path / f"run{fail_at}", ERRORS[fail_at % len(ERRORS)]
        with pytest.MonkeyPatch.context() as patch:
            FailingDisk(patch, tmp_path, fail_at, number)
            with pytest.raises(RunError) as caught:
                start_run(config, run, checkpoint_seconds=1000.0)
        assert os.strerror(number) in str(caught.value)
        assert str(run) in str(caught.value)
        assert "\n" not in str(caught.value)
        require_whole_files(run)
        assert not list(run.glob(".*.tmp"))
        if RunFolder(run).exists():
            assert continue_run(run).finished
        else:
            assert start_run(config, run).finished
        assert_same_run(tmp_path / "whole", run)
