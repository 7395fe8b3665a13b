# SPDX-License-Identifier: MIT
"""200 kill -9 at random moments of a training run, each continued: the final weights are those of
the uninterrupted run, bit for bit, and no file is ever found broken.

Each child works for a random time after it has begun and is killed; moments inside a step, inside a
write and between two files all occur. Checkpoints are written after every step.
"""

import json
import random
import time
from pathlib import Path

import pytest
import torch
from reliability.tiny_run import tiny_config, write_images
from training.test_resume import assert_same_run, spawn, state_of

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


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_two_hundred_kills(tmp_path: Path) -> None:
    images = write_images(tmp_path / "images")
    config = tiny_config(images, 4000)
    moments, killed, kills, longest = random.Random(200), tmp_path / "killed", 0, 0.3
    reached = 0
    while kills < KILLS:
        process = spawn(config, killed)
        begun, before = time.monotonic(), _checkpoint_time(killed)
        # One time in ten at once: while the child still reads its files.
        if moments.random() > 0.1:
            while process.is_alive() and _checkpoint_time(killed) == before:
                time.sleep(0.002)
                assert time.monotonic() - begun < 300
        process.join(moments.uniform(0.0, longest))
        assert process.is_alive(), "the run ended before it was killed"
        process.kill()
        process.join()
        kills += 1
        require_whole_files(killed)
        if (killed / "checkpoint.pt").exists():
            reached = state_of(killed)["epoch"]
    # The uninterrupted run, and the end of the other one, up to the same epoch.
    start_run(tiny_config(images, reached + 2), tmp_path / "whole", checkpoint_seconds=1000.0)
    assert continue_run(killed, {"epochs": reached + 2}).finished
    assert_same_run(tmp_path / "whole", killed)


def _checkpoint_time(run: Path) -> int:
    path = run / "checkpoint.pt"
    return path.stat().st_mtime_ns if path.exists() else 0
