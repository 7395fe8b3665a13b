# SPDX-License-Identifier: MIT
"""Kill -9 at random moments, Ctrl-C, and what must not be continued."""

import multiprocessing
import os
import random
import signal
import time

import pytest
import torch

from svmf.errors import ConfigError, RunError
from svmf.training import RunFolder, continue_run, make_config, start_run

# Children are forked from a server that has imported everything: they start in milliseconds.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["svmf.training", "sklearn.metrics"])


def _go(config, out, checkpoint_seconds):
    """Starts the run, or continues it if it was started before."""
    torch.set_num_threads(1)
    if RunFolder(out).exists():
        outcome = continue_run(out, checkpoint_seconds=checkpoint_seconds)
    else:
        outcome = start_run(config, out, checkpoint_seconds=checkpoint_seconds)
    os._exit(0 if outcome.finished else 128 + outcome.interrupted_by)


def spawn(config, out, checkpoint_seconds=0.0):
    process = _CONTEXT.Process(target=_go, args=(config, out, checkpoint_seconds))
    process.start()
    return process


def wait_for(path, process, seconds=120):
    end = time.monotonic() + seconds
    while not path.exists() and process.is_alive() and time.monotonic() < end:
        time.sleep(0.005)


def state_of(out):
    return torch.load(out / "checkpoint.pt", weights_only=True)


def assert_same_run(first, second):
    """Metrics to the byte; weights, moments, best weights and random streams to the bit."""
    a, b = state_of(first), state_of(second)
    assert (first / "metrics.jsonl").read_bytes() == (second / "metrics.jsonl").read_bytes()
    for part in ("model", "best"):
        assert all(torch.equal(a[part][name], b[part][name]) for name in a[part])
    for number, moments in a["optimizer"]["state"].items():
        for name, value in moments.items():
            assert torch.equal(value, b["optimizer"]["state"][number][name])
    assert torch.equal(a["random"][0]["noise"]["cpu"], b["random"][0]["noise"]["cpu"])
    assert a["stopping"] == b["stopping"]


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("svae", {"epochs": 12, "dropout": 0.1}),
        ("m1m2-sn", {"epochs": 12, "label_tolerance": 0.3}),
        ("svgae", {"epochs": 60, "dropout": 0.1}),
        ("svgae", {"epochs": 20, "dropout": 0.1, "batch_size": 20}),
    ],
    ids=["svae", "m1m2-sn", "svgae", "svgae in batches"],
)
def test_kill_nine_at_any_moment(model, more, options, tmp_path):
    config = make_config(model, **options(model, **more))
    start_run(config, tmp_path / "whole")
    moments = random.Random(1)
    kills = 0
    while kills < 8:
        process = spawn(config, tmp_path / "killed")
        wait_for(tmp_path / "killed" / "checkpoint.pt", process)
        process.join(moments.uniform(0.0, 0.3))
        if not process.is_alive():
            break
        process.kill()
        process.join()
        kills += 1
        if (tmp_path / "killed" / "checkpoint.pt").exists():
            state_of(tmp_path / "killed")  # never a broken file
    if process.exitcode != 0:
        process = spawn(config, tmp_path / "killed", 20.0)
        process.join()
    assert process.exitcode == 0
    assert kills >= 2, "the run was too short to be killed"
    assert_same_run(tmp_path / "whole", tmp_path / "killed")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_saves_in_mid_epoch(number, options, tmp_path):
    config = make_config("svae", **options("svae", epochs=400, batch_size=1, look_ahead=0))
    process = spawn(config, tmp_path / "stopped", checkpoint_seconds=1000.0)
    wait_for(tmp_path / "stopped" / "timing.jsonl", process)
    os.kill(process.pid, number)
    process.join(60)
    assert process.exitcode == 128 + number
    state = state_of(tmp_path / "stopped")
    assert 0 < state["step"] < 200, "stopped between two steps of an epoch"
    stopped_at = state["epoch"]
    outcome = continue_run(tmp_path / "stopped", {"epochs": stopped_at + 1})
    assert outcome.finished
    start_run(
        make_config("svae", **options("svae", epochs=stopped_at + 1, batch_size=1, look_ahead=0)),
        tmp_path / "whole",
    )
    assert_same_run(tmp_path / "whole", tmp_path / "stopped")


