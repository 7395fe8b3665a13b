# SPDX-License-Identifier: MIT
"""`svmf bench`: options, tables, plots, JSON, Ctrl-C and one-line errors."""

import json
from pathlib import Path

import pytest
from helpers.benches import MISTAKES, interrupt_the_third_case, use_sweeps
from helpers.commands import WITH_TORCH_ALONE, python, run

PNG = b"\x89PNG\r\n\x1a\n"


pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.fixture
def small_sweeps(monkeypatch):
    """Two values of some quantities, at shapes that take no time."""
    use_sweeps(monkeypatch, "m", "rows", "kappa")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--op", "log_iv"), "--op: expected one of sample, step, got 'log_iv' (other operations: "
         "`python -m benchmarks` in a checkout"),
        (("--goals",), "--goals: moved to `python -m benchmarks --goals` in a checkout"),
        (("--minutes", "2"), "--minutes: moved to `python -m benchmarks --minutes`"),
        *MISTAKES,
    ],
)  # fmt: skip
def test_mistakes_give_one_line_and_exit_code_two(capsys, arguments, message):
    code, _, err = run(capsys, "bench", *arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.usefixtures("small_sweeps")
def test_tables_plots_and_json(capsys):
    code, out, err = run(
        capsys, "bench", "--seconds", "0.005", "--json", "new/bench.json", "--out", "plots"
    )
    assert (code, err) == (0, "")
    for part in ("instruction set", "sample, forward / Normal", "| 8 x 3", "/ reference", "spread"):
        assert part in out
    assert [path.name for path in sorted(Path("plots").iterdir())] == [
        "bench-sample.png", "bench-step.png",
    ]  # fmt: skip
    assert all(path.read_bytes()[:8] == PNG for path in Path("plots").iterdir())
    document = json.loads(Path("new/bench.json").read_text())
    assert document["schema"] == 1
    ours = document["sampling"][0]["candidates"]["svmf"]
    assert ours["samples_per_second"] == pytest.approx(4 / ours["median"])
    assert document["sampling"][0]["candidates"].keys() >= {"svmf", "Normal", "randn", "reference"}


@pytest.mark.usefixtures("small_sweeps")
def test_interruption_prints_what_there_is(capsys, monkeypatch):
    interrupt_the_third_case(monkeypatch)
    code, out, err = run(capsys, "bench", "--seconds", "0.005", "--json", "bench.json")
    assert code == 130
    assert "| 4 x 2" in out
    assert "interrupted; the tables show what was measured" in err
    assert len(json.loads(Path("bench.json").read_text())["sampling"]) == 2


def test_runs_with_torch_alone():
    arguments = ["bench", "--shape", "4x3", "--quick", "--seconds", "0.005"]
    finished = python("-W", "ignore", "-c", WITH_TORCH_ALONE, *arguments)
    assert "reference: skipped, the package numpy is not installed" in finished.stdout
    assert "| 4 x 3" in finished.stdout
