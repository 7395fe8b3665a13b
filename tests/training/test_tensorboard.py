# SPDX-License-Identifier: MIT
"""`--tensorboard` writes the metrics that the run folder has, where the package is installed."""

import json

import pytest

from svmf.cli import main


def test_scalars_are_the_metrics(tmp_path):
    reading = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="tensorboard is not installed",
    )
    run = tmp_path / "run"
    size = ["--data", "digits", "--dim", "3", "--epochs", "2"]
    assert main(["train", "svae", *size, "--tensorboard", "--quiet", "--out", str(run)]) == 0
    (events,) = (run / "tensorboard").glob("events*")
    log = reading.EventAccumulator(str(events))
    log.Reload()
    metrics = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    for part in ("train", "validation"):
        for name in metrics[0][part]:
            written = [scalar.value for scalar in log.Scalars(f"{part}/{name}")]
            assert written == pytest.approx([record[part][name] for record in metrics], rel=1e-6)
