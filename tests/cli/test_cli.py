# SPDX-License-Identifier: MIT
"""The command line: help, one-line errors with exit code 2, and a run from end to end."""

import json
from pathlib import Path

import pytest
import torch
from helpers.commands import WITH_TORCH_ALONE, python, run

import svmf

COMMANDS = ("bench", "demo", "download", "evaluate", "info", "train")


pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(capsys, command):
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert "examples:" in out
    assert f"svmf {command}" in out


def test_version(capsys):
    code, out, _ = run(capsys, "--version")
    assert (code, out) == (0, f"svmf {svmf.__version__}\n")


def test_help_lists_the_commands(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert all(command in out for command in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), None),
        (("fly",), "invalid choice: 'fly'"),
        (("train",), "expected a MODEL"),
        (("train", "unknown"), "unknown model 'unknown'"),
        (("train", "svae", "--wings", "2"), "unrecognized arguments: --wings 2"),
        (("train", "svae", "--dim", "0"), "--dim: expected a latent dimension of at least 1"),
        (("train", "svae", "--dim", "two"), "argument --dim: invalid int value: 'two'"),
        (("train", "svae", "--data", "mnist"), "run `svmf download mnist`"),
        (("train", "svae", "--data", "nowhere"), "no image set 'nowhere'"),
        (("train", "svgae", "--data", "cora"), "run `svmf download planetoid`"),
        (("train", "svae", "--batch-size", "100000"), "--batch-size: expected at most"),
        (("train", "svae", "--device", "tpu"), "--device"),
        (("train", "m1m2-sn", "--labels", "7"), "--labels"),
        (("train", "--resume"), "--resume needs the run folder"),
        (("train", "--resume", "--out", "nowhere"), "nowhere: not a run folder"),
        (("train", "svae", "--out", "/dev/null/x"), "cannot be made"),
        (("evaluate", "nowhere"), "nowhere: not a run folder"),
        (("evaluate", "nowhere", "--samples", "-1"), "--samples: expected at least 0"),
        (("download", "imagenet"), "invalid choice: 'imagenet'"),
        (("demo", "--epochs", "0"), "--epochs: expected at least 1"),
        (("reproduce", "table1", "--seeds", "3"), "`python -m reproduction table1 --seeds 3`"),
        (("reproduce",), "`python -m reproduction`"),
    ],
)
def test_mistakes_give_one_line_and_exit_code_two(capsys, arguments, message):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    if message is not None:
        assert message in err
        assert err.count("\n") == 1
    assert "Traceback" not in err


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_no_cuda_device(capsys):
    code, _, err = run(capsys, "train", "svae", "--device", "cuda")
    assert (code, "no CUDA device is available" in err) == (2, True)


def test_train_then_evaluate(capsys):
    arguments = ("--epochs", "2", "--dim", "3", "--hidden", "16", "--threads", "1", "--quiet")
    code, out, err = run(capsys, "train", "svae", *arguments)
    assert (code, err) == (0, "")
    assert "run folder runs/svae-digits-d3-seed0" in out
    code, out, _ = run(capsys, "evaluate", "runs/svae-digits-d3-seed0", "--samples", "5", "--json")
    assert code == 0
    figures = json.loads(out)
    assert figures["model"] == "svae"
    assert figures["ll"] > figures["elbo"]
    code, out, _ = run(capsys, "evaluate", "runs/svae-digits-d3-seed0", "--samples", "5")
    assert code == 0
    assert f"{figures['ll']:.4f}" in out
    code, _, err = run(capsys, "train", "svae", *arguments)
    assert code == 2
    assert "--resume" in err
    code, out, _ = run(
        capsys, "train", "svae", *arguments, "--resume", "--out", "runs/svae-digits-d3-seed0"
    )
    assert code == 0


def test_resume_of_a_run_that_never_began(capsys):
    arguments = ("--epochs", "1", "--hidden", "4", "--threads", "1", "--quiet")
    code, _, _ = run(capsys, "train", "svae", *arguments, "--out", "new", "--resume")
    assert code == 0


def test_tensorboard_is_asked_for_before_the_work(capsys, monkeypatch):
    import importlib.util

    original = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda n, *a: None if n == "tensorboard" else original(n, *a)
    )
    code, _, err = run(capsys, "train", "svae", "--tensorboard", "--out", "run")
    assert code == 2
    assert "needs the package tensorboard" in err
    assert not Path("run").exists()


def test_module_is_the_command(tmp_path):
    result = python("-m", "svmf", "train", "svae", "--dim", "0", check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("svmf train: error: --dim")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["--version"], 0),
        ([], 2),
        (["fly"], 2),
        (["train", "--wings"], 2),
        (["bench", "--threads", "none"], 2),
        (["bench", "--goals"], 2),
        (["reproduce", "table1"], 2),
        *(([command, "--help"], 0) for command in COMMANDS),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_help_version_and_mistakes_do_without_torch(arguments, code):
    program = (
        "import sys, svmf.cli\n"
        "try: code = svmf.cli.main(sys.argv[1:])\n"
        "except SystemExit as stop: code = stop.code\n"
        "heavy = {'torch', 'numpy', 'scipy', 'matplotlib', 'sklearn'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "sys.exit(code)"
    )
    finished = python("-c", program, *arguments, check=False)
    assert finished.returncode == code, finished.stderr


@pytest.mark.parametrize(
    "arguments", [("train", "svae"), ("evaluate", "nowhere"), ("demo",)], ids=" ".join
)
def test_missing_packages_are_named_in_one_line(arguments):
    finished = python("-W", "ignore", "-c", WITH_TORCH_ALONE, *arguments, check=False)
    assert finished.returncode == 2
    assert finished.stderr.count("\n") == 1
    assert f"svmf {arguments[0]}: error: needs the package " in finished.stderr
    assert "pip install numpy scipy scikit-learn matplotlib" in finished.stderr


def test_info_needs_torch_alone():
    finished = python("-W", "ignore", "-c", WITH_TORCH_ALONE, "info", check=False)
    assert (finished.returncode, finished.stderr) == (0, "")


def test_demo(capsys):
    code, out, _ = run(capsys, "demo", "--epochs", "2", "--out", "shown")
    assert code == 0
    for title in ("Auto-encoder", "N-VAE", "N-VAE, beta = 0.1", "S-VAE", "reference", "Normal"):
        assert title in out
    assert Path("shown/circle.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    # the second time nothing is trained; other settings train again
    made = Path("shown/runs/svae/metrics.jsonl")
    stamp, first = made.stat().st_mtime_ns, _scores(out)
    code, out, _ = run(capsys, "demo", "--epochs", "2", "--out", "shown")
    assert (code, made.stat().st_mtime_ns, _scores(out)) == (0, stamp, first)
    run(capsys, "demo", "--epochs", "1", "--out", "shown")
    assert len(made.read_text().splitlines()) == 1


def _scores(out: str) -> list[str]:
    return out.partition("Which model")[2].partition("Sampling")[0].splitlines()
