# SPDX-License-Identifier: MIT
"""Non-finite losses, full disks, unwritable folders: a clear error, and nothing lost."""

import errno
import os

import pytest
import torch

from svmf.errors import NonFiniteError, RunError
from svmf.training import RunFolder, continue_run, make_config, start_run
from svmf.training.files import atomic_write
from svmf.training.vae_task import VAETask


def test_non_finite_loss_names_step_tensor_and_checkpoint(options, tmp_path, monkeypatch):
    original = VAETask.batch
    calls = []

    def poisoned(self, step):
        (x,) = original(self, step)
        calls.append(step)
        if len(calls) == 15:  # ten steps per epoch: epoch 2, step 5
            with torch.no_grad():
                self.model.decoder[0].weight[0, 0] = torch.nan
        return (x,)

    monkeypatch.setattr(VAETask, "batch", poisoned)
    with pytest.raises(NonFiniteError) as caught:
        start_run(make_config("svae", **options("svae")), tmp_path / "run")
    message = str(caught.value)
    assert "the loss is nan at epoch 2, step 5 (step 15 of the run)" in message
    assert "first non-finite tensor: weight decoder.0.weight" in message
    assert str(tmp_path / "run" / "checkpoint.pt") in message
    state = torch.load(tmp_path / "run" / "checkpoint.pt", weights_only=True)
    assert all(bool(torch.isfinite(weight).all()) for weight in state["model"].values())
    monkeypatch.undo()
    assert continue_run(tmp_path / "run").finished


def test_bad_input_is_named(options, tmp_path, monkeypatch):
    monkeypatch.setattr(VAETask, "batch", lambda self, step: (torch.full((4, 16), torch.inf),))
    with pytest.raises(NonFiniteError, match="input 0 of the batch"):
        start_run(make_config("svae", **options("svae")), tmp_path / "run")


def test_exploding_module_is_named(options, tmp_path, monkeypatch):
    original = VAETask.__init__

    def huge(self, *args):
        original(self, *args)
        with torch.no_grad():
            self.model.decoder[0].bias.fill_(10.0)
            self.model.decoder[2].weight.fill_(1e38)

    monkeypatch.setattr(VAETask, "__init__", huge)
    with pytest.raises(NonFiniteError, match=r"output of decoder\.2"):
        start_run(make_config("svae", **options("svae")), tmp_path / "run")


class FullDisk:
    """Fails the n-th fsync, as a disk that fills up does."""

    def __init__(self, monkeypatch, after):
        self.left = after
        original = os.fsync

        def fsync(descriptor):
            self.left -= 1
            if self.left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            original(descriptor)

        monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.parametrize("after", [0, 1, 2, 3, 4, 5, 6, 9, 14])
def test_full_disk_at_any_write_loses_nothing(after, options, tmp_path, monkeypatch):
    config = make_config("svae", **options("svae", epochs=3))
    start_run(config, tmp_path / "whole")
    with monkeypatch.context() as patch:
        FullDisk(patch, after)
        with pytest.raises(RunError, match=r"cannot be written: No space left on device"):
            start_run(config, tmp_path / "run", checkpoint_seconds=0.0)
    assert not list((tmp_path / "run").glob("*.tmp"))
    if RunFolder(tmp_path / "run").exists():
        continue_run(tmp_path / "run")
    else:
        start_run(config, tmp_path / "run")
    first, second = ((tmp_path / n / "metrics.jsonl").read_bytes() for n in ("whole", "run"))
    assert first == second


def test_space_is_checked_before_the_work(options, tmp_path, monkeypatch):
    import shutil

    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(RunError, match=r"0\.001 MB are free, .* need 0\.[1-9]"):
        start_run(make_config("svae", **options("svae")), tmp_path / "run")


def test_unwritable_folder(options, tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(RunError, match="cannot be made"):
        start_run(make_config("svae", **options("svae")), blocker / "run")


def test_missing_data_leave_no_folder(tmp_path):
    from svmf.errors import DataError

    with pytest.raises(DataError):
        start_run(make_config("svae", data=str(tmp_path / "nowhere")), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_atomic_write_keeps_the_old_content(tmp_path, monkeypatch):
    path = tmp_path / "file"
    atomic_write(path, b"old")
    with monkeypatch.context() as patch:
        FullDisk(patch, 0)
        with pytest.raises(RunError, match="what was there before is intact"):
            atomic_write(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