def test_a_finished_run_can_go_further(options, tmp_path):
    start_run(make_config("svae", **options("svae", epochs=2)), tmp_path / "short")
    assert continue_run(tmp_path / "short").epoch == 2
    assert continue_run(tmp_path / "short", {"epochs": 4}).epoch == 4
    start_run(make_config("svae", **options("svae", epochs=4)), tmp_path / "long")
    assert_same_run(tmp_path / "short", tmp_path / "long")


def test_lines_behind_the_checkpoint_are_cut(options, tmp_path):
    start_run(make_config("svae", **options("svae")), tmp_path / "run")
    metrics = tmp_path / "run" / "metrics.jsonl"
    with metrics.open("a") as stream:
        stream.write('{"epoch": 3, "half a li')
    assert [record["epoch"] for record in RunFolder(tmp_path / "run").read_metrics()] == [1, 2]
    continue_run(tmp_path / "run", {"epochs": 3})
    assert [record["epoch"] for record in RunFolder(tmp_path / "run").read_metrics()] == [1, 2, 3]


def test_metrics_shorter_than_the_checkpoint_are_an_error(options, tmp_path):
    start_run(make_config("svae", **options("svae")), tmp_path / "run")
    (tmp_path / "run" / "metrics.jsonl").write_text("")
    with pytest.raises(RunError, match="the checkpoint was made after"):
        continue_run(tmp_path / "run")


def test_what_a_run_is_cannot_change(options, tmp_path):
    start_run(make_config("svae", **options("svae")), tmp_path / "run")
    with pytest.raises(RunError, match="this run has dim 2, it cannot be continued with 3"):
        continue_run(tmp_path / "run", {"dim": 3})
    with pytest.raises(RunError, match="this run has model 'svae'"):
        continue_run(tmp_path / "run", {"model": "nvae"})
    with pytest.raises(RunError, match="already holds a run"):
        start_run(make_config("svae", **options("svae")), tmp_path / "run")
    with pytest.raises(RunError, match="not a run folder"):
        continue_run(tmp_path / "nowhere")


def test_two_processes_on_one_run(options, tmp_path):
    start_run(make_config("svae", **options("svae")), tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    folder.lock()
    try:
        with pytest.raises(RunError, match="another process is training this run"):
            continue_run(tmp_path / "run")
    finally:
        folder.unlock()


class _Evil:
    def __reduce__(self):
        return os.system, ("touch evil",)


@pytest.mark.parametrize("kind", ["truncated", "text", "pickle", "other", "wrong shapes", "empty"])
def test_bad_checkpoints_are_refused(kind, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    start_run(make_config("svae", **options("svae")), "run")
    path = RunFolder("run").checkpoint_path
    if kind == "truncated":
        path.write_bytes(path.read_bytes()[:-500])
    elif kind == "text":
        path.write_text("not a checkpoint")
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "pickle":
        torch.save({"format": 1, "evil": _Evil()}, path)
    elif kind == "other":
        torch.save([1, 2, 3], path)
    else:
        state = state_of(tmp_path / "run")
        state["model"] = {name: tensor[:1] for name, tensor in state["model"].items()}
        torch.save(state, path)
    with pytest.raises(RunError, match=r"checkpoint\.pt: (not a|does not fit)"):
        continue_run("run")
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "expected a JSON object"),
        ('{"model": "svae", "surprise": 1}', "unknown option 'surprise'"),
        ('{"model": "svae", "dim": "3"}', "option 'dim' must be int"),
        ('{"model": "svae", "dim": true}', "option 'dim' must be int"),
        ('{"model": "svae", "hidden": [1.5]}', "list of integers"),
        ('{"model": "unheard of"}', "unknown model"),
        ('{"dim": 3}', "no 'model'"),
        ('{"model": "svae", "dim": -1}', "--dim: expected"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_bad_configurations_are_refused(text, message, tmp_path):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ConfigError, match=message):
        continue_run(tmp_path)
