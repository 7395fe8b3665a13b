# SPDX-License-Identifier: MIT
"""200 kill -9 at random moments of a training run, each continued: the final weights are those of
the uninterrupted run, bit for bit, and no file is ever found broken.

Each child works for a random time after it has begun and is killed; moments inside a step, inside a
write and between two files all occur. Checkpoints are written after every step.
"""

import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from reliability.tiny_run import tiny_config, write_images
from training.test_resume import assert_same_run, state_of

from svmf.training import RunFolder, continue_run, start_run

KILLS = 200


def require_whole_files(run: Path) -> None:
    """Whatever exists can be read: configuration, checkpoint, and metrics up to a last line that
    may be cut."""
    if not RunFolder(run).exists():
        return
    RunFolder(run).read_config()
    if (run / "checkpoint.pt").exists():
        state = state_of(run)
        assert all(bool(torch.isfinite(weight).all()) for weight in state["model"].values())
    for name in ("metrics.jsonl", "timing.jsonl"):
        if (run / name).exists():
            *lines, _ = (run / name).read_text().split("\n")
            for line in lines:
                json.loads(line)


def fork_run(config: Any, run: Path) -> int:
    """Starts or continues the run in a fork of this process, which begins in milliseconds."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        if RunFolder(run).exists():
            continue_run(run, checkpoint_seconds=0.0)
        else:
            start_run(config, run, checkpoint_seconds=0.0)
        code = 0
    finally:
        os._exit(code)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_two_hundred_kills(tmp_path: Path) -> None:
    images = write_images(tmp_path / "images")
    config, killed = tiny_config(images, 4000), tmp_path / "killed"
    start_run(tiny_config(images, 1), tmp_path / "warm")  # so that the children find all imported
    moments, written = random.Random(200), 0
    for _ in range(KILLS):
        child, before = fork_run(config, killed), _checkpoint_time(killed)
        # One time in ten at once: while the child still reads its files.
        begun, patience = time.monotonic(), 0.0 if moments.random() < 0.1 else 300.0
        while _checkpoint_time(killed) == before and time.monotonic() - begun < patience:
            time.sleep(0.001)
        time.sleep(moments.uniform(0.0, 0.1))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "the run ended before it was killed"
        written += _checkpoint_time(killed) != before
        require_whole_files(killed)
    assert written >= KILLS / 2
    # The uninterrupted run, and the end of the other one, up to the same epoch.
    end = state_of(killed)["epoch"] + 2
    start_run(tiny_config(images, end), tmp_path / "whole", checkpoint_seconds=1000.0)
    assert continue_run(killed, {"epochs": end}).finished
    assert_same_run(tmp_path / "whole", killed)


def _checkpoint_time(run: Path) -> int:
    path = run / "checkpoint.pt"
    return path.stat().st_mtime_ns if path.exists() else 0
