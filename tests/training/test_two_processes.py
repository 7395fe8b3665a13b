# SPDX-License-Identifier: MIT
"""The same command under torchrun: data-parallel training, one writer, the same curve as alone."""

from pathlib import Path

import pytest
import torch
from helpers.commands import python

from svmf.errors import RunError
from svmf.training import RunFolder, continue_run, make_config, start_run


def two_processes(*command):
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return python(*launcher, *command, check=False, timeout=300)


def torchrun(*arguments):
    return two_processes("-m", "svmf", *arguments)


def both_ways(tmp_path, model, **options):
    """The metrics of one process and of two, at the same global batch."""
    config = make_config(model, threads=1, **options)
    start_run(config, tmp_path / "one")
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    result = torchrun("train", model, *flags, "--threads", "1", "--out", str(tmp_path / "two"))
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("run folder") == 1, "one process speaks"
    one, two = (RunFolder(tmp_path / name).read_metrics() for name in ("one", "two"))
    assert [record["epoch"] for record in two] == [record["epoch"] for record in one]
    return one, two


def test_without_noise_the_curves_are_equal(tmp_path):
    """An auto-encoder on fixed points: the only difference is the order of sums."""
    one, two = both_ways(tmp_path, "ae", data="circle", dim=2, epochs=3)
    for alone, together in zip(one, two, strict=True):
        for part in ("train", "validation"):
            assert together[part]["elbo"] == pytest.approx(alone[part]["elbo"], rel=1e-4)
    assert one[-1]["validation"]["elbo"] > one[0]["validation"]["elbo"]


def test_with_noise_the_curves_agree(tmp_path):
    one, two = both_ways(tmp_path, "svae", data="digits", dim=5, warm_up=0, epochs=6)
    for alone, together in zip(one, two, strict=True):
        assert together["validation"]["elbo"] == pytest.approx(
            alone["validation"]["elbo"], rel=0.03
        )
    state = torch.load(tmp_path / "two" / "checkpoint.pt", weights_only=True)
    assert state["processes"] == 2
    first, second = state["random"]
    assert not torch.equal(first["noise"]["cpu"], second["noise"]["cpu"]), "own noise per rank"

    # continuing: with as many processes it goes on, with another number it says so
    result = torchrun("train", "--resume", "--epochs", "7", "--out", str(tmp_path / "two"))
    assert result.returncode == 0, result.stderr
    assert len(RunFolder(tmp_path / "two").read_metrics()) == 7
    with pytest.raises(RunError, match="made by 2 processes, cannot be continued by 1"):
        continue_run(tmp_path / "two")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_no_thread_of_the_process_group_outlives_the_run(tmp_path):
    """One that does can abort the process while the interpreter ends, rarely and on busy machines
    only: exit code -6, "terminate called without an active exception"."""
    script = tmp_path / "train.py"
    script.write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "from svmf.training import make_config, start_run\n"
        "start_run(make_config('ae', data='circle', dim=2, epochs=1), sys.argv[1])\n"
        "print([task.read_text().strip() for task in Path('/proc/self/task').glob('*/comm')])\n"
    )
    result = two_processes(str(script), str(tmp_path / "run"))
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("[") == 2
    assert "gloo" not in result.stdout


def test_bad_batch_and_graphs(tiny_images, tiny_graph, tmp_path):
    result = torchrun(
        "train", "svae", "--data", tiny_images, "--batch-size", "15", "--out", str(tmp_path / "a")
    )
    assert "multiple of the 2 processes, got 15" in result.stderr
    result = torchrun("train", "svgae", "--data", tiny_graph, "--out", str(tmp_path / "b"))
    assert "each step takes the whole graph" in result.stderr
    assert not (tmp_path / "a").exists()
    assert not (tmp_path / "b").exists()
