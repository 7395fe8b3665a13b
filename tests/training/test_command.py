# SPDX-License-Identifier: MIT
"""`svmf train` as a user meets it: what it says, in what order, and one line for each mistake."""

import io
import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from svmf.cli import main
from svmf.progress import ProgressLine
from svmf.training import make_config
from svmf.training.environment import run_environment

TINY = ("--hidden", "4", "--dim", "2")


pytestmark = pytest.mark.usefixtures("own_folder")


def test_a_warm_up_longer_than_the_run_is_told(capsys):
    assert main(["train", "svae", "--epochs", "2", *TINY]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == (
        "warning: the KL weight grows over 100 epochs, but this run ends after 2, "
        "at 0.02 of 1; for a shorter warm-up give --warm-up"
    )
    assert [line.split("  ")[0] for line in lines[1:]] == ["epoch 1/2", "epoch 2/2"]
    assert lines[1].endswith("KL weight 0.01")
    assert lines[2].endswith("KL weight 0.02")


def test_no_warning_where_the_weight_is_reached(capsys):
    assert main(["train", "svae", "--epochs", "2", "--warm-up", "2", *TINY]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2, "one line per epoch where standard error is no terminal"
    assert lines[1].endswith("KL weight 1")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_one_line_that_is_redrawn():
    stream = Terminal()
    progress = ProgressLine(stream)
    for epoch in range(5):
        progress.milestone(1.0, f"epoch {epoch}")
    assert "\n" not in stream.getvalue()


def test_one_thread_unless_told_otherwise():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with run_environment(make_config("svae")):
            assert torch.get_num_threads() == 1
        with run_environment(make_config("svae", threads=2)):
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("svae", "--threads", "100000000"), "--threads: expected at most 1024"),
        (("svae", "--hidden", "1000000000000"), "--hidden: expected widths of at most"),
        (("svae", "--hidden", "1000000", "1000000"), "do not fit into memory"),
        (("svae", "--beta", "1e400"), "--beta: expected a finite number"),
        (("svae", "--beta", "1e300"), "--beta: expected at most"),
        (("svgae", "--split-seed", "-1"), "--split-seed: expected at least 0"),
        (("svae", "--seed", "9" * 30), "--seed: expected at most"),
        (("svae", "--lr", "nan"), "--lr: expected a finite number"),
        (("svae", "--checkpoint-seconds", "nan"), "--checkpoint-seconds"),
        (("svae", "--out", "x" * 5000), "cannot be made: File name too long"),
        (("svae", "--data", "x" * 5000), "no image set"),
        (("svae", "--data", "y" * 5000 + ".npy"), "File name too long"),
        (("svae", "--data", "nothing.npy"), "nothing.npy: no such file"),
        (("--resume", "--out", "x" * 5000), "cannot be read: File name too long"),
        (("svae", "--data", "penguins"), "no image set 'penguins': expected one of mnist, digits"),
        (("svae", "--likelihood", "poisson"), "--likelihood: expected one of auto, bernoulli"),
    ],
)
def test_absurd_options_cost_one_line(capsys, arguments, message):
    code = main(["train", *arguments])
    err = capsys.readouterr().err
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert not os.path.exists("runs")


def test_a_wrong_name_comes_before_the_folder(capsys):
    """Of the model and of the data."""
    assert main(["train", "svae", "--epochs", "1", *TINY, "--out", "run"]) == 0
    capsys.readouterr()
    assert main(["train", "svea", "--out", "run"]) == 2
    assert "unknown model 'svea': expected one of ae, nvae, svae" in capsys.readouterr().err
    assert main(["train", "svae", "--data", "mnits", "--out", "run"]) == 2
    assert "no image set 'mnits'" in capsys.readouterr().err
    assert main(["train", "svae", *TINY, "--out", "run"]) == 2
    assert "already holds a run" in capsys.readouterr().err


def _heed_interrupts() -> None:
    """Tests that a shell runs in the background inherit an ignored Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("seconds", [0.01, 0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0])
def test_ctrl_c_at_any_moment_of_the_start(seconds):
    """Torch's import included: no traceback. The first moments, until Python has read our command,
    are not ours."""
    program = (
        "import sys, svmf.cli as cli; build = cli.build_parser; "
        "cli.build_parser = lambda: [print('begun', flush=True), build()][1]; "
        "sys.exit(cli.main(['train', 'svae', '--epochs', '100000', '--warm-up', '0']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_interrupts,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "begun\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=240)
    finally:
        process.kill()
    assert "Traceback" not in err, err
    assert process.returncode in (130, -signal.SIGINT)
